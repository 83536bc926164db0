// F32 steps that need no third-party library (opcodes 40 to 62, 77): a maker for each struct. Every
// step is parallel and gives the same bytes for any number of threads. The makers rely on what the
// verifier has proved, shapes above all; they throw kUnsupported for element types and forms that
// an operator does not take.
#ifndef RSHIFT_RUNTIME_F32_MAKERS_H_
#define RSHIFT_RUNTIME_F32_MAKERS_H_

#include <memory>

#include "isa/ops/all.h"
#include "runtime/step.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::BinaryF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::UnaryF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ClipF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LeakyReluF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::PReluF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::SoftmaxF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LayerNormF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ReduceF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ArgMax& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Where& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Cast& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LrnF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::InstanceNormF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::FakeQuantizeF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::NonMaxSuppression& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::NonZero& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::TopK& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Unique& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvPlanarF32& c);
// For rshift_float and portable steps: opcode 83.
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolF32& c);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_MAKERS_H_
