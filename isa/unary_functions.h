// The formulas of every UnaryOp (isa/functions.def), once for all number types.
#ifndef RSHIFT_ISA_UNARY_FUNCTIONS_H_
#define RSHIFT_ISA_UNARY_FUNCTIONS_H_

#include <cmath>

#include "base/portable_math.h"
#include "isa/functions.h"

namespace rshift {

// Functions of binary64, rounded to T: the same bits on every CPU. float: constant folding and F32
// commands; double: integer tables.
template <typename T>
struct PortableMath {
  using Real = T;
#define RSHIFT_ROUNDED(name) \
  static T name(T x) { return static_cast<T>(portable::name(static_cast<double>(x))); }
  RSHIFT_ROUNDED(Exp)
  RSHIFT_ROUNDED(Expm1)
  RSHIFT_ROUNDED(Log)
  RSHIFT_ROUNDED(Log1p)
  RSHIFT_ROUNDED(Tanh)
  RSHIFT_ROUNDED(Logistic)
  RSHIFT_ROUNDED(Erf)
  RSHIFT_ROUNDED(Sin)
  RSHIFT_ROUNDED(Cos)
  RSHIFT_ROUNDED(Tan)
  RSHIFT_ROUNDED(Asin)
  RSHIFT_ROUNDED(Acos)
  RSHIFT_ROUNDED(Atan)
  RSHIFT_ROUNDED(Sinh)
  RSHIFT_ROUNDED(Cosh)
  RSHIFT_ROUNDED(Asinh)
  RSHIFT_ROUNDED(Acosh)
  RSHIFT_ROUNDED(Atanh)
#undef RSHIFT_ROUNDED
  static T RoundHalfEven(T x) { return std::nearbyint(x); }  // in the default mode
};

// Math gives the number type Real and what PortableMath has. Functions that a formula calls as
// std:: are exact (a square root, a rounding).
template <typename Math>
struct UnaryFunctions {
  using Real = typename Math::Real;

  static Real Unit(Real x) { return x < 0 ? Real(0) : x > 1 ? Real(1) : x; }
  // Without overflow.
  static Real LogOnePlusExp(Real x) {
    return x > 0 ? x + Math::Log1p(Math::Exp(-x)) : Math::Log1p(Math::Exp(x));
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
