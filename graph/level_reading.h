// A range in levels as scale and zero point: the reading of FakeQuantize as Quantize and
// Dequantize (quantize/NUMERICS.md section 22).
#ifndef RSHIFT_GRAPH_LEVEL_READING_H_
#define RSHIFT_GRAPH_LEVEL_READING_H_

#include <cstdint>
#include <optional>

namespace rshift {

// Level k of [low, high] is scale * (k - zero).
struct LevelReading {
  double scale = 1;
  int32_t zero = 0;
  // The range whose zero point is that integer. It is the given one, or a wider one around it.
  float low = 0, high = 0;
  bool tuned = false;  // the given one has another zero point
};

// Zero points within this of an integer are that integer: the ends are binary32 numbers.
inline constexpr double kZeroPointTolerance = 1.0 / 1024;

// nullopt unless the range is finite, low < high, and holds 0. A range of zeros alone has scale 1.
std::optional<LevelReading> ReadLevels(float low, float high, int64_t levels);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_LEVEL_READING_H_
