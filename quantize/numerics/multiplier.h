// A positive real scale as Multiplier / 2^rshift. NUMERICS.md section 2.
//   0.1234 = 0.9872 * 2^-3  ->  2119995857 / 2^34
#ifndef RSHIFT_QUANTIZE_NUMERICS_MULTIPLIER_H_
#define RSHIFT_QUANTIZE_NUMERICS_MULTIPLIER_H_

#include <bit>
#include <cstdint>

#include "base/error.h"
#include "isa/attributes.h"

namespace rshift::numerics {

inline constexpr int kMaxRshift = 62;

// The words of scale = multiplier / 2^rshift: multiplier in [2^(bits-2), 2^(bits-1)) and rshift <=
// 62, or {0, 0}. A negative rshift is a left shift: scales from 2^(bits-1) on. Commands hold shifts
// of 0..62 only: see AccumulatorMultiplier.
// Correctly rounded (nearest, ties up) from the bits of the double: no libm, the same on every CPU.
// |multiplier / 2^rshift - scale| <= scale * 2^-(bits-1), where bits counts the sign (8, 16 or 32).
// Rounding up to 2^(bits-1) renormalises to 2^(bits-2) with rshift - 1.
// A scale so small that rshift would exceed 62 gives {0, 0}; for 32 bits that is no loss: below
// 2^-32 every int32 accumulator rounds to 0. Throws kInvalidInput unless scale is positive and
// finite.
inline constexpr RequantWords QuantizeMultiplier(double scale, int bits = 32) {
  const uint64_t raw = std::bit_cast<uint64_t>(scale);
  const int biased = static_cast<int>((raw >> 52) & 0x7ff);
  if (!(scale > 0) || biased == 0x7ff) {
    Fail(ErrorCode::kInvalidInput, "multiplier: scale ", scale,
         " is not a positive finite number; check the ranges of the tensors around it");
  }
  if (biased == 0) return {};  // subnormal: far below 2^-62
  const uint64_t mantissa = (raw & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  const int drop = 54 - bits;  // 53 significant bits -> bits - 1
  uint64_t multiplier = (mantissa + (uint64_t{1} << (drop - 1))) >> drop;
  int rshift = bits - 2 - (biased - 1023);
  if (multiplier == uint64_t{1} << (bits - 1)) {
    multiplier >>= 1;
    rshift -= 1;
  }
  if (rshift > kMaxRshift) return {};
  return {static_cast<int32_t>(multiplier), rshift};
}

// For int32 accumulators whose result is then saturated to 8 bits: every scale > 0 has a pair.
// From 2^31 - 1/2 on, {2^31 - 1, 0}: any accumulator but 0 saturates either way; below 2^-32,
// {0, 0}. `bits` 25 rounds to the 24 bits that binary32 holds; the pair is written with 32 bits all
// the same, the last 7 of them 0.
inline constexpr RequantWords AccumulatorMultiplier(double scale, int bits = 32) {
  if (scale >= 2147483647.5) return {INT32_MAX, 0};
  const int zeros = 32 - bits;
  const RequantWords pair = QuantizeMultiplier(scale, bits);
  if (pair.multiplier == 0 || pair.rshift + zeros > kMaxRshift) return {};
  if (pair.rshift + zeros < 0) return {INT32_MAX, 0};
  return {pair.multiplier << zeros, pair.rshift + zeros};
}

// For differences of 8-bit values (|v| <= 255), where a multiplier of 0 is taken to mean "factor
// 1": as AccumulatorMultiplier, but below 2^-32 {2^30, 62}, which rounds every such v to 0 as well.
inline constexpr RequantWords RescaleMultiplier(double scale) {
  const RequantWords result = AccumulatorMultiplier(scale);
  return result.multiplier == 0 ? RequantWords{1 << 30, kMaxRshift} : result;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_MULTIPLIER_H_
