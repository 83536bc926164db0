// What the lowering of integer convolutions and matrix products shares.
#ifndef RSHIFT_CODEGEN_LOWERING_LINEAR_H_
#define RSHIFT_CODEGEN_LOWERING_LINEAR_H_

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "codegen/lowering/context.h"
#include "codegen/lowering/require.h"

namespace rshift::lowering {

// Throws kInternal unless there is one for each output channel.
inline void RequireOneEach(const Node& node, const char* what, size_t found, int64_t channels) {
  RSHIFT_REQUIRE(static_cast<int64_t>(found) == channels, ErrorCode::kInternal, Describe(node),
                 ": ", found, " ", what, ", expected ", channels);
}

// Emits `command`, whose window and groups are set, with tensors, constants and epilogue of `op`,
// which has `channels` output channels.
template <typename C>
void LowerLinear(LoweringContext& context, const Node& node, const QLinear& op, int64_t channels,
                 const std::vector<int8_t>& packed, C command) {
  command.src = context.Input(node, 0);
  command.dst = context.Output(node);
  command.weights = context.AddWeights(node, packed);
  RequireOneEach(node, "requantization records", op.channels.size(), channels);
  std::vector<ChannelRequant> records = op.channels;
  if (!op.negative.empty()) RequireOneEach(node, "words below 0", op.negative.size(), channels);
  for (const auto& [multiplier, rshift] : op.negative) records.push_back({0, multiplier, rshift});
  command.requant = context.AddNumbers(node.name + ".requant", DType::kBytes, records);
  command.clamp = op.clamp;
  if (std::ranges::any_of(op.zero_w, [](int32_t zero) { return zero != 0; })) {
    RequireOneEach(node, "weight zero points", op.zero_w.size(), channels);
    command.zero_w = context.AddNumbers(node.name + ".zero_w", DType::kS32, op.zero_w);
  }
  command.rounding = op.rounding;
  if (!op.post_ops.empty()) {
    std::vector<float> list;
    bool sums = false;
    for (const PostOp& p : op.post_ops) {
      list.insert(list.end(), {static_cast<float>(p.kind), p.alpha, p.beta, p.scale});
      for (const std::vector<float>* numbers : {&p.alphas, &p.betas}) {
        if (numbers->empty()) continue;
        RequireOneEach(node, "numbers of a post-operation", numbers->size(), channels);
        list.insert(list.end(), numbers->begin(), numbers->end());
        list.resize((list.size() + 3) / 4 * 4);
      }
      sums = sums || p.kind == PostOpKind::kSum;
    }
    command.post_ops = context.AddNumbers(node.name + ".post_ops", DType::kF32, list);
    if (sums) command.src2 = context.Input(node, 2);
  }
  if (op.rounding == Rounding::kHalfFloat) command.half = op.half;
  context.Emit(node, command);
}

}  // namespace rshift::lowering

#endif  // RSHIFT_CODEGEN_LOWERING_LINEAR_H_
