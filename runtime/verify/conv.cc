// Convolution, depthwise convolution, matrix product: packed weights, requant records, the
// accumulator bound.
#include "isa/ops/conv.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/checked.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/weight_sums.h"
#include "runtime/packed_weights.h"
#include "runtime/verify/command_check.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

void CheckOperands(const CommandCheck& check) {
  check.CheckByte(Field::kSrc);
  if (check.Tensor(Field::kDst).dtype != DType::kF32) {
    check.CheckByte(Field::kDst);
    return check.CheckClamp();
  }
  // Real results: neither rounded nor clamped.
  const auto rounding = static_cast<Rounding>(check.Get(Field::kRounding));
  check.Check(rounding == Rounding::kFloatZeroEven, check.Describe(Field::kDst), " under rounding ",
              static_cast<int>(rounding), ", expected f32 under ",
              static_cast<int>(Rounding::kFloatZeroEven), " only");
  check.Check(check.Tensor(Field::kDst).pitch == 0, check.Describe(Field::kDst),
              " has a pitch, which f32 results have not");
  CheckUnused(check, {Field::kClampLoQ, Field::kClampHiQ});
}

const int8_t* Weights(const CommandCheck& check) {
  return reinterpret_cast<const int8_t*>(check.Data(Field::kWeights));
}

bool IsSigned(const CommandCheck& check) { return check.Tensor(Field::kSrc).dtype == DType::kS8; }

// What the accumulator bound needs to know of the weights.
struct Terms {
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

// |bias| + 255 * sum|w - zero_w| < 2^31 for each channel: x is at most 255 in magnitude in either
// form (s8, or s8 + 128 in the vector kernels). Sums on the way to the accumulator may wrap
// (runtime/kernels/kernels.h); the accumulator may not. `most_bias`: the largest |bias|.
void CheckAccumulators(const CommandCheck& check, const Terms& terms, const uint8_t* records,
                       int64_t most_bias) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  int64_t distance = terms.zero_w == nullptr ? 128 : 0;  // the largest |w - zero_w| there can be
  for (int64_t c = 0; c < terms.channels && terms.zero_w != nullptr; ++c) {
    distance = std::max<int64_t>(distance, std::max(terms.zero_w[c] + 128, 127 - terms.zero_w[c]));
  }
  // Mostly even that is in bounds, and then there is no need to know better.
  if (most_bias + 255 * distance * terms.count < kLimit) return;
  const std::vector<int64_t> distances = terms.distances();
  for (int64_t c = 0; c < terms.channels; ++c) {
    const int64_t bound =
        std::abs(int64_t{Record(records, c).bias}) + 255 * distances[static_cast<size_t>(c)];
    check.Check(bound < kLimit, "channel ", c, ": the accumulator may reach ", bound,
                ", expected less than 2^31");
  }
}

// Rounding, requant records and the accumulator bound.
void CheckRequant(const CommandCheck& check, const Terms& terms) {
  const Rounding rounding = CheckTail(check);
  const bool bias_f = rounding == Rounding::kFloatZeroEven || rounding == Rounding::kHalfFloat;
  check.CheckBlob(Field::kRequant, CheckedProduct(check, {terms.channels, sizeof(ChannelRequant)}));
  const TensorRecord& tensor = check.Tensor(Field::kRequant);
  check.constants.ReadTo(tensor.offset + tensor.bytes());
  const uint8_t* records = check.Data(Field::kRequant);
  const Survey survey = SurveyRecords(records, terms.channels);
  const bool all_right = survey.usual && numerics::IsIntegerRounding(rounding);
  for (int64_t c = 0; c < terms.channels && !all_right; ++c) {
    const auto [bias, multiplier, rshift] = Record(records, c);
    CheckWords(check, rounding, bias_f, multiplier, rshift, {"requant of channel ", c});
  }
  CheckAccumulators(check, terms, records, survey.bias);
}

std::vector<uint32_t> CheckPacked(const CommandCheck& check, const PackedShape& shape) {
  // The factors one by one: PackedShape's own products must not overflow.
  const int64_t bytes = CheckedProduct(
      check,
      {shape.groups, shape.taps, RoundUp(shape.ic_per_group, 4), RoundUp(shape.oc_per_group, 16)});
  check.CheckBlob(Field::kWeights, bytes);
  const int64_t channels = shape.groups * shape.oc_per_group;
  const int32_t* zero_w = CheckZeroW(check, channels);
  const int8_t* weights = Weights(check);
  std::vector<uint32_t> sums;
  if (IsSigned(check) == kFlippedSigned) {
    const auto offset = static_cast<int64_t>(check.Tensor(Field::kWeights).offset);
    sums = SumConvWeights(shape, weights, [&](int64_t count) {
      check.constants.ReadTo(static_cast<uint64_t>(offset + count));
    });
  }
  check.Check(ConvPaddingIsZero(shape, weights), check.Describe(Field::kWeights),
              ": padding is not zero");
  CheckRequant(check, {.channels = channels,
                       .count = shape.taps * shape.ic_per_group,
                       .zero_w = zero_w,
                       .distances = [&] { return SumConvDistances(shape, weights, zero_w); }});
  return sums;
}

std::vector<uint32_t> CheckConvolution(const CommandCheck& check) {
  CheckConvWindow(check);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  const auto conv = isa::Read<isa::Conv>(check.command);
  const int64_t groups = conv.groups;
  check.Check(ic % groups == 0 && oc % groups == 0, groups, " groups do not divide ", ic,
              " input and ", oc, " output channels");
  return CheckPacked(check, ConvPackedShape({groups, oc / groups, ic / groups, conv.window.kernel_h,
                                             conv.window.kernel_w, conv.window.dilation_w}));
}

std::vector<uint32_t> CheckDepthwise(const CommandCheck& check) {
  CheckConvWindow(check);
  const int64_t channels = check.Tensor(Field::kSrc).shape[3];
  check.Check(check.Tensor(Field::kDst).shape[3] == channels, check.Describe(Field::kDst),
              ": expected ", channels, " channels");
  const Window window = isa::ReadWindow(check.command);
  const int64_t taps = window.kernel_h * window.kernel_w;
  check.CheckBlob(Field::kWeights,
                  CheckedProduct(check, {taps, RoundUp(channels, kPanelChannels)}));
  const int32_t* zero_w = CheckZeroW(check, channels);
  const int8_t* weights = Weights(check);
  check.Check(DepthwisePaddingIsZero(channels, taps, weights), check.Describe(Field::kWeights),
              ": padding is not zero");
  CheckRequant(check, {.channels = channels, .count = taps, .zero_w = zero_w, .distances = [&] {
                         return SumDepthwiseDistances(channels, taps, weights, zero_w);
                       }});
  return IsSigned(check) == kFlippedSigned ? SumDepthwiseWeights(channels, taps, weights)
                                           : std::vector<uint32_t>();
}

std::vector<uint32_t> CheckMatMul(const CommandCheck& check) {
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  check.Check(!src.empty() && !dst.empty() && src.back() >= 1 && dst.back() >= 1,
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected at least one dimension, the last at least 1");
  Shape expected = src;
  expected.back() = dst.back();
  check.CheckShape(Field::kDst, expected);
  return CheckPacked(check, {1, dst.back(), src.back(), 1});
}

}  // namespace

std::vector<uint32_t> CheckConv(const CommandCheck& check) {
  CheckOperands(check);
  switch (check.command.opcode) {
    case Opcode::kDepthwise:
      return CheckDepthwise(check);
    case Opcode::kMatMul:
      return CheckMatMul(check);
    case Opcode::kConv:
      return CheckConvolution(check);
    default:
      check.Check(false, "no rule for this command");
      return {};
  }
}

}  // namespace rshift::verify
