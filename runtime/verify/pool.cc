// Pooling: channels stay, windows meet the image, sums fit.
#include <algorithm>

#include "runtime/verify/command_check.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

void CheckSum(const CommandCheck& check) {
  const Shape& src = check.Tensor(Field::kSrc).shape;
  int64_t h = check.Get(Field::kKernelH), w = check.Get(Field::kKernelW);
  if ((check.Get(Field::kFlags) & 1) == 0) {  // only taps inside the image count
    h = std::min(h, src[1]);
    w = std::min(w, src[2]);
  }
  const int64_t sum = CheckedProduct(check, {h, w, 255});
  check.Check(sum < int64_t{1} << 31, "the sum of ", h, "x", w, " taps may reach ", sum,
              ", expected less than 2^31");
}

}  // namespace

void CheckPool(const CommandCheck& check) {
  CheckPoolWindow(check);
  check.Check(check.Tensor(Field::kSrc).shape[3] == check.Tensor(Field::kDst).shape[3],
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected equal channels");
  switch (check.command.opcode) {
    case Opcode::kAveragePool:
      check.CheckByte(Field::kSrc);
      check.CheckByte(Field::kDst);
      check.CheckClamp();
      return CheckSum(check);
    case Opcode::kMaxPool:
      check.CheckType(Field::kSrc, {DType::kS8, DType::kU8, DType::kF32});
      return check.CheckSameType(Field::kSrc, Field::kDst);
    default:
      check.CheckType(Field::kSrc, {DType::kF32});
      check.CheckType(Field::kDst, {DType::kF32});
  }
}

}  // namespace rshift::verify
