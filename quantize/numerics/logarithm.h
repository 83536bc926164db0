// The natural logarithm in binary64 without libm: the same bits on every CPU. For tables made when
// a model is deployed. NUMERICS.md section 10.
//
// x = m * 2^k with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <=
// 0.172, by its series to s^33, whose next term is below 2^-85. Relative error below 2^-50 but
// close to 1.
#ifndef RSHIFT_QUANTIZE_NUMERICS_LOGARITHM_H_
#define RSHIFT_QUANTIZE_NUMERICS_LOGARITHM_H_

#include <bit>
#include <cstdint>

namespace rshift::numerics {

// x: a normal positive number.
inline constexpr double Ln(double x) {
  constexpr double kLn2 = 0.69314718055994530942;
  const auto raw = std::bit_cast<uint64_t>(x);
  int32_t k = static_cast<int32_t>(raw >> 52) - 1023;
  constexpr uint64_t kOne = uint64_t{1023} << 52;
  auto m = std::bit_cast<double>((raw & ((uint64_t{1} << 52) - 1)) | kOne);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++k;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double sum = 0.0;
  for (int n = 33; n >= 1; n -= 2) sum = sum * square + 1.0 / static_cast<double>(n);
  return static_cast<double>(k) * kLn2 + 2.0 * s * sum;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_LOGARITHM_H_
