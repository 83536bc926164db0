// The formulas of every UnaryOp (isa/functions.def), once for all number types.
#ifndef RSHIFT_ISA_UNARY_FUNCTIONS_H_
#define RSHIFT_ISA_UNARY_FUNCTIONS_H_

#include <cmath>

#include "isa/functions.h"

namespace rshift {

// binary32 by libm: constant folding, F32 commands.
struct FloatMath {
  using Real = float;
  static float Exp(float x) { return std::exp(x); }
  static float Expm1(float x) { return std::expm1(x); }
  static float Tanh(float x) { return std::tanh(x); }
  static float Logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }
  static float RoundHalfEven(float x) { return std::nearbyint(x); }  // in the default mode
};

// Math gives the number type Real and what FloatMath has: integer tables bring their own, without
// a libm (quantize/ops/unary.cc). Functions that are called as std:: are the libm's of the machine
// that deploys; the program holds the table.
template <typename Math>
struct UnaryFunctions {
  using Real = typename Math::Real;

  static Real Unit(Real x) { return x < 0 ? Real(0) : x > 1 ? Real(1) : x; }
  // Without overflow.
  static Real LogOnePlusExp(Real x) {
    return x > 0 ? x + std::log1p(Math::Exp(-x)) : std::log1p(Math::Exp(x));
  }

#define RSHIFT_UNARY(id, name, import_rule, alpha_rule, beta_rule, formula) \
  static Real name([[maybe_unused]] Real x, [[maybe_unused]] Real alpha,    \
                   [[maybe_unused]] Real beta) {                            \
    return formula;                                                         \
  }
#include "isa/functions.def"
};

// By UnaryOp.
template <typename Math>
using UnaryFunction = typename Math::Real (*)(typename Math::Real x, typename Math::Real alpha,
                                              typename Math::Real beta);
template <typename Math>
inline constexpr UnaryFunction<Math> kUnaryFunctions[] = {
#define RSHIFT_UNARY(id, name, ...) UnaryFunctions<Math>::name,
#include "isa/functions.def"
};

}  // namespace rshift

#endif  // RSHIFT_ISA_UNARY_FUNCTIONS_H_
