// Selections: lists long enough for whatever the data select.
#include <algorithm>

#include "runtime/verify/rules.h"

namespace rshift::verify {

void CheckCommand(const CommandCheck& check, const isa::NonMaxSuppression& c) {
  check.CheckFloats({Field::kSrc, Field::kSrc2});
  check.CheckType(Field::kDst, {DType::kS64});
  const Shape &boxes = check.Tensor(Field::kSrc).shape, &scores = check.Tensor(Field::kSrc2).shape;
  check.Check(boxes.size() == 3 && boxes[2] == 4, check.Describe(Field::kSrc),
              ": expected a shape of batches x boxes x 4");
  check.Check(scores.size() == 3 && scores[0] == boxes[0] && scores[2] == boxes[1],
              check.Describe(Field::kSrc2), ": expected ", boxes[0], " batches x classes x ",
              boxes[1], " boxes");
  const int64_t rows = CheckedProduct(check, {scores[0], scores[1], std::min(c.most, scores[2])});
  check.CheckShape(Field::kDst, {1 + rows, 3});
}

void CheckCommand(const CommandCheck& check, const isa::NonZero&) {
  check.CheckType(Field::kDst, {DType::kS64});
  check.CheckShape(Field::kDst, {1 + NumElements(check.Tensor(Field::kSrc).shape)});
}

void CheckCommand(const CommandCheck& check, const isa::TopK&) {
  check.CheckType(Field::kDst, {DType::kS64});
  const Shape &src = check.Tensor(Field::kSrc).shape, &dst = check.Tensor(Field::kDst).shape;
  check.Check(src.size() == 2, check.Describe(Field::kSrc), ": expected rows x elements");
  check.Check(dst.size() == 2 && dst[0] == src[0] && dst[1] <= src[1], check.Describe(Field::kDst),
              ": expected ", src[0], " rows of at most ", src[1], " elements");
}

void CheckCommand(const CommandCheck& check, const isa::Unique&) {
  check.CheckType(Field::kDst, {DType::kS64});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  check.Check(src.size() == 2, check.Describe(Field::kSrc), ": expected rows x elements");
  check.CheckShape(Field::kDst, {1 + CheckedProduct(check, {3, src[0]})});
}

}  // namespace rshift::verify
