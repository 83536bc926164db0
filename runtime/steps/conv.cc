// Conv and MatMul.
#include "runtime/steps/conv_step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

template <typename C>
std::unique_ptr<Step> MakeConvStep(const StepContext& context, const C& c, const ConvArgs& args) {
  return std::make_unique<ConvStep>(context, args, [&](const RequantLayout& layout) {
    return MakeRequantArrays(context, RequantFormOf(c), layout);
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Conv& c) {
  return MakeConvStep(context, c, ConvArgsOf(context, c));
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMul& c) {
  return MakeConvStep(context, c, MatMulArgsOf(context));
}

}  // namespace rshift
