// What is proved of every integer operator when a model is deployed: no accumulator overflows,
// every bias fits int32, every multiplier and shift is in its range. The runtime's verifier proves
// the same again from the bytes of the file; this is the account that people read.
#ifndef RSHIFT_QUANTIZE_PROOF_H_
#define RSHIFT_QUANTIZE_PROOF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// One operator with arithmetic of its own (tables, data movement and Quantize have none to prove).
struct LayerProof {
  std::string node, op;
  Rounding rounding = Rounding::kHalfUp;
  int64_t channels = 1;
  // The largest magnitude the accumulator can reach for any input, and what it may reach.
  // Convolution and MatMul: |bias| + 255 sum |q_w - Z_w|, the worst channel; limit 2^31 - 1.
  // Additions: both products and the rounding term. Pools: the sum of all taps.
  int64_t accumulator = 0, limit = 0;
  int64_t largest_bias = 0;
  // Over the channels whose multiplier is not 0; both 0 where a float scale does the work.
  int32_t min_multiplier = 0, max_multiplier = 0, min_rshift = 0, max_rshift = 0;
  int64_t flushed = 0;  // channels with multiplier (or scale) 0: constant Z_y
  // Float roundings: the accumulator is below 2^24, so its conversion to float is exact.
  bool exact_in_float = true;

  // Unused bits above the largest accumulator: log2(limit / accumulator).
  double headroom_bits() const;
};

// One entry for each operator, in the order of the graph. Throws kInternal, naming node and
// channel, for an integer graph that breaks a bound: no program is made of it.
std::vector<LayerProof> ProveIntegers(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROOF_H_
