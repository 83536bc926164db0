// Products whose source's scale and zero point are found while the program runs.
#include <algorithm>
#include <bit>

#include "base/error.h"
#include "codegen/lowering/linear.h"
#include "codegen/lowering/lowering.h"
#include "codegen/packing/packing.h"

namespace rshift::lowering {
namespace {

// The words of a channel: scale and bias, or nothing where the result is the s32 sum.
std::vector<ChannelRequant> Records(const Node& node, const DynamicLinear& op, int64_t channels) {
  if (!op.scales.empty()) RequireOneEach(node, "scales", op.scales.size(), channels);
  if (!op.bias.empty()) RequireOneEach(node, "biases", op.bias.size(), channels);
  std::vector<ChannelRequant> records(static_cast<size_t>(channels));
  for (size_t c = 0; c < op.scales.size(); ++c) {
    records[c].multiplier = std::bit_cast<int32_t>(op.scales[c]);
    if (!op.bias.empty()) records[c].rshift = std::bit_cast<int32_t>(op.bias[c]);
  }
  return records;
}

template <typename C>
void LowerDynamic(LoweringContext& context, const Node& node, const DynamicLinear& op,
                  int64_t channels, const std::vector<int8_t>& packed, C command) {
  command.src = context.Input(node, 0);
  command.src2 = context.Input(node, 2);
  command.dst = context.Output(node);
  command.weights = context.AddNumbers(node.name + ".weights", DType::kBytes, packed);
  command.requant =
      context.AddNumbers(node.name + ".requant", DType::kBytes, Records(node, op, channels));
  if (std::ranges::any_of(op.zero_w, [](int32_t zero) { return zero != 0; })) {
    RequireOneEach(node, "weight zero points", op.zero_w.size(), channels);
    command.zero_w = context.AddNumbers(node.name + ".zero_w", DType::kS32, op.zero_w);
  }
  context.Emit(node, command);
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const DynamicConv& op) {
  const Value& x = context.InputValue(node, 0);
  const Value& w = context.InputValue(node, 1);
  const Value& y = context.OutputValue(node);
  RequireNhwc(node, x);
  RequireNhwc(node, y);
  RequireWindow(node, op.window);
  const std::span<const int8_t> weights = w.constant->As<int8_t>();
  const int64_t ic = x.shape[3], oc = y.shape[3];
  const ConvDims dims{op.groups,  oc / op.groups, ic / op.groups,
                      w.shape[2], w.shape[3],     op.window.dilation_w};
  const std::vector<int8_t> packed =
      IsDepthwise(op.groups, ic, oc) ? PackDepthwiseWeights(oc, w.shape[2] * w.shape[3], weights)
                                     : PackConvolution(dims, weights);
  isa::DynamicConv command;
  command.window = op.window;
  command.groups = op.groups;
  LowerDynamic(context, node, op, oc, packed, command);
}

void Lower(LoweringContext& context, const Node& node, const DynamicMatMul& op) {
  const Value& w = context.InputValue(node, 1);
  const int64_t k = w.shape[0], n = w.shape[1];
  const std::vector<int8_t> packed = PackMatMulWeights(k, n, w.constant->As<int8_t>());
  LowerDynamic(context, node, op, n, packed, isa::DynamicMatMul{});
}

}  // namespace rshift::lowering
