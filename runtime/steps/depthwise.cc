// Depthwise.
#include "runtime/steps/depthwise_step.h"
#include "runtime/steps/steps.h"

namespace rshift {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Depthwise& c) {
  const auto arrays = [&](const RequantLayout& layout) {
    return MakeRequantArrays(context, RequantFormOf(c), layout);
  };
  return std::make_unique<DepthwiseStep>(
      context, c.window, arrays, c.zero_x >= 0 ? context.In<uint8_t>(Field::kZeroX) : nullptr);
}

}  // namespace rshift
