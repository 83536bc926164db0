// Convolution, depthwise convolution, matrix product: packed weights, requant records, the
// accumulator bound.
#include <algorithm>
#include <cstring>
#include <functional>

#include "base/checked.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/weight_sums.h"
#include "runtime/packed_weights.h"
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

const int8_t* Weights(const CommandCheck& check) {
  return reinterpret_cast<const int8_t*>(check.Data(Field::kWeights));
}

bool IsSigned(const CommandCheck& check) { return check.Tensor(Field::kSrc).dtype == DType::kS8; }

// What follows the products, and what the accumulator bound needs to know of the weights.
struct Terms {
  Rounding rounding;
  const HalfEpilogue& half;
  int64_t channels = 0;
  int64_t count = 0;  // products in one accumulator
  const int32_t* zero_w = nullptr;
  std::function<std::vector<int64_t>()> distances;  // sum|w - zero_w| per channel
};

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

ChannelRequant Record(const uint8_t* records, int64_t channel) {
  ChannelRequant record;
  std::memcpy(&record, records + channel * static_cast<int64_t>(sizeof record), sizeof record);
  return record;
}

// One look at tens of thousands of records.
struct Survey {
  uint32_t bias = 0;  // largest magnitude
  bool usual = true;  // multipliers and shifts that every integer rounding allows
};
Survey SurveyRecords(const uint8_t* records, int64_t channels) {
  Survey survey;
  for (int64_t c = 0; c < channels; ++c) {
    const auto [bias, multiplier, rshift] = Record(records, c);
    const auto magnitude = static_cast<uint32_t>(bias);
    survey.bias = std::max(survey.bias, bias < 0 ? 0 - magnitude : magnitude);
    survey.usual &= (multiplier >= 1 << 30) & (static_cast<uint32_t>(rshift) <= 62);
  }
  return survey;
}

// numerics::LargestAccumulator of each channel fits int32. Sums on the way to the accumulator may
// wrap (runtime/kernels/kernels.h); the accumulator may not. `most_bias`: the largest |bias|.
void CheckAccumulators(const CommandCheck& check, const Terms& terms, const uint8_t* records,
                       int64_t most_bias) {
  int64_t distance = terms.zero_w == nullptr ? numerics::LargestDistance(0) : 0;
  for (int64_t c = 0; c < terms.channels && terms.zero_w != nullptr; ++c) {
    distance = std::max(distance, numerics::LargestDistance(terms.zero_w[c]));
  }
  // Mostly even that is in bounds, and then there is no need to know better.
  const auto fits = [](int64_t bound) { return bound <= numerics::kInt32Limit; };
  if (fits(numerics::LargestAccumulator(most_bias, distance * terms.count))) return;
  const std::vector<int64_t> distances = terms.distances();
  for (int64_t c = 0; c < terms.channels; ++c) {
    const int64_t bound = numerics::LargestAccumulator<int64_t>(Record(records, c).bias,
                                                                distances[static_cast<size_t>(c)]);
    check.Check(fits(bound), "channel ", c, ": the accumulator may reach ", bound,
                ", expected less than 2^31");
  }
}

// Rounding, requant records and the accumulator bound.
void CheckRequant(const CommandCheck& check, const Terms& terms) {
  CheckEpilogue(check, terms.rounding, terms.half);
  const bool bias_f = numerics::WordsOf(terms.rounding) == RoundingWords::kScaleAndBias;
  check.CheckBlob(Field::kRequant, CheckedProduct(check, {terms.channels, sizeof(ChannelRequant)}));
  const TensorRecord& tensor = check.Tensor(Field::kRequant);
  check.constants.ReadTo(tensor.offset + tensor.bytes());
  const uint8_t* records = check.Data(Field::kRequant);
  const Survey survey = SurveyRecords(records, terms.channels);
  const bool all_right = survey.usual && numerics::IsIntegerRounding(terms.rounding);
  for (int64_t c = 0; c < terms.channels && !all_right; ++c) {
    const auto [bias, multiplier, rshift] = Record(records, c);
    CheckWords(check, terms.rounding, {multiplier, rshift}, {"requant of channel ", c}, bias_f);
  }
  CheckAccumulators(check, terms, records, survey.bias);
}

// Conv, or MatMul as a convolution of one tap.
template <typename C>
void CheckPacked(const CommandCheck& check, const C& c, const PackedShape& shape) {
  // The factors one by one: PackedShape's own products must not overflow.
  const int64_t bytes =
      CheckedProduct(check, {shape.groups, shape.taps, RoundUp(shape.ic_per_group, kDotProducts),
                             RoundUp(shape.oc_per_group, kLineChannels)});
  check.CheckBlob(Field::kWeights, bytes);
  const int64_t channels = shape.groups * shape.oc_per_group;
  const int32_t* zero_w = CheckZeroW(check, channels);
  const int8_t* weights = Weights(check);
  if (IsSigned(check) == kFlippedSigned) {
    const auto offset = static_cast<int64_t>(check.Tensor(Field::kWeights).offset);
    check.weight_sums = SumConvWeights(shape, weights, [&](int64_t count) {
      check.constants.ReadTo(static_cast<uint64_t>(offset + count));
    });
  }
  check.Check(ConvPaddingIsZero(shape, weights), check.Describe(Field::kWeights),
              ": padding is not zero");
  CheckRequant(check, {.rounding = c.rounding,
                       .half = c.half,
                       .channels = channels,
                       .count = shape.taps * shape.ic_per_group,
                       .zero_w = zero_w,
                       .distances = [&] { return SumConvDistances(shape, weights, zero_w); }});
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::Conv& c) {
  CheckOperands(check, c);
  CheckConvWindow(check, c.window);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  CheckGroups(check, c.groups);
  CheckPacked(check, c,
              ConvPackedShape({c.groups, oc / c.groups, ic / c.groups, c.window.kernel_h,
                               c.window.kernel_w, c.window.dilation_w}));
}

void CheckCommand(const CommandCheck& check, const isa::Depthwise& c) {
  CheckOperands(check, c);
  CheckConvWindow(check, c.window);
  const int64_t channels = check.Tensor(Field::kSrc).shape[3];
  check.Check(check.Tensor(Field::kDst).shape[3] == channels, check.Describe(Field::kDst),
              ": expected ", channels, " channels");
  const int64_t taps = c.window.kernel_h * c.window.kernel_w;
  check.CheckBlob(Field::kWeights,
                  CheckedProduct(check, {taps, RoundUp(channels, kPanelChannels)}));
  const int32_t* zero_w = CheckZeroW(check, channels);
  const int8_t* weights = Weights(check);
  check.Check(DepthwisePaddingIsZero(channels, taps, weights), check.Describe(Field::kWeights),
              ": padding is not zero");
  CheckRequant(
      check, {.rounding = c.rounding,
              .half = c.half,
              .channels = channels,
              .count = taps,
              .zero_w = zero_w,
              .distances = [&] { return SumDepthwiseDistances(channels, taps, weights, zero_w); }});
  if (IsSigned(check) == kFlippedSigned)
    check.weight_sums = SumDepthwiseWeights(channels, taps, weights);
}

void CheckCommand(const CommandCheck& check, const isa::MatMul& c) {
  CheckOperands(check, c);
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  check.Check(!src.empty() && !dst.empty() && src.back() >= 1 && dst.back() >= 1,
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected at least one dimension, the last at least 1");
  Shape expected = src;
  expected.back() = dst.back();
  check.CheckShape(Field::kDst, expected);
  CheckPacked(check, c, {1, dst.back(), src.back(), 1});
}

}  // namespace rshift::verify
