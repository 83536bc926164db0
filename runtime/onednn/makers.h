// The makers behind RegisterFloatLibrary(). They throw kCorrupt for shapes that do not fit together
// and kUnsupported for what oneDNN cannot do.
#ifndef RSHIFT_RUNTIME_ONEDNN_MAKERS_H_
#define RSHIFT_RUNTIME_ONEDNN_MAKERS_H_

#include <memory>

#include "runtime/step.h"

namespace rshift::f32 {

std::unique_ptr<Step> MakeConv(const StepContext& context);
std::unique_ptr<Step> MakeConvTranspose(const StepContext& context);
std::unique_ptr<Step> MakeMatMul(const StepContext& context);
std::unique_ptr<Step> MakeAveragePool(const StepContext& context);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_ONEDNN_MAKERS_H_
