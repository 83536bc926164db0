// Depthwise.
#include "runtime/steps/depthwise_step.h"
#include "runtime/steps/steps.h"

namespace rshift {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Depthwise& c) {
  return std::make_unique<DepthwiseStep>(context, c.window, [&](const RequantLayout& layout) {
    return MakeRequantArrays(context, RequantFormOf(c), layout);
  });
}

}  // namespace rshift
