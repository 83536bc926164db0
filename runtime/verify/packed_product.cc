#include "runtime/verify/packed_product.h"

#include <algorithm>
#include <cstring>

#include "quantize/numerics/accumulator.h"

namespace rshift::verify {
namespace {

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

}  // namespace

PackedProduct CheckConvWeights(const CommandCheck& check, const PackedShape& shape, bool sums) {
  // The factors one by one: PackedShape's own products must not overflow.
  const int64_t bytes =
      CheckedProduct(check, {shape.groups, shape.taps, RoundUp(shape.ic_per_group, kDotProducts),
                             RoundUp(shape.oc_per_group, kLineChannels)});
  check.CheckBlob(Field::kWeights, bytes);
  const int64_t channels = shape.groups * shape.oc_per_group;
  const int32_t* zero_w = CheckZeroW(check, channels);
  const int8_t* weights = Weights(check);
  if (sums) {
    const auto offset = static_cast<int64_t>(check.Tensor(Field::kWeights).offset);
    check.weight_sums = SumConvWeights(shape, weights, [&](int64_t count) {
      check.constants.ReadTo(static_cast<uint64_t>(offset + count));
    });
  }
  check.Check(ConvPaddingIsZero(shape, weights), check.Describe(Field::kWeights),
              ": padding is not zero");
  return {channels, shape.taps * shape.ic_per_group, zero_w,
          [=] { return SumConvDistances(shape, weights, zero_w); }};
}

PackedProduct CheckDepthwiseWeights(const CommandCheck& check, int64_t channels, int64_t taps,
                                    bool sums) {
  check.CheckBlob(Field::kWeights,
                  CheckedProduct(check, {taps, RoundUp(channels, kPanelChannels)}));
  const int32_t* zero_w = CheckZeroW(check, channels);
  const int8_t* weights = Weights(check);
  check.Check(DepthwisePaddingIsZero(channels, taps, weights), check.Describe(Field::kWeights),
              ": padding is not zero");
  if (sums) check.weight_sums = SumDepthwiseWeights(channels, taps, weights);
  return {channels, taps, zero_w,
          [=] { return SumDepthwiseDistances(channels, taps, weights, zero_w); }};
}

const uint8_t* RequantRecords(const CommandCheck& check, int64_t count) {
  check.CheckBlob(Field::kRequant, CheckedProduct(check, {count, sizeof(ChannelRequant)}));
  const TensorRecord& tensor = check.Tensor(Field::kRequant);
  check.constants.ReadTo(tensor.offset + tensor.bytes());
  return check.Data(Field::kRequant);
}

ChannelRequant RequantRecord(const uint8_t* records, int64_t channel) {
  ChannelRequant record;
  std::memcpy(&record, records + channel * static_cast<int64_t>(sizeof record), sizeof record);
  return record;
}

void CheckAccumulators(const CommandCheck& check, const PackedProduct& product,
                       const uint8_t* records, int64_t most_bias) {
  int64_t distance = product.zero_w == nullptr ? numerics::LargestDistance(0) : 0;
  for (int64_t c = 0; c < product.channels && product.zero_w != nullptr; ++c) {
    distance = std::max(distance, numerics::LargestDistance(product.zero_w[c]));
  }
  // Mostly even that is in bounds, and then there is no need to know better.
  const auto fits = [](int64_t bound) { return bound <= numerics::kInt32Limit; };
  if (fits(numerics::LargestAccumulator(most_bias, distance * product.count))) return;
  const std::vector<int64_t> distances = product.distances();
  for (int64_t c = 0; c < product.channels; ++c) {
    const int64_t bound = numerics::LargestAccumulator<int64_t>(RequantRecord(records, c).bias,
                                                                distances[static_cast<size_t>(c)]);
    check.Check(fits(bound), "channel ", c, ": the accumulator may reach ", bound,
                ", expected less than 2^31");
  }
}

}  // namespace rshift::verify
