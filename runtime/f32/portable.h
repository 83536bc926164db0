// Steps of the commands that rshift_float has, without a library (SessionOptions::portable): the
// same bytes on every CPU, instruction set and number of threads, for two or three times the time
// (docs/scale-out.md). Sums run in double, from the bias on in the order of taps and input
// channels, or of k; one sum for each output, rounded at its end.
#ifndef RSHIFT_RUNTIME_F32_PORTABLE_H_
#define RSHIFT_RUNTIME_F32_PORTABLE_H_

#include <memory>

#include "isa/ops/all.h"
#include "runtime/step.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::ConvF32& c);
std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::ConvTransposeF32& c);
std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::MatMulF32& c);
std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::AveragePoolF32& c);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PORTABLE_H_
