// Every rounding of isa/functions.def written out a second time, from its definition and with the C
// library, for the tests of the runtime. Shares nothing with quantize/numerics.
#ifndef RSHIFT_TESTS_RUNTIME_ROUNDING_ORACLE_H_
#define RSHIFT_TESTS_RUNTIME_ROUNDING_ORACLE_H_

#include <cstdint>
#include <vector>

#include "isa/functions.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {

struct Words {
  int32_t multiplier = 0, rshift = 0;
};
inline constexpr Rounding kAllRoundings[] = {
    Rounding::kHalfUp,    Rounding::kTwoStep,  Rounding::kFloatEven, Rounding::kFloatZeroEven,
    Rounding::kHalfFloat, Rounding::kHalfAway, Rounding::kTwoStepUp, Rounding::kDoubleAway};
static_assert(std::size(kAllRoundings) == kRoundingCount);

bool IsInteger(Rounding rounding);
// Words of a factor of about 2^-exponent with a random mantissa, often a power of two (ties).
// `bias_f`: whether the rounding's second word is a float to be added.
Words RandomWords(Random& random, Rounding rounding, int exponent, bool bias_f);

// acc * multiplier / 2^rshift under the integer roundings and kDoubleAway.
int64_t ScaledInteger(Rounding rounding, int32_t acc, const Words& words);
// ((float(acc) + bias_f) * scale) for kFloatZeroEven; kFloatEven ignores bias_f.
float ScaledFloat(Rounding rounding, int32_t acc, const Words& words);

struct OraclePostOp {
  int kind;
  float alpha, beta, scale;
  std::vector<float> alphas{}, betas{};  // of channels, kinds 12 and 13
};
float PostOperation(const OraclePostOp& op, float f, int32_t old, size_t channel = 0);

// Nearest binary16, ties to even, as a float.
float ToHalf(float value);
struct OracleEpilogue {
  bool relu, sqrt_dequant, sqrt_quant;
  float scale, offset;
  RealRounding rounding;
};
float HalfChain(int32_t acc, const Words& words, const OracleEpilogue& epilogue);

// By the C library's functions.
double RoundByLibrary(double value, RealRounding rounding);
// Rounded, zero added, saturated; NaN gives zero.
int32_t ToByte(double value, RealRounding rounding, int32_t zero, int32_t lo, int32_t hi);

// Everything but post-operations and kHalfFloat.
int32_t Requantized(Rounding rounding, int32_t acc, const Words& words, int32_t zero, int32_t lo,
                    int32_t hi);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_ROUNDING_ORACLE_H_
