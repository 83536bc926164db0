// The makers of runtime/f32/*.cc, one for each opcode from 40 to 53. All throw as f32_steps.h says.
#ifndef RSHIFT_RUNTIME_F32_MAKERS_H_
#define RSHIFT_RUNTIME_F32_MAKERS_H_

#include <memory>

#include "runtime/step.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeBinary(const StepContext& context);
std::unique_ptr<Step> MakeUnary(const StepContext& context);
std::unique_ptr<Step> MakeClip(const StepContext& context);
std::unique_ptr<Step> MakeLeakyRelu(const StepContext& context);
std::unique_ptr<Step> MakePRelu(const StepContext& context);
std::unique_ptr<Step> MakeSoftmax(const StepContext& context);
std::unique_ptr<Step> MakeLayerNorm(const StepContext& context);
std::unique_ptr<Step> MakeReduce(const StepContext& context);
std::unique_ptr<Step> MakeArgMax(const StepContext& context);
std::unique_ptr<Step> MakeWhere(const StepContext& context);
std::unique_ptr<Step> MakeCast(const StepContext& context);
std::unique_ptr<Step> MakeResize(const StepContext& context);
std::unique_ptr<Step> MakeLrn(const StepContext& context);
std::unique_ptr<Step> MakeInstanceNorm(const StepContext& context);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_MAKERS_H_
