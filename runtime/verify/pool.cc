// Pooling: channels stay, windows meet the image, sums fit.
#include <algorithm>
#include <cmath>

#include "quantize/numerics/requantize.h"
#include "quantize/numerics/squares.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

void CheckSum(const CommandCheck& check, const isa::AveragePool& pool) {
  const Shape& src = check.Tensor(Field::kSrc).shape;
  int64_t h = pool.window.kernel_h, w = pool.window.kernel_w;
  if (!pool.count_include_pad) {  // only taps inside the image count
    h = std::min(h, src[1]);
    w = std::min(w, src[2]);
  }
  const int64_t sum = CheckedProduct(check, {h, w, 255});
  check.Check(sum < int64_t{1} << 31, "the sum of ", h, "x", w, " taps may reach ", sum,
              ", expected less than 2^31");
}

// Modes whose number of taps is the whole window's: no pads, no window that ceil_mode adds.
void CheckWholeWindows(const CommandCheck& check, const isa::AveragePool& pool) {
  CheckUnused(
      check, {Field::kFlags, Field::kPadTop, Field::kPadLeft, Field::kPadBottom, Field::kPadRight});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  const Window& w = pool.window;
  const auto last = [&](size_t d, int64_t kernel, int64_t stride, int64_t dilation) {
    const int64_t end = (dst[d] - 1) * stride + (kernel - 1) * dilation + 1;
    check.Check(end <= src[d], "the last window reaches ", end, " of ", src[d],
                ", expected whole windows under mode ", static_cast<int>(pool.arithmetic));
  };
  last(1, w.kernel_h, w.stride_h, w.dilation_h);
  last(2, w.kernel_w, w.stride_w, w.dilation_w);
}

// The mean as a factor of its own: integer multipliers may be any (LiteRT divides one by the number
// of taps).
void CheckFactor(const CommandCheck& check, const isa::AveragePool& pool) {
  if (numerics::IsIntegerRounding(pool.rounding)) return;  // the ISA table's ranges
  CheckWords(check, pool.rounding, pool.words, "average");
}

// PoolArithmetic; what a mode does not read is at its default.
void CheckArithmetic(const CommandCheck& check, const isa::AveragePool& pool) {
  const PoolParameters& reads = kPoolParameters[static_cast<size_t>(pool.arithmetic)];
  if (!reads.words) CheckUnused(check, {Field::kRounding, Field::kMultiplier, Field::kRshift});
  if (!reads.scale) CheckUnused(check, {Field::kScaleF});
  if (!reads.offset) CheckUnused(check, {Field::kOffsetF});
  if (reads.words) CheckWholeWindows(check, pool);
  check.Check(!pool.keeps_sign || pool.arithmetic == PoolArithmetic::kDequantized,
              "flags hold 2 under mode ", static_cast<int>(pool.arithmetic), ", expected it under ",
              static_cast<int>(PoolArithmetic::kDequantized), " only");
  switch (pool.arithmetic) {
    case PoolArithmetic::kScaleOffset:
      return;
    case PoolArithmetic::kInteger:
      return CheckUnused(check, {Field::kFlags});
    case PoolArithmetic::kDequantized:
      check.CheckScaled(Field::kSrc);
      return check.CheckScaled(Field::kDst);
    case PoolArithmetic::kRequantize:
      CheckRounding(check, pool.rounding, kRoundingsOfWords);
      return CheckFactor(check, pool);
    case PoolArithmetic::kScaleSumAway:
      return CheckFinite(check, Field::kScaleF, pool.scale);
    case PoolArithmetic::kMeanScaleOffset:
      CheckFinite(check, Field::kScaleF, pool.scale);
      return CheckFinite(check, Field::kOffsetF, pool.offset);
    case PoolArithmetic::kRawSum: {
      CheckRounding(check, pool.rounding,
                    {Rounding::kTwoStep, Rounding::kFloatZeroEven, Rounding::kTwoStepUp});
      CheckFactor(check, pool);
      const float offset = pool.offset;
      const bool whole = std::abs(offset) <= 16777216.0f && offset == std::trunc(offset);
      check.Check(whole || (pool.rounding == Rounding::kFloatZeroEven && std::isfinite(offset)),
                  "offset is ", offset,
                  ", expected an integer of at most 24 bits, or under rounding ",
                  static_cast<int>(Rounding::kFloatZeroEven), " a finite number");
      return;
    }
  }
}

void CheckImages(const CommandCheck& check, const Window& window) {
  CheckPoolWindow(check, window);
  check.Check(check.Tensor(Field::kSrc).shape[3] == check.Tensor(Field::kDst).shape[3],
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected equal channels");
}

// Integers [outer, n, 1, inner] to [outer, 1, 1, inner].
void CheckRows(const CommandCheck& check) {
  const TensorRecord& src = check.Tensor(Field::kSrc);
  check.Check(src.shape.size() == 4 && src.shape[1] > 0 && src.shape[2] == 1,
              check.Describe(Field::kSrc), ": expected [outer, n, 1, inner] with n > 0");
  check.CheckShape(Field::kDst, {src.shape[0], 1, 1, src.shape[3]});
  if (src.dtype != DType::kS16) check.CheckByte(Field::kSrc);
  for (const Field f : {Field::kSrc, Field::kDst})
    check.Check(check.Tensor(f).quantized, check.Describe(f), ": expected a scale");
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::AveragePool& pool) {
  CheckImages(check, pool.window);
  check.CheckBytes(pool.clamp);
  CheckSum(check, pool);
  CheckArithmetic(check, pool);
}

void CheckCommand(const CommandCheck& check, const isa::MaxPool& pool) {
  CheckImages(check, pool.window);
  check.CheckType(Field::kSrc, {DType::kS8, DType::kU8, DType::kS16, DType::kF32});
  check.CheckSameType(Field::kSrc, Field::kDst);
}

void CheckCommand(const CommandCheck& check, const isa::AveragePoolF32& pool) {
  CheckImages(check, pool.window);
  check.CheckFloats({Field::kSrc, Field::kDst});
}

void CheckCommand(const CommandCheck& check, const isa::Product& c) {
  CheckRows(check);
  check.CheckType(Field::kDst, {check.Tensor(Field::kSrc).dtype});
  check.CheckClamp(c.clamp);
}

void CheckCommand(const CommandCheck& check, const isa::ReduceSquares& c) {
  CheckRows(check);
  const int64_t n = check.Tensor(Field::kSrc).shape[1];
  check.Check(n <= numerics::kMostSquares, check.Describe(Field::kSrc), ": ", n,
              " rows, expected at most ", numerics::kMostSquares);
  if (check.Tensor(Field::kDst).dtype != DType::kS16) check.CheckByte(Field::kDst);
  check.CheckClamp(c.clamp);
}

}  // namespace rshift::verify
