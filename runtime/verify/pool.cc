// Pooling: channels stay, windows meet the image, sums fit.
#include <algorithm>
#include <cmath>

#include "quantize/numerics/requantize.h"
#include "runtime/verify/command_check.h"
#include "runtime/verify/requant.h"
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

// Modes whose number of taps is the whole window's: no pads, no window that ceil_mode adds.
void CheckWholeWindows(const CommandCheck& check) {
  CheckUnused(
      check, {Field::kFlags, Field::kPadTop, Field::kPadLeft, Field::kPadBottom, Field::kPadRight});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  const auto last = [&](size_t d, Field kernel, Field stride, Field dilation) {
    const int64_t end =
        (dst[d] - 1) * check.Get(stride) + (check.Get(kernel) - 1) * check.Get(dilation) + 1;
    check.Check(end <= src[d], "the last window reaches ", end, " of ", src[d],
                ", expected whole windows under mode ", check.Get(Field::kMode));
  };
  last(1, Field::kKernelH, Field::kStrideH, Field::kDilationH);
  last(2, Field::kKernelW, Field::kStrideW, Field::kDilationW);
}

// The mean as a factor of its own: integer multipliers may be any (LiteRT divides one by the number
// of taps).
void CheckFactor(const CommandCheck& check, Rounding rounding) {
  if (numerics::IsIntegerRounding(rounding)) return;  // the ISA table's ranges
  CheckWords(check, rounding, false, check.Get(Field::kMultiplier), check.Get(Field::kRshift),
             "average");
}

// PoolArithmetic; what a mode does not read is at its default.
void CheckArithmetic(const CommandCheck& check) {
  const auto arithmetic = static_cast<PoolArithmetic>(check.Get(Field::kMode));
  const PoolParameters& reads = kPoolParameters[static_cast<size_t>(arithmetic)];
  if (!reads.words) CheckUnused(check, {Field::kRounding, Field::kMultiplier, Field::kRshift});
  if (!reads.scale) CheckUnused(check, {Field::kScaleF});
  if (!reads.offset) CheckUnused(check, {Field::kOffsetF});
  if (reads.words) CheckWholeWindows(check);
  switch (arithmetic) {
    case PoolArithmetic::kScaleOffset:
      return;
    case PoolArithmetic::kInteger:
      return CheckUnused(check, {Field::kFlags});
    case PoolArithmetic::kDequantized:
      check.CheckScaled(Field::kSrc);
      return check.CheckScaled(Field::kDst);
    case PoolArithmetic::kRequantize:
      return CheckFactor(
          check, CheckRounding(
                     check, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kFloatEven,
                             Rounding::kFloatZeroEven, Rounding::kHalfAway, Rounding::kTwoStepUp}));
    case PoolArithmetic::kScaleSumAway:
      return CheckFinite(check, Field::kScaleF);
    case PoolArithmetic::kRawSum: {
      const Rounding rounding = CheckRounding(
          check, {Rounding::kTwoStep, Rounding::kFloatZeroEven, Rounding::kTwoStepUp});
      CheckFactor(check, rounding);
      const float offset = check.command.GetFloat(Field::kOffsetF);
      const bool whole = std::abs(offset) <= 16777216.0f && offset == std::trunc(offset);
      check.Check(whole || (rounding == Rounding::kFloatZeroEven && std::isfinite(offset)),
                  "offset is ", offset,
                  ", expected an integer of at most 24 bits, or under rounding ",
                  static_cast<int>(Rounding::kFloatZeroEven), " a finite number");
      return;
    }
  }
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
      CheckSum(check);
      return CheckArithmetic(check);
    case Opcode::kMaxPool:
      check.CheckType(Field::kSrc, {DType::kS8, DType::kU8, DType::kF32});
      return check.CheckSameType(Field::kSrc, Field::kDst);
    default:
      check.CheckType(Field::kSrc, {DType::kF32});
      check.CheckType(Field::kDst, {DType::kF32});
  }
}

}  // namespace rshift::verify
