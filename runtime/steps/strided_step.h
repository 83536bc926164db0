// The step behind every strided view.
#ifndef RSHIFT_RUNTIME_STEPS_STRIDED_STEP_H_
#define RSHIFT_RUNTIME_STEPS_STRIDED_STEP_H_

#include <memory>
#include <vector>

#include "runtime/step.h"
#include "runtime/steps/strided_copy.h"

namespace rshift {

// `dims` are the destination's, with source strides in bytes; element (0, ..., 0) is at src + first
// bytes.
std::unique_ptr<Step> MakeStridedStep(const StepContext& context,
                                      const std::vector<StridedDim>& dims, int64_t first);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STRIDED_STEP_H_
