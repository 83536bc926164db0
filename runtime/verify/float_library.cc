// F32 commands of rshift_float. oneDNN checks the spatial size of a transposed convolution itself,
// when the step is made.

#include "isa/ops/field_list.h"
#include "runtime/verify/command_check.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

void CheckFloats(const CommandCheck& check, std::initializer_list<Field> fields) {
  for (const Field f : fields) {
    if (check.Has(f)) check.CheckType(f, {DType::kF32});
  }
}

void CheckBias(const CommandCheck& check, int64_t channels) {
  if (!check.Has(Field::kSrc3)) return;
  check.Check(NumElements(check.Tensor(Field::kSrc3).shape) == channels,
              check.Describe(Field::kSrc3), ": expected ", channels, " elements");
}

void CheckConvolution(const CommandCheck& check) {
  CheckFloats(check, {Field::kDst, Field::kSrc, Field::kWeights, Field::kSrc3});
  const bool transposed = check.command.opcode == Opcode::kConvTransposeF32;
  if (transposed) {
    check.CheckImage(Field::kSrc);
    check.CheckImage(Field::kDst);
  } else {
    CheckConvWindow(check);
  }
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  const int64_t groups = check.Get(Field::kGroups);
  check.Check(ic % groups == 0 && oc % groups == 0, groups, " groups do not divide ", ic,
              " input and ", oc, " output channels");
  const Window w = isa::ReadWindow(check.command);
  const int64_t kh = w.kernel_h, kw = w.kernel_w;
  check.CheckShape(Field::kWeights,
                   transposed ? Shape{ic, oc / groups, kh, kw} : Shape{oc, ic / groups, kh, kw});
  CheckBias(check, oc);
}

void CheckMatMul(const CommandCheck& check) {
  CheckFloats(check, {Field::kDst, Field::kSrc, Field::kSrc2, Field::kSrc3});
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) {
    check.Check(check.Tensor(f).shape.size() >= 2, check.Describe(f),
                ": expected at least 2 dimensions");
  }
  const Shape& a = check.Tensor(Field::kSrc).shape;
  const Shape& b = check.Tensor(Field::kSrc2).shape;
  check.Check(a.back() == b[b.size() - 2], check.Describe(Field::kSrc), " and ",
              check.Describe(Field::kSrc2), ": expected equal K");
  Shape expected =
      Broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), check.where);
  expected.push_back(a[a.size() - 2]);
  expected.push_back(b.back());
  check.CheckShape(Field::kDst, expected);
  CheckBias(check, b.back());
}

}  // namespace

void CheckFloatLibrary(const CommandCheck& check) {
  if (check.command.opcode == Opcode::kMatMulF32) return CheckMatMul(check);
  CheckConvolution(check);
}

}  // namespace rshift::verify
