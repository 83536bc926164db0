// Convolution, depthwise convolution, matrix product: packed weights, requant records, the
// accumulator bound.
#include <cstring>

#include "base/checked.h"
#include "runtime/packed_weights.h"
#include "runtime/verify/command_check.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

void CheckOperands(const CommandCheck& check) {
  check.CheckByte(Field::kSrc);
  check.CheckByte(Field::kDst);
  check.CheckClamp();
}

void CheckPadding(const CommandCheck& check, const WeightSums& sums) {
  check.Check(sums.padding_is_zero, check.Describe(Field::kWeights), ": padding is not zero");
}

// The weight zero points, one per channel in the range of s8, or null.
const int32_t* CheckZeroW(const CommandCheck& check, int64_t channels) {
  if (!check.Has(Field::kZeroW)) return nullptr;
  check.CheckType(Field::kZeroW, {DType::kS32});
  check.CheckShape(Field::kZeroW, {channels});
  const auto* zero_w = reinterpret_cast<const int32_t*>(check.Data(Field::kZeroW));
  for (int64_t c = 0; c < channels; ++c) {
    check.Check(zero_w[c] >= -128 && zero_w[c] <= 127, "weight zero point of channel ", c, " is ",
                zero_w[c], ", expected -128..127");
  }
  return zero_w;
}

void CheckPacked(const CommandCheck& check, const PackedShape& shape) {
  // The factors one by one: PackedShape's own products must not overflow.
  const int64_t bytes = CheckedProduct(
      check,
      {shape.groups, shape.taps, RoundUp(shape.ic_per_group, 4), RoundUp(shape.oc_per_group, 16)});
  check.CheckBlob(Field::kWeights, bytes);
  const WeightSums sums =
      SumConvWeights(shape, reinterpret_cast<const int8_t*>(check.Data(Field::kWeights)),
                     CheckZeroW(check, shape.groups * shape.oc_per_group));
  CheckPadding(check, sums);
  CheckRequant(check, sums.absolute);
}

void CheckConvolution(const CommandCheck& check) {
  CheckConvWindow(check);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  const int64_t groups = check.Get(Field::kGroups);
  check.Check(ic % groups == 0 && oc % groups == 0, groups, " groups do not divide ", ic,
              " input and ", oc, " output channels");
  // Of a stem's factors none is large: the product below IC < 16 cannot overflow.
  CheckPacked(check, ConvPackedShape(groups, oc / groups, ic / groups,
                                     check.Get(Field::kKernelH) * check.Get(Field::kKernelW)));
}

void CheckDepthwise(const CommandCheck& check) {
  CheckConvWindow(check);
  const int64_t channels = check.Tensor(Field::kSrc).shape[3];
  check.Check(check.Tensor(Field::kDst).shape[3] == channels, check.Describe(Field::kDst),
              ": expected ", channels, " channels");
  const int64_t taps = check.Get(Field::kKernelH) * check.Get(Field::kKernelW);
  check.CheckBlob(Field::kWeights, CheckedProduct(check, {taps, RoundUp(channels, 64)}));
  const WeightSums sums = SumDepthwiseWeights(
      channels, taps, reinterpret_cast<const int8_t*>(check.Data(Field::kWeights)),
      CheckZeroW(check, channels));
  CheckPadding(check, sums);
  CheckRequant(check, sums.absolute);
}

void CheckMatMul(const CommandCheck& check) {
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  check.Check(!src.empty() && !dst.empty() && src.back() >= 1 && dst.back() >= 1,
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected at least one dimension, the last at least 1");
  Shape expected = src;
  expected.back() = dst.back();
  check.CheckShape(Field::kDst, expected);
  CheckPacked(check, {1, dst.back(), src.back(), 1});
}

}  // namespace

void CheckConv(const CommandCheck& check) {
  CheckOperands(check);
  switch (check.command.opcode) {
    case Opcode::kDepthwise:
      return CheckDepthwise(check);
    case Opcode::kMatMul:
      return CheckMatMul(check);
    default:
      return CheckConvolution(check);
  }
}

void CheckRequant(const CommandCheck& check, const std::vector<int64_t>& absolute) {
  const Rounding rounding = CheckTail(check);
  const bool bias_f = rounding == Rounding::kFloatZeroEven || rounding == Rounding::kHalfFloat;
  const auto channels = static_cast<int64_t>(absolute.size());
  check.CheckBlob(Field::kRequant, CheckedProduct(check, {channels, sizeof(RequantRecord)}));
  const uint8_t* data = check.Data(Field::kRequant);
  for (int64_t c = 0; c < channels; ++c) {
    RequantRecord record;
    std::memcpy(&record, data + c * static_cast<int64_t>(sizeof(record)), sizeof(record));
    CheckWords(check, rounding, bias_f, record.multiplier, record.rshift,
               Cat("requant of channel ", c));
    // x is at most 255 in magnitude in either form (s8, or s8 + 128 in the vector kernels). Sums on
    // the way to the accumulator may wrap (runtime/kernels/kernels.h); the accumulator may not.
    const int64_t bound = std::abs(int64_t{record.bias}) + 255 * absolute[static_cast<size_t>(c)];
    check.Check(bound < int64_t{1} << 31, "channel ", c, ": the accumulator may reach ", bound,
                ", expected less than 2^31");
  }
}

}  // namespace rshift::verify
