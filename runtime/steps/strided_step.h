// The step behind every strided view.
#ifndef RSHIFT_RUNTIME_STEPS_STRIDED_STEP_H_
#define RSHIFT_RUNTIME_STEPS_STRIDED_STEP_H_

#include <memory>
#include <vector>

#include "runtime/step.h"
#include "runtime/steps/strided_copy.h"

namespace rshift {

// `dims` are the destination's (its own, when its rows lie apart), with source strides in bytes:
// the destination's are filled in. Element (0, ..., 0) is at src + first bytes.
std::unique_ptr<Step> MakeStridedStep(const StepContext& context, std::vector<StridedDim> dims,
                                      int64_t first);
// From the beginning of src to that of dst.
std::unique_ptr<Step> MakeStridedStep(const StepContext& context, StridedCopy copy);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STRIDED_STEP_H_
