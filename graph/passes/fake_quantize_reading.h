// A FakeQuantize as Quantize and Dequantize: scales and zero points of its ranges
// (quantize/NUMERICS.md section 22).
#ifndef RSHIFT_GRAPH_PASSES_FAKE_QUANTIZE_READING_H_
#define RSHIFT_GRAPH_PASSES_FAKE_QUANTIZE_READING_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/passes/split_fake_quantize.h"

namespace rshift {

// One FakeQuantize read as q = round(x * factor + offset), clipped to [0, levels - 1] - zero, and
// y = scale * q; everything for each channel, or once.
struct FakeQuantizeReading {
  int64_t levels = 256, axis = 0;
  std::vector<double> in_scale, shift, scale;  // shift: in levels, of x / in_scale
  std::vector<int32_t> zero;
  std::vector<TunedRange> tuned;

  bool per_channel() const { return scale.size() > 1; }
  bool SharesZero() const {
    return std::all_of(zero.begin(), zero.end(), [&](int32_t z) { return z == zero[0]; });
  }
};

// nullopt where 8 bits do not hold the levels, or a range has no scale and zero point. `name`: of
// the tensor, for `tuned`.
std::optional<FakeQuantizeReading> ReadFakeQuantize(const FakeQuantize& op, const Value& ranges,
                                                    const std::string& name);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_FAKE_QUANTIZE_READING_H_
