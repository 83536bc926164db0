// Powers of integers, exact.
#ifndef RSHIFT_BASE_INTEGER_POW_H_
#define RSHIFT_BASE_INTEGER_POW_H_

#include <limits>

namespace rshift {

// base^exponent rounded towards zero (exponents below 0). The least number of T where T holds no
// such number, as ONNX Runtime has on x86; ONNX leaves it open.
template <typename T>
constexpr T IntegerPow(T base, T exponent) {
  constexpr T kNone = std::numeric_limits<T>::min();
  const T one = base == T{-1} && exponent % 2 != 0 ? base : T{1};
  if (exponent == 0 || base == T{1} || base == T{-1}) return one;
  if (base == 0) return exponent > 0 ? T{0} : kNone;
  if (exponent < 0) return 0;
  T power = 1;
  for (T i = 0; i < exponent; ++i) {  // at most as often as T has bits
    if (__builtin_mul_overflow(power, base, &power)) return kNone;
  }
  return power;
}

}  // namespace rshift

#endif  // RSHIFT_BASE_INTEGER_POW_H_
