// From table entries to the ranges that quantization uses: ForwardCalibration and
// BackwardCalibration. Values whose ranges must be equal form groups (union-find); each group
// decides once, signedness included.
#ifndef RSHIFT_QUANTIZE_RANGES_RANGES_H_
#define RSHIFT_QUANTIZE_RANGES_RANGES_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

enum class QuantMode { kSymmetric, kAsymmetric };

// The range a value is quantized with. Symmetric: is_signed, threshold; unsigned with low < 0 is
// shifted (RangeOptions::shift_negative). Asymmetric: low <= 0 <= high.
struct ValueRange {
  bool is_signed = true;  // symmetric: false when the observed minimum is >= 0
  float threshold = 0;
  float low = 0, high = 0;
};

struct RangeChange {
  std::string tensor, rule,
      reason;  // "relu1", "BackwardCalibration(Relu)", "input takes the output's range"
  ValueRange before, after;
};

// The rule of the changes that RangeOptions::shift_negative makes.
inline constexpr char kShiftNegative[] = "ShiftNegative";

struct RangeOptions {
  QuantMode mode = QuantMode::kSymmetric;
  // Overrides of --config by tensor name: fixed ranges take part in propagation and win their
  // group.
  std::map<std::string, ValueRange> fixed;
  // Values that stay F32 (their node is forced to F32): they take no part.
  std::vector<std::string> float_tensors;
  // Symmetric: results of functions that reach little below zero, as SiLU's, are unsigned with a
  // zero point where convolutions and matrix products alone read them. NUMERICS.md section 1.1.
  bool shift_negative = false;
};

struct RangeResult {
  std::vector<ValueRange>
      ranges;  // one per graph value; constants and unquantized values hold defaults
  std::vector<bool> has_range;       // false: constant or not f32
  std::vector<RangeChange> changes;  // what propagation did, in order
};

// `graph`: float, after RunPasses. Every non-constant f32 value must be in the table (inserted
// layout values such as "x__nhwc" take their source's): throws kInvalidInput naming the missing
// tensors, and tensors of the table that the model does not have.
RangeResult PropagateRanges(const Graph& graph, const CalibrationTable& table,
                            const RangeOptions& options);

// The tensors a table for this graph holds: f32 non-constant values that are not mere layout
// copies, in graph order.
std::vector<ValueId> CalibratedValues(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_RANGES_H_
