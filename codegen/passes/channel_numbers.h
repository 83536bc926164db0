// The numbers that a convolution has for each of its output channels, where a pass gives it others.
#ifndef RSHIFT_CODEGEN_PASSES_CHANNEL_NUMBERS_H_
#define RSHIFT_CODEGEN_PASSES_CHANNEL_NUMBERS_H_

#include <cstddef>
#include <vector>

#include "graph/ops/quant.h"

namespace rshift {

// Leaves none of a channel's own; numbers that all channels share stay.
inline void ClearChannelNumbers(QLinear* linear) {
  linear->channels.clear();
  linear->zero_w.clear();
  linear->negative.clear();
  for (PostOp& p : linear->post_ops) {
    p.alphas.clear();
    p.betas.clear();
  }
}

// Appends those of channel `c` of `from`, whose post-operations are the same but for them.
inline void AppendChannelNumbers(const QLinear& from, size_t c, QLinear* to) {
  const auto append = [c](const auto& numbers, auto* result) {
    if (!numbers.empty()) result->push_back(numbers[c]);
  };
  append(from.channels, &to->channels);
  append(from.zero_w, &to->zero_w);
  append(from.negative, &to->negative);
  for (size_t i = 0; i < from.post_ops.size(); ++i) {
    append(from.post_ops[i].alphas, &to->post_ops[i].alphas);
    append(from.post_ops[i].betas, &to->post_ops[i].betas);
  }
}

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_CHANNEL_NUMBERS_H_
