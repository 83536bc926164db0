// F32 commands of rshift_float. oneDNN checks the spatial size of a transposed convolution itself,
// when the step is made.
#include "runtime/verify/rules.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

constexpr std::initializer_list<Field> kConvolutionTensors = {Field::kDst, Field::kSrc,
                                                              Field::kWeights, Field::kSrc3};

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::ConvF32& c) {
  check.CheckFloats(kConvolutionTensors);
  CheckConvWindow(check, c.window);
  CheckGroups(check, c.groups);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  check.CheckShape(Field::kWeights, {oc, ic / c.groups, c.window.kernel_h, c.window.kernel_w});
  check.CheckElements(Field::kSrc3, oc);
}

void CheckCommand(const CommandCheck& check, const isa::ConvTransposeF32& c) {
  check.CheckFloats(kConvolutionTensors);
  check.CheckImage(Field::kSrc);
  check.CheckImage(Field::kDst);
  CheckGroups(check, c.groups);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  check.CheckShape(Field::kWeights, {ic, oc / c.groups, c.window.kernel_h, c.window.kernel_w});
  check.CheckElements(Field::kSrc3, oc);
}

void CheckCommand(const CommandCheck& check, const isa::MatMulF32&) {
  check.CheckFloats({Field::kDst, Field::kSrc, Field::kSrc2, Field::kSrc3});
  CheckMatMulShapes(check);
  check.CheckElements(Field::kSrc3, check.Tensor(Field::kSrc2).shape.back());
}

}  // namespace rshift::verify
