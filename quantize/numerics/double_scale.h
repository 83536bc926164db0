// Requantization by a binary64 scale, ties away from zero. NUMERICS.md, profile tflite-ref. Source:
// LiteRT's reference FullyConnected, which multiplies in double.
#ifndef RSHIFT_QUANTIZE_NUMERICS_DOUBLE_SCALE_H_
#define RSHIFT_QUANTIZE_NUMERICS_DOUBLE_SCALE_H_

#include <bit>
#include <cstdint>

namespace rshift::numerics {

// The nearest integer, ties away from zero, saturated to |y| <= 2^31. One binary64 product.
inline constexpr int64_t ScaleDouble(int32_t acc, double scale) {
  constexpr double kLimit = 2147483648.0;
  double v = static_cast<double>(acc) * scale;
  if (v >= kLimit) v = kLimit;
  if (v <= -kLimit) v = -kLimit;
  const auto whole = static_cast<int64_t>(v);  // towards zero; v - whole is exact
  const double rest = v - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

// A record's two words: the upper 32 bits of the scale in `multiplier`, the lower in `rshift`.
inline constexpr double WordsToDouble(int32_t multiplier, int32_t rshift) {
  return std::bit_cast<double>((uint64_t{static_cast<uint32_t>(multiplier)} << 32) |
                               static_cast<uint32_t>(rshift));
}
inline constexpr int32_t UpperWord(double scale) {
  return static_cast<int32_t>(std::bit_cast<uint64_t>(scale) >> 32);
}
inline constexpr int32_t LowerWord(double scale) {
  return static_cast<int32_t>(std::bit_cast<uint64_t>(scale) & 0xffffffffu);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_DOUBLE_SCALE_H_
