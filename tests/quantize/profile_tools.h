// What the tests of the profiles share: a profile's options, and roundings written another way than
// in quantize/numerics (by libm and by exact quotients).
#ifndef RSHIFT_TESTS_QUANTIZE_PROFILE_TOOLS_H_
#define RSHIFT_TESTS_QUANTIZE_PROFILE_TOOLS_H_

#include <cmath>
#include <cstdint>

#include "quantize/profiles/arithmetic.h"

namespace rshift::test {

inline const Arithmetic& Rules(ProfileId id, Variant variant = Variant::kByTable) {
  return ArithmeticOf({id, variant});
}

inline constexpr ProfileId kLiteRt[] = {ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy,
                                        ProfileId::kTfLiteXnnpack};

// Nearest integer of p / 2^shift: ties upwards; ties away from zero.
inline int64_t QuotientUp(int64_t p, int shift) {
  const int64_t unit = int64_t{1} << shift;
  const int64_t whole = p / unit - (p % unit < 0 ? 1 : 0);
  return whole + (2 * (p - whole * unit) >= unit ? 1 : 0);
}
inline int64_t QuotientAway(int64_t p, int shift) {
  return p < 0 ? -QuotientUp(-p, shift) : QuotientUp(p, shift);
}

// frexp's pair: m = q * 2^(shift - 31).
struct Pair {
  int64_t q;
  int shift;
};
inline Pair PairOf(double m) {
  int shift = 0;
  int64_t q = std::llround(std::frexp(m, &shift) * 2147483648.0);
  if (q == int64_t{1} << 31) {
    q /= 2;
    ++shift;
  }
  if (shift < -31) return {0, 0};
  return {q, shift};
}

// D2: two roundings of x * m.
inline int64_t TwoSteps(int64_t x, const Pair& m) {
  const int left = m.shift > 0 ? m.shift : 0, right = m.shift > 0 ? 0 : -m.shift;
  return QuotientAway(QuotientUp((x * (int64_t{1} << left)) * m.q, 31), right);
}
inline int64_t TwoStepsUp(int64_t x, const Pair& m) {
  const int left = m.shift > 0 ? m.shift : 0, right = m.shift > 0 ? 0 : -m.shift;
  return QuotientUp(QuotientUp((x * (int64_t{1} << left)) * m.q, 31), right);
}
// D1.
inline int64_t OneStep(int64_t x, const Pair& m) { return QuotientUp(x * m.q, 31 - m.shift); }

inline int64_t Saturate(int64_t v, const IntType& type) {
  return v < type.qmin() ? type.qmin() : v > type.qmax() ? type.qmax() : v;
}
inline IntType S8(float scale, int32_t zero) { return {DType::kS8, {scale, zero}}; }
inline IntType U8(float scale, int32_t zero) { return {DType::kU8, {scale, zero}}; }

// The value a table gives for x.
inline int32_t Entry(const QTable& table, const IntType& y, int32_t x) {
  const uint8_t byte = table.entries[static_cast<uint8_t>(x)];
  return y.dtype == DType::kS8 ? static_cast<int8_t>(byte) : byte;
}

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_QUANTIZE_PROFILE_TOOLS_H_
