// Normalizations: the numbers of a row stay in 64 bits.
#include "quantize/numerics/normalize.h"

#include <cstdlib>

#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/l2_normalize.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
void CheckNormalizeNumbers(const CommandCheck& check, int64_t count) {
  check.CheckType(Field::kSrc2, {DType::kS32});
  check.CheckShape(Field::kSrc2, {count});
  check.CheckType(Field::kList, {DType::kS64});
  check.CheckShape(Field::kList, {count});
  const auto* factors = reinterpret_cast<const int32_t*>(check.Data(Field::kSrc2));
  const auto* offsets = reinterpret_cast<const int64_t*>(check.Data(Field::kList));
  for (int64_t i = 0; i < count; ++i) {
    check.Check(std::abs(int64_t{factors[i]}) <= numerics::kLargestFactor,
                check.Describe(Field::kSrc2), ": number ", i, " is ", factors[i],
                ", expected less than 2^30");
    check.Check(offsets[i] >= -numerics::kLargestOffset && offsets[i] <= numerics::kLargestOffset,
                check.Describe(Field::kList), ": number ", i, " is ", offsets[i],
                ", expected at most 2^61");
  }
}

void CheckCommand(const CommandCheck& check, const isa::Normalize& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckBytes(c.clamp);
  const TensorRecord& x = check.Tensor(Field::kSrc);
  const size_t axis = check.Axis(c.axis), end = x.shape.size() - (c.channels ? 1 : 0);
  check.Check(axis < end, "axis is ", c.axis, ", expected a dimension before the channels");
  check.Check(NumElements(x.shape) > 0, check.Describe(Field::kSrc), ": is empty");
  int64_t n = 1;
  for (size_t d = axis; d < end; ++d) n = CheckedProduct(check, {n, x.shape[d]});
  check.Check(n <= numerics::kMostNormalized, "normalizes over ", n, " elements, expected at most ",
              numerics::kMostNormalized);
  check.Check(c.variance_shift % 2 == 0, "rshift is ", c.variance_shift,
              ", expected an even number");
  const int64_t most = numerics::LargestMagnitude(x.dtype == DType::kS8, x.zero_point);
  const int64_t variance = n * n * most * most;  // below 2^60
  check.Check(c.epsilon <= numerics::kLargestVariance / 2 &&
                  variance <= (numerics::kLargestVariance / 2) >> c.variance_shift,
              "the variance may reach ", variance, " * 2^", c.variance_shift, " + ", c.epsilon,
              ", expected each below 2^61");
  CheckNormalizeNumbers(check, c.channels ? x.shape.back() : n);
}

void CheckCommand(const CommandCheck& check, const isa::L2Normalize&) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckSameType(Field::kSrc, Field::kDst);
  check.CheckByte(Field::kSrc);
  const TensorRecord &x = check.Tensor(Field::kSrc), &y = check.Tensor(Field::kDst);
  check.Check(!x.shape.empty() && x.shape.back() <= numerics::kMostL2Normalized,
              check.Describe(Field::kSrc), ": expected rows of at most ",
              numerics::kMostL2Normalized, " elements");
  const int32_t zero = y.dtype == DType::kS8 ? 0 : 128;
  check.Check(y.scale == 0x1p-7f && y.zero_point == zero, check.Describe(Field::kDst),
              ": scale and zero point are ", y.scale, " and ", y.zero_point,
              ", expected 1/128 and ", zero);
}

}  // namespace rshift::verify
