// FakeQuantize of activations as Quantize and Dequantize (quantize/NUMERICS.md section 22): what an
// integer program is made from. Floating point programs keep the operator itself.
#ifndef RSHIFT_GRAPH_PASSES_SPLIT_FAKE_QUANTIZE_H_
#define RSHIFT_GRAPH_PASSES_SPLIT_FAKE_QUANTIZE_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

struct SplitOptions {
  // Where an Add and another FakeQuantize follow, the first one scales and clips and does not
  // round: its result moves by half a level at most.
  bool drop_residual_round = false;
  // Bytes that convolutions read, and results, are u8, and all keep the ranges they came from
  // (Value::ranges); scales are binary32 quotients of the ends, and the factors of channels stay
  // where convolutions can take them in behind their sums: for a profile that computes as OpenVINO
  // does.
  bool keep_ranges = false;
};

// A range that was widened so that its zero point is an integer.
struct TunedRange {
  std::string tensor;
  int64_t channel = -1;  // -1: of all channels
  float low = 0, high = 0, tuned_low = 0, tuned_high = 0;
};

struct SplitResult {
  Graph graph;
  std::vector<TunedRange> tuned;
  std::vector<std::string> unrounded;  // tensors, by drop_residual_round
};

// `graph`: in ONNX order, before RunPasses. Constant factors and offsets behind a FakeQuantize go
// into its output range first. One stays as it is when 8 bits do not hold its levels, or when its
// output range is empty, turned round, or does not hold 0.
SplitResult SplitFakeQuantize(Graph graph, const SplitOptions& options);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_SPLIT_FAKE_QUANTIZE_H_
