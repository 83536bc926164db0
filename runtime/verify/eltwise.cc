// Quantize, Dequantize, Requantize, additions and activations.
#include <cstdlib>

#include "runtime/verify/command_check.h"

namespace rshift::verify {
namespace {

// Largest |x| of a byte tensor.
int64_t Magnitude(const TensorRecord& tensor) { return tensor.dtype == DType::kS8 ? 128 : 255; }

// The sum with its rounding term must fit int32 (quantize/numerics/add.h).
void CheckSymmetricSum(const CommandCheck& check) {
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) {
    check.Check(check.Tensor(f).zero_point == 0, check.Describe(f), ": zero point is ",
                check.Tensor(f).zero_point, ", expected 0 in a symmetric addition");
  }
  const int64_t rshift = check.Get(Field::kRshift);
  check.Check(rshift <= 30, "rshift is ", rshift, ", expected 0..30");
  const int64_t rounding = rshift == 0 ? 0 : int64_t{1} << (rshift - 1);
  const int64_t sum =
      Magnitude(check.Tensor(Field::kSrc)) * std::abs(check.Get(Field::kMultiplier)) +
      Magnitude(check.Tensor(Field::kSrc2)) * std::abs(check.Get(Field::kMultiplier2)) + rounding;
  check.Check(sum < int64_t{1} << 31, "the sum may reach ", sum, ", expected less than 2^31");
}

}  // namespace

void CheckQuantize(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  switch (check.command.opcode) {
    case Opcode::kQuantize:
      check.CheckType(Field::kSrc, {DType::kF32});
      check.CheckScaled(Field::kDst);
      return;
    case Opcode::kDequantize:
      check.CheckScaled(Field::kSrc);
      check.CheckType(Field::kDst, {DType::kF32});
      return;
    default:
      check.CheckByte(Field::kSrc);
      check.CheckByte(Field::kDst);
      check.CheckClamp();
  }
}

void CheckAdd(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckSameShape(Field::kDst, Field::kSrc2);
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) {
    check.CheckByte(f);
    if (check.command.opcode == Opcode::kAddFloat) check.CheckScaled(f);
  }
  check.CheckClamp();
  if (check.command.opcode == Opcode::kAdd) CheckSymmetricSum(check);
}

void CheckActivation(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckByte(Field::kSrc);
  check.CheckByte(Field::kDst);
  if (check.command.opcode == Opcode::kTable) return check.CheckBlob(Field::kTable, 256);
  check.CheckClamp();
  if (check.command.opcode != Opcode::kPRelu) return;
  check.CheckType(Field::kSrc2, {DType::kS8, DType::kBytes});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const int64_t slopes = NumElements(check.Tensor(Field::kSrc2).shape);
  check.Check(slopes == 1 || (!src.empty() && slopes == src.back()), check.Describe(Field::kSrc2),
              ": expected 1 slope or one for each channel of ", check.Describe(Field::kSrc));
}

}  // namespace rshift::verify
