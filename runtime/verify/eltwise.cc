// Quantize, Dequantize, Requantize, additions and activations.
#include <algorithm>
#include <cstdlib>

#include "codegen/container/broadcast.h"
#include "runtime/verify/command_check.h"
#include "runtime/verify/requant.h"

namespace rshift::verify {
namespace {

// Largest |x - zero point| of a byte tensor.
int64_t Magnitude(const TensorRecord& tensor) {
  const int64_t lo = tensor.dtype == DType::kS8 ? -128 : 0;
  return std::max(tensor.zero_point - lo, lo + 255 - tensor.zero_point);
}

// Half up: the sum with its rounding term must fit int32. Half away from zero is in 64 bits, where
// any sum fits (quantize/numerics/add_forms.h).
void CheckCommonShift(const CommandCheck& check) {
  if (CheckRounding(check, {Rounding::kHalfUp, Rounding::kHalfAway}) == Rounding::kHalfAway) return;
  const int64_t rshift = check.Get(Field::kRshift);
  check.Check(rshift <= 30, "rshift is ", rshift, ", expected 0..30");
  const int64_t rounding = rshift == 0 ? 0 : int64_t{1} << (rshift - 1);
  const int64_t sum =
      Magnitude(check.Tensor(Field::kSrc)) * std::abs(check.Get(Field::kMultiplier)) +
      Magnitude(check.Tensor(Field::kSrc2)) * std::abs(check.Get(Field::kMultiplier2)) + rounding;
  check.Check(sum < int64_t{1} << 31, "the sum may reach ", sum, ", expected less than 2^31");
}

// Operands rescaled by factors of at most 1 (rshift >= 31) add up in int32.
void CheckShifted(const CommandCheck& check) {
  const Rounding rounding =
      CheckRounding(check, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kTwoStepUp});
  check.Check(check.Get(Field::kMode) == 0 || rounding == Rounding::kTwoStep, "mode is ",
              check.Get(Field::kMode), " under rounding ", static_cast<int>(rounding),
              ", expected it under ", static_cast<int>(Rounding::kTwoStep), " only");
  const auto words = [&](Field multiplier, Field rshift, const WordsName& what) {
    CheckWords(check, rounding, false, check.Get(multiplier), check.Get(rshift), what);
  };
  words(Field::kMultiplier, Field::kRshift, "first operand");
  words(Field::kMultiplier2, Field::kRshift2, "second operand");
  words(Field::kMultiplier3, Field::kRshift3, "sum");
  for (const Field f : {Field::kRshift, Field::kRshift2}) {
    check.Check(check.Get(f) >= 31, Name(f), " is ", check.Get(f), ", expected at least 31");
  }
}

void CheckProduct(const CommandCheck& check) {
  const Rounding rounding =
      CheckRounding(check, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kFloatEven,
                            Rounding::kFloatZeroEven, Rounding::kHalfAway, Rounding::kTwoStepUp});
  CheckWords(check, rounding, false, check.Get(Field::kMultiplier), check.Get(Field::kRshift),
             "product");
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
    case Opcode::kRequantize:
      check.CheckByte(Field::kSrc);
      check.CheckByte(Field::kDst);
      check.CheckClamp();
      CheckRounding(check, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kHalfAway,
                            Rounding::kTwoStepUp});
      return;
    default:
      check.Check(false, "no rule for this command");
  }
}

// Operands of dst's shape, one of which may be a smaller constant.
void CheckPair(const CommandCheck& check) {
  const Shape& dst = check.Tensor(Field::kDst).shape;
  const auto is_small = [&](Field f) {
    const TensorRecord& tensor = check.Tensor(f);
    return tensor.region == Region::kConst && tensor.shape != dst &&
           BroadcastsTo(tensor.shape, dst);
  };
  if (!is_small(Field::kSrc)) check.CheckSameShape(Field::kDst, Field::kSrc);
  if (is_small(Field::kSrc) || !is_small(Field::kSrc2))
    check.CheckSameShape(Field::kDst, Field::kSrc2);
}

void CheckAdd(const CommandCheck& check) {
  CheckPair(check);
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) {
    check.CheckByte(f);
    if (check.command.opcode == Opcode::kAddFloat) check.CheckScaled(f);
  }
  check.CheckClamp();
  switch (check.command.opcode) {
    case Opcode::kAdd:
      return CheckCommonShift(check);
    case Opcode::kAddShifted:
      return CheckShifted(check);
    case Opcode::kMul:
      return CheckProduct(check);
    case Opcode::kAddFma:
      CheckFinite(check, Field::kScaleF);
      CheckFinite(check, Field::kAlphaF);
      return CheckFinite(check, Field::kOffsetF);
    case Opcode::kAddFloat:
      return;  // its scales are those of its tensors
    default:
      check.Check(false, "no rule for this command");
  }
}

void CheckActivation(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckByte(Field::kSrc);
  check.CheckByte(Field::kDst);
  if (check.command.opcode == Opcode::kTable) return check.CheckBlob(Field::kTable, 256);
  check.CheckClamp();
  CheckRounding(check, {Rounding::kHalfUp});
  if (check.command.opcode != Opcode::kPRelu) return;
  check.CheckType(Field::kSrc2, {DType::kS8, DType::kBytes});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const int64_t slopes = NumElements(check.Tensor(Field::kSrc2).shape);
  check.Check(slopes == 1 || (!src.empty() && slopes == src.back()), check.Describe(Field::kSrc2),
              ": expected 1 slope or one for each channel of ", check.Describe(Field::kSrc));
}

}  // namespace rshift::verify
