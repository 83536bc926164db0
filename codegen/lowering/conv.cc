// Convolutions.
#include "isa/ops/conv.h"

#include "base/error.h"
#include "codegen/lowering/lowering.h"
#include "codegen/packing/packing.h"

namespace rshift::lowering {
namespace {

std::span<const uint8_t> BytesOf(const std::vector<int8_t>& weights) {
  return {reinterpret_cast<const uint8_t*>(weights.data()), weights.size()};
}

template <typename Command, typename FloatConv>
void LowerFloat(LoweringContext& context, const Node& node, const FloatConv& op) {
  RequireF32(context, node);
  RequireNhwc(node, context.InputValue(node, 0));
  RequireNhwc(node, context.OutputValue(node));
  RequireWindow(node, op.window);
  Command c;
  c.src = context.Input(node, 0);
  c.weights = context.Input(node, 1);
  c.src3 = context.Input(node, 2);
  c.groups = op.groups;
  c.window = op.window;
  c.clamp = op.clamp;
  c.dst = context.Output(node);
  context.Emit(node, isa::Write(c));
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const Conv& op) {
  LowerFloat<isa::ConvF32>(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const ConvTranspose& op) {
  LowerFloat<isa::ConvTransposeF32>(context, node, op);
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
  const bool depthwise = ic > 1 && op.groups == ic && oc == ic;
  const ConvDims dims{op.groups,  oc / op.groups, ic / op.groups,
                      w.shape[2], w.shape[3],     op.window.dilation_w};
  const std::vector<int8_t> packed =
      depthwise ? PackDepthwiseWeights(oc, taps, weights) : PackConvolution(dims, weights);

  Command command = UnaryCommand(context, node, depthwise ? Opcode::kDepthwise : Opcode::kConv);
  command.Set(Field::kWeights,
              context.AddConst(node.name + ".weights", DType::kBytes,
                               {static_cast<int64_t>(packed.size())}, BytesOf(packed)));
  command.Set(Field::kRequant, AddRequant(context, node, op.channels, oc));
  if (!depthwise) command.Set(Field::kGroups, op.groups);
  SetWindow(node, op.window, command);
  SetClamp(op.clamp, command);
  SetZeroW(context, node, op.zero_w, oc, command);
  SetEpilogue(context, node, op.rounding, op.post_ops, op.ascend, command);
  context.Emit(node, command);
}

void Lower(LoweringContext&, const Node& node, const QConvTranspose&) {
  Fail(ErrorCode::kInternal, Describe(node),
       ": has no command; RunTargetPasses (codegen/passes) makes convolutions of it");
}

}  // namespace rshift::lowering
