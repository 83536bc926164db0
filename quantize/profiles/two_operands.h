// Functions of two bytes: what profiles that have them make of Max, Min, Div, Pow and others.
#ifndef RSHIFT_QUANTIZE_PROFILES_TWO_OPERANDS_H_
#define RSHIFT_QUANTIZE_PROFILES_TWO_OPERANDS_H_

#include <functional>

#include "quantize/profiles/arithmetic.h"

namespace rshift {

// NUMERICS.md section 5.8: both operands count as y does.
isa::Extremum ExtremumOf(const BinaryLayer& layer, const ClampQ& clamp);
// Section 5.9.
QDiv QuotientOf(const BinaryLayer& layer, const ClampQ& clamp);
// Of two real numbers as f32: what the F32 command gives for the same integers.
bool Compare(BinaryOp op, float a, float b);
QBinaryTable TableOfComparison(const BinaryLayer& layer);
// entry(q_a - Z_a, q_b - Z_b) of each pair.
QBinaryTable TableOfIntegers(const BinaryLayer& layer,
                             const std::function<int32_t(int32_t, int32_t)>& entry);
// Section 5.10: any function of two real numbers.
QBinaryTable TableOfPairs(const BinaryLayer& layer,
                          const std::function<double(double, double)>& function);

// Section 13.6: the same of floats, rounded and saturated as ONNX Runtime does; NaN gives the
// lowest value.
QBinaryTable TableOfFloatPairs(const BinaryLayer& layer,
                               const std::function<float(float, float)>& function);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROFILES_TWO_OPERANDS_H_
