// Products of two activations.
#include "quantize/numerics/accumulator.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {

void CheckMatMulShapes(const CommandCheck& check) {
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
}

// No accumulator leaves int32: numerics::LargestProductSum. Sums on the way may wrap.
void CheckCommand(const CommandCheck& check, const isa::BatchedMatMul& c) {
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) check.CheckByte(f);
  check.CheckClamp(c.clamp);
  CheckMatMulShapes(check);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kFloatEven});
  CheckWords(check, c.rounding, c.words, "product");
  const TensorRecord &a = check.Tensor(Field::kSrc), &b = check.Tensor(Field::kSrc2);
  for (const Field f : {Field::kSrc, Field::kSrc2}) {
    check.Check(NumElements(check.Tensor(f).shape) > 0, check.Describe(f), ": is empty");
  }
  const auto most = [](const TensorRecord& t) {
    return numerics::LargestMagnitude(t.dtype == DType::kS8, t.zero_point);
  };
  const int64_t sum = numerics::LargestProductSum(a.shape.back(), most(a), most(b));
  check.Check(sum <= numerics::kInt32Limit, "the sum of ", a.shape.back(), " products may reach ",
              sum, ", expected less than 2^31");
}

}  // namespace rshift::verify
