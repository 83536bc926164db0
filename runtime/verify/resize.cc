// Interpolation of integers.
#include "quantize/numerics/resize.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/verify/requant.h"
#include "runtime/verify/resize_dimensions.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
namespace {

// The greatest sum of |coefficient| of an output index; every sum of coefficients must be 1.
int64_t CheckDimension(const CommandCheck& check, const ResizeDimension& dim, int64_t in,
                       int64_t unit) {
  int64_t gain = 0;
  for (size_t at = 0; at < dim.pairs.size();) {
    int64_t sum = 0, magnitude = 0;
    for (int k = 0; k < dim.taps; ++k, at += 2) {
      const int64_t index = dim.pairs[at], coefficient = dim.pairs[at + 1];
      check.Check(index >= 0 && index < in, check.Describe(Field::kList), ": index ", index,
                  " is outside a dimension of ", in);
      sum += coefficient;
      magnitude += std::abs(coefficient);
    }
    check.Check(sum == unit, check.Describe(Field::kList), ": coefficients add up to ", sum,
                ", expected ", unit);
    gain = std::max(gain, magnitude);
  }
  return gain;
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::Resize& c) {
  check.CheckBytes(c.clamp);
  if (c.words.multiplier == 0) check.CheckSameType(Field::kSrc, Field::kDst);
  CheckWords(check, Rounding::kHalfUp, c.words, "interpolation");
  const std::vector<int32_t> list = ReadTapList(check);
  const std::vector<ResizeDimension> dims = CheckedDimensions(check, list, "0 to 4");
  const Shape &src = check.Tensor(Field::kSrc).shape, &dst = check.Tensor(Field::kDst).shape;
  int64_t gain = 1, axes = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].taps == 0) {
      check.Check(src[d] == dst[d], "dimension ", d, " has no taps: expected equal sizes");
      continue;
    }
    ++axes;
    gain *= CheckDimension(check, dims[d], src[d], numerics::kResizeUnit);
    check.Check(axes <= numerics::kMostResizedAxes && gain <= numerics::kMostResizeGain,
                check.Describe(Field::kList), ": at most ", numerics::kMostResizedAxes,
                " dimensions whose coefficients amplify by 2.5 are allowed");
  }
  const int64_t most =
      axes < 2 ? numerics::kMostResizeGain / numerics::kResizeUnit : numerics::kMostResizeGain;
  check.Check(gain <= most, check.Describe(Field::kList),
              ": coefficients amplify by more than 2.5");
}

void CheckCommand(const CommandCheck& check, const isa::ResizeS16& c) {
  check.CheckType(Field::kSrc, {DType::kS16});
  if (check.Tensor(Field::kDst).dtype != DType::kS16) check.CheckByte(Field::kDst);
  check.CheckClamp(c.clamp);
  check.Check(c.words.multiplier <= numerics::kMostInt16ResizeMultiplier, "multiplier is ",
              c.words.multiplier, ", expected at most ", numerics::kMostInt16ResizeMultiplier);
  const std::vector<int32_t> list = ReadTapList(check);
  const std::vector<ResizeDimension> dims = CheckedDimensions(check, list, "0 to 4");
  const Shape &src = check.Tensor(Field::kSrc).shape, &dst = check.Tensor(Field::kDst).shape;
  int64_t all = int64_t{1} << (2 * numerics::kResizeInt16Bits), axes = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].taps == 0) {
      check.Check(src[d] == dst[d], "dimension ", d, " has no taps: expected equal sizes");
      continue;
    }
    check.Check(++axes <= numerics::kMostResizedAxes, check.Describe(Field::kList), ": at most ",
                numerics::kMostResizedAxes, " dimensions may have taps");
    constexpr int64_t kUnit = int64_t{1} << numerics::kResizeInt16Bits;
    const int64_t gain = CheckDimension(check, dims[d], src[d], kUnit);
    check.Check(gain <= numerics::kMostInt16AxisGain, check.Describe(Field::kList),
                ": coefficients of dimension ", d, " amplify by 2 or more");
    all = all / kUnit * gain;
  }
  check.Check(all <= numerics::kMostInt16ResizeGain, check.Describe(Field::kList),
              ": coefficients amplify by more than 2");
}

}  // namespace rshift::verify
