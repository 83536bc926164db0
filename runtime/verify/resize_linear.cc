// Interpolation in LiteRT's arithmetic.
#include <bit>
#include <cmath>

#include "quantize/numerics/resize.h"
#include "quantize/numerics/tflite_resize.h"
#include "runtime/verify/resize_dimensions.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
namespace {

// Products and sums of such coefficients stay integers of 32 bits.
constexpr float kLargestLinearCoefficient = 2.0f;

void CheckLinearPair(const CommandCheck& check, const isa::ResizeLinear& c, int32_t low,
                     int32_t high) {
  if (c.arithmetic == ResizeArithmetic::kHalfAway) {
    check.Check(low >= 0 && high >= 0 && int64_t{low} + high == numerics::kTfLiteResizeUnit,
                check.Describe(Field::kList), ": coefficients are ", low, " and ", high,
                ", expected two from 0 on that add up to ", numerics::kTfLiteResizeUnit);
    return;
  }
  for (const int32_t bits : {low, high}) {
    const auto coefficient = std::bit_cast<float>(bits);
    check.Check(std::fabs(coefficient) <= kLargestLinearCoefficient, check.Describe(Field::kList),
                ": a coefficient is ", coefficient, ", expected at most 2");
  }
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::ResizeLinear& c) {
  check.CheckSameType(Field::kSrc, Field::kDst);
  if (c.arithmetic == ResizeArithmetic::kHalfAway) {
    check.CheckType(Field::kSrc, {DType::kS8, DType::kU8, DType::kS16});
  } else {
    check.CheckType(Field::kSrc, {DType::kU8});
  }
  const std::vector<int32_t> list = ReadTapList(check);
  const std::vector<ResizeDimension> dims = CheckedDimensions(check, list, "0 or 2");
  const Shape &src = check.Tensor(Field::kSrc).shape, &dst = check.Tensor(Field::kDst).shape;
  int axes = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].taps == 0) {
      check.Check(src[d] == dst[d], "dimension ", d, " has no taps: expected equal sizes");
      continue;
    }
    check.Check(dims[d].taps == 2, check.Describe(Field::kList), ": dimension ", d, " has ",
                dims[d].taps, " taps, expected 0 or 2");
    check.Check(++axes <= numerics::kMostResizedAxes, check.Describe(Field::kList), ": at most ",
                numerics::kMostResizedAxes, " dimensions may have taps");
    const std::span<const int32_t> pairs = dims[d].pairs;
    for (size_t at = 0; at < pairs.size(); at += 4) {
      for (const int32_t index : {pairs[at], pairs[at + 2]}) {
        check.Check(index >= 0 && index < src[d], check.Describe(Field::kList), ": index ", index,
                    " is outside a dimension of ", src[d]);
      }
      CheckLinearPair(check, c, pairs[at + 1], pairs[at + 3]);
    }
  }
}

}  // namespace rshift::verify
