#include "base/half.h"

#include <bit>

namespace rshift {
namespace {

// binary16: 1 sign, 5 exponent (bias 15), 10 mantissa bits; binary32: 1, 8 (bias 127), 23.
constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint32_t kHalfInfinity = 0x7c00;
constexpr uint32_t kQuietBit = 0x0200;

// Drops the low `shift` (1..31) bits, rounding to nearest, ties to even.
uint32_t ShiftRightNearestEven(uint32_t value, int shift) {
  const uint32_t half = uint32_t{1} << (shift - 1);
  const uint32_t rest = value & ((half << 1) - 1);
  const uint32_t kept = value >> shift;
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

}  // namespace

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) {
    const uint32_t quiet = mantissa != 0 ? uint32_t{kQuietBit} << 13 : 0;
    return std::bit_cast<float>(sign | kFloatInfinity | (mantissa << 13) | quiet);
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 127 - 15) << 23) | (mantissa << 13));
  }
  // Zero or subnormal: mantissa * 2^-24, exact in binary32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > kFloatInfinity) {
    return static_cast<uint16_t>(sign | kHalfInfinity | kQuietBit | ((magnitude >> 13) & 0x3ff));
  }
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent > 15) return static_cast<uint16_t>(sign | kHalfInfinity);
  if (exponent >= -14) {
    // Re-bias the exponent in place: a mantissa that rounds over carries into it, up to infinity.
    const uint32_t rebiased = magnitude - (uint32_t{127 - 15} << 23);
    return static_cast<uint16_t>(sign | ShiftRightNearestEven(rebiased, 13));
  }
  if (exponent < -25) return static_cast<uint16_t>(sign);  // below half of the smallest subnormal
  const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
  return static_cast<uint16_t>(sign | ShiftRightNearestEven(mantissa, -1 - exponent));
}

}  // namespace rshift
