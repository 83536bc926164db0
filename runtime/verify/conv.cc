// Convolution, depthwise convolution, matrix product: packed weights, requant records, the
// accumulator bound.
#include <algorithm>

#include "quantize/numerics/requantize.h"
#include "runtime/kernels/weight_sums.h"
#include "runtime/verify/packed_product.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

template <typename C>
void CheckOperands(const CommandCheck& check, const C& c) {
  const DType type = check.Tensor(Field::kDst).dtype;
  if (type != DType::kF32 && type != DType::kF16) return check.CheckBytes(c.clamp);
  check.CheckByte(Field::kSrc);
  // Real results: neither rounded nor clamped.
  const Rounding real = type == DType::kF32 ? Rounding::kFloatZeroEven : Rounding::kHalfFloat;
  check.Check(c.rounding == real, check.Describe(Field::kDst), " under rounding ",
              static_cast<int>(c.rounding), ", expected ", Name(type), " under ",
              static_cast<int>(real), " only");
  check.Check(check.Tensor(Field::kDst).pitch == 0, check.Describe(Field::kDst),
              " has a pitch, which ", Name(type), " results have not");
  CheckUnused(check, {Field::kClampLoQ, Field::kClampHiQ});
}

// Kernels take src XOR 0x80, and the sums of weights with it.
bool IsFlipped(const CommandCheck& check) {
  return (check.Tensor(Field::kSrc).dtype == DType::kS8) == kFlippedSigned;
}

// One look at tens of thousands of records.
struct Survey {
  uint32_t bias = 0;  // largest magnitude
  bool usual = true;  // multipliers and shifts that every integer rounding allows
};
Survey SurveyRecords(const uint8_t* records, int64_t channels) {
  Survey survey;
  for (int64_t c = 0; c < channels; ++c) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, c);
    const auto magnitude = static_cast<uint32_t>(bias);
    survey.bias = std::max(survey.bias, bias < 0 ? 0 - magnitude : magnitude);
    survey.usual &= (multiplier >= 1 << 30) & (static_cast<uint32_t>(rshift) <= 62);
  }
  return survey;
}

// Of half_up there may be as many records again, for accumulators below 0: their words alone count.
bool HasNegativeRecords(const CommandCheck& check, Rounding rounding, int64_t channels) {
  const auto bytes = static_cast<int64_t>(check.Tensor(Field::kRequant).bytes());
  return rounding == Rounding::kHalfUp && channels > 0 &&
         bytes / 2 == CheckedProduct(check, {channels, sizeof(ChannelRequant)}) && bytes % 2 == 0;
}

void CheckNegativeRecords(const CommandCheck& check, const uint8_t* records, int64_t channels) {
  for (int64_t i = 0; i < channels; ++i) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, channels + i);
    const WordsName name{"requant below 0 of channel ", i};
    check.Check(bias == 0, name, ": bias is ", bias, ", expected 0");
    CheckWords(check, Rounding::kHalfUp, {multiplier, rshift}, name, false);
  }
}

// Rounding, requant records and the accumulator bound.
template <typename C>
void CheckRequant(const CommandCheck& check, const C& c, const PackedProduct& product) {
  CheckEpilogue(check, c.rounding, c.half);
  const bool bias_f = numerics::WordsOf(c.rounding) == RoundingWords::kScaleAndBias;
  const bool signs = HasNegativeRecords(check, c.rounding, product.channels);
  const uint8_t* records = RequantRecords(check, product.channels * (signs ? 2 : 1));
  if (signs) CheckNegativeRecords(check, records, product.channels);
  const Survey survey = SurveyRecords(records, product.channels);
  const bool all_right = survey.usual && numerics::IsIntegerRounding(c.rounding);
  for (int64_t i = 0; i < product.channels && !all_right; ++i) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, i);
    CheckWords(check, c.rounding, {multiplier, rshift}, {"requant of channel ", i}, bias_f);
  }
  CheckAccumulators(check, product, records, survey.bias);
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::Conv& c) {
  CheckOperands(check, c);
  CheckConvWindow(check, c.window);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  CheckGroups(check, c.groups);
  const PackedShape shape =
      ConvPackedShape({c.groups, oc / c.groups, ic / c.groups, c.window.kernel_h, c.window.kernel_w,
                       c.window.dilation_w});
  CheckRequant(check, c, CheckConvWeights(check, shape, IsFlipped(check)));
}

void CheckCommand(const CommandCheck& check, const isa::Depthwise& c) {
  CheckOperands(check, c);
  CheckConvWindow(check, c.window);
  const int64_t channels = check.Tensor(Field::kSrc).shape[3];
  check.Check(check.Tensor(Field::kDst).shape[3] == channels, check.Describe(Field::kDst),
              ": expected ", channels, " channels");
  if (c.zero_x >= 0) {
    const TensorRecord& zero = check.Tensor(Field::kZeroX);
    check.Check(zero.dtype == check.Tensor(Field::kSrc).dtype && zero.shape == Shape{channels},
                check.Describe(Field::kZeroX), ": expected ", Name(check.Tensor(Field::kSrc).dtype),
                " ", ToString(Shape{channels}), ", one for each channel");
  }
  const int64_t taps = c.window.kernel_h * c.window.kernel_w;
  CheckRequant(check, c, CheckDepthwiseWeights(check, channels, taps, IsFlipped(check)));
}

void CheckCommand(const CommandCheck& check, const isa::MatMul& c) {
  CheckOperands(check, c);
  CheckRequant(check, c, CheckConvWeights(check, CheckRowProduct(check), IsFlipped(check)));
}

PackedShape CheckRowProduct(const CommandCheck& check) {
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  check.Check(!src.empty() && !dst.empty() && src.back() >= 1 && dst.back() >= 1,
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected at least one dimension, the last at least 1");
  Shape expected = src;
  expected.back() = dst.back();
  check.CheckShape(Field::kDst, expected);
  return {1, dst.back(), src.back(), 1};
}

}  // namespace rshift::verify
