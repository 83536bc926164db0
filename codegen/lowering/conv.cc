// Convolutions.
#include "isa/ops/conv.h"

#include "base/error.h"
#include "codegen/lowering/linear.h"
#include "codegen/lowering/lowering.h"
#include "codegen/packing/packing.h"

namespace rshift::lowering {

// Images in ONNX order are what codegen/passes/planar_ends.h leaves there: their command takes no
// others than those.
void Lower(LoweringContext& context, const Node& node, const Conv& op) {
  RequireF32(context, node);
  const Value& x = context.InputValue(node, 0);
  const bool one_pixel = op.groups == 1 && op.window.kernel_h * op.window.kernel_w == 1;
  if (x.layout == Layout::kNhwc || x.shape.size() != 4 || !(one_pixel || op.groups == x.shape[1]))
    return LowerAs(context, node, op);
  RequireWindow(node, op.window);
  isa::ConvPlanarF32 command;
  static_cast<isa::ConvF32&>(command) = op;
  BindInputs<isa::ConvPlanarF32> inputs{context, node};
  isa::ConvPlanarF32::Fields(command, inputs);
  command.dst = context.Output(node);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const ConvTranspose& op) {
  RequireF32(context, node);
  isa::ConvTransposeF32 command;
  command.window = op.window;
  command.groups = op.groups;
  command.clamp = op.clamp;
  LowerAs(context, node, command);
}

void Lower(LoweringContext& context, const Node& node, const QConv& op) {
  const Value& x = context.InputValue(node, 0);
  const Value& w = context.InputValue(node, 1);
  const Value& y = context.OutputValue(node);
  RequireNhwc(node, x);
  RequireNhwc(node, y);
  RSHIFT_REQUIRE(w.is_constant() && w.dtype == DType::kS8 && w.shape.size() == 4,
                 ErrorCode::kInternal, Describe(node), ": weight '", w.name, "' is ", Name(w.dtype),
                 " of shape ", ToString(w.shape), ", expected constant s8 [OC, IC/groups, KH, KW]");
  const int64_t ic = x.shape[3], oc = y.shape[3], taps = w.shape[2] * w.shape[3];
  RSHIFT_REQUIRE(op.groups > 0 && ic % op.groups == 0 && oc % op.groups == 0 && w.shape[0] == oc &&
                     w.shape[1] == ic / op.groups,
                 ErrorCode::kInternal, Describe(node), ": weight '", w.name, "' of shape ",
                 ToString(w.shape), " does not fit ", ic, " input and ", oc, " output channels in ",
                 op.groups, " groups");
  const std::span<const int8_t> weights = w.constant->As<int8_t>();
  const bool depthwise = IsDepthwise(op.groups, ic, oc);
  const ConvDims dims{op.groups,  oc / op.groups, ic / op.groups,
                      w.shape[2], w.shape[3],     op.window.dilation_w};
  const std::vector<int8_t> packed =
      depthwise ? PackDepthwiseWeights(oc, taps, weights) : PackConvolution(dims, weights);

  RequireWindow(node, op.window);
  if (depthwise) {
    isa::Depthwise command{.window = op.window};
    if (!op.zero_x.empty()) {
      RequireOneEach(node, "zero points", op.zero_x.size(), ic);
      command.zero_x = context.AddNumbers(node.name + ".zero_x", x.dtype, op.zero_x);
    }
    return LowerLinear(context, node, op, oc, packed, command);
  }
  RSHIFT_REQUIRE(op.zero_x.empty(), ErrorCode::kInternal, Describe(node),
                 ": zero points of channels, but it is not depthwise");
  LowerLinear(context, node, op, oc, packed, isa::Conv{.window = op.window, .groups = op.groups});
}

void Lower(LoweringContext&, const Node& node, const QConvTranspose&) {
  Fail(ErrorCode::kInternal, Describe(node),
       ": has no command; RunTargetPasses (codegen/passes) makes convolutions of it");
}

}  // namespace rshift::lowering
