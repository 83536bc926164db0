// Rounding of doubles without a call, for loops over millions of them.
#ifndef RSHIFT_BASE_ROUND_TO_EVEN_H_
#define RSHIFT_BASE_ROUND_TO_EVEN_H_

namespace rshift {

// Of |x| < 2^51; halves go to even: a double has no fraction behind 2^52.
inline double RoundToEven(double x) {
  constexpr double kNoFraction = 0x1.8p52;
  return x + kNoFraction - kNoFraction;
}

}  // namespace rshift

#endif  // RSHIFT_BASE_ROUND_TO_EVEN_H_
