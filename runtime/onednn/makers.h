// The makers behind RegisterFloatLibrary(), one for each struct. They rely on what the verifier has
// proved; they throw kCorrupt for what only oneDNN asks of shapes and kUnsupported for what it
// cannot do.
#ifndef RSHIFT_RUNTIME_ONEDNN_MAKERS_H_
#define RSHIFT_RUNTIME_ONEDNN_MAKERS_H_

#include <memory>

#include "isa/ops/all.h"
#include "runtime/step.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvTransposeF32& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMulF32& c);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_ONEDNN_MAKERS_H_
