// Sums over packed weights against the definition, weight by weight, and every byte of padding.
#include "runtime/packed_weights.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/kernels/weight_sums.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

std::vector<int8_t> RandomWeights(Random& random, int64_t count) {
  // Extremes often: sums of -128 are the ones that could leave a narrow type.
  const int64_t kind = random.Int(0, 3);
  std::vector<int8_t> weights(static_cast<size_t>(count), kind == 0 ? -128 : 127);
  for (int8_t& w : weights) {
    if (kind > 1) w = static_cast<int8_t>(random.Int(-128, 127));
  }
  return weights;
}

class WeightSum : public ::testing::TestWithParam<Isa> {};

TEST_P(WeightSum, EqualsTheDefinition) {
  if (!CpuSupports(GetParam())) GTEST_SKIP() << "this CPU lacks " << Name(GetParam());
  const WeightSumFn sum = WeightSumFor(GetParam());
  Random random(21);
  for (int i = 0; i < 2000; ++i) {
    const int64_t width = 16 * random.Int(1, 4);
    const int64_t count = random.Int(0, i % 20 == 0 ? 700 : 40);
    const std::vector<int8_t> quads = RandomWeights(random, count * width * 4);
    std::vector<uint32_t> sums(static_cast<size_t>(width) + 1);
    for (uint32_t& s : sums) s = static_cast<uint32_t>(random.engine());
    std::vector<uint32_t> expected = sums;
    for (size_t at = 0; at < quads.size(); ++at) {
      expected[at / 4 % static_cast<size_t>(width)] += static_cast<uint32_t>(int32_t{quads[at]});
    }
    sum(quads.data(), count, width, sums.data());
    ASSERT_EQ(sums, expected) << "case " << i << ": " << count << " x " << width;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, WeightSum,
                         ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512Vnni,
                                           Isa::kNeonDot),
                         [](const auto& isa) { return std::string(Name(isa.param)); });

PackedShape RandomShape(Random& random) {
  return {random.Int(1, 3), random.Int(1, 150), random.Int(1, 20), random.Int(1, 9)};
}

template <typename Visit>  // visit(channel, weight) for every weight that exists
void ForEachWeight(const PackedShape& shape, const std::vector<int8_t>& packed, Visit visit) {
  for (int64_t g = 0; g < shape.groups; ++g) {
    for (int64_t oc = 0; oc < shape.oc_per_group; ++oc) {
      for (int64_t i = 0; i < shape.taps * shape.ic_per_group; ++i) {
        const int64_t at = shape.Offset(oc, i / shape.ic_per_group, i % shape.ic_per_group);
        visit(static_cast<size_t>(g * shape.oc_per_group + oc),
              packed[static_cast<size_t>(g * shape.group_bytes() + at)]);
      }
    }
  }
}

TEST(PackedWeights, ConvSumsEqualTheDefinition) {
  Random random(22);
  for (int i = 0; i < 300; ++i) {
    const PackedShape shape = RandomShape(random);
    const int64_t channels = shape.groups * shape.oc_per_group;
    const std::vector<int8_t> packed =
        PackConvWeights(shape, RandomWeights(random, channels * shape.ic_per_group * shape.taps));
    std::vector<int32_t> zero_w(static_cast<size_t>(channels));
    for (int32_t& zero : zero_w) zero = static_cast<int32_t>(random.Int(-128, 127));
    std::vector<uint32_t> sums(zero_w.size());
    std::vector<int64_t> plain(zero_w.size()), shifted(zero_w.size());
    ForEachWeight(shape, packed, [&](size_t channel, int8_t w) {
      sums[channel] += static_cast<uint32_t>(int32_t{w});
      plain[channel] += std::abs(w);
      shifted[channel] += std::abs(w - zero_w[channel]);
    });
    ASSERT_EQ(SumConvWeights(shape, packed.data(), [](int64_t) {}), sums) << "case " << i;
    ASSERT_EQ(SumConvDistances(shape, packed.data(), nullptr), plain) << "case " << i;
    ASSERT_EQ(SumConvDistances(shape, packed.data(), zero_w.data()), shifted) << "case " << i;
  }
}

TEST(PackedWeights, WhatIsReadIsAnnouncedInOrder) {
  const PackedShape shape{2, 100, 1000, 1};
  const std::vector<int8_t> packed(static_cast<size_t>(shape.bytes()));
  int64_t last = 0;
  SumConvWeights(shape, packed.data(), [&](int64_t bytes) {
    EXPECT_GT(bytes, last);
    EXPECT_LE(bytes - last, 8192);  // what has just been announced is still in a near cache
    last = bytes;
  });
  EXPECT_EQ(last, shape.bytes());
}

TEST(PackedWeights, DepthwiseSumsEqualTheDefinition) {
  Random random(23);
  for (int i = 0; i < 100; ++i) {
    const int64_t channels = random.Int(1, 200), taps = random.Int(1, 25);
    const std::vector<int8_t> weights = RandomWeights(random, channels * taps);
    const std::vector<int8_t> packed = PackDepthwiseWeights(channels, taps, weights);
    std::vector<int32_t> zero_w(static_cast<size_t>(channels));
    for (int32_t& zero : zero_w) zero = static_cast<int32_t>(random.Int(-128, 127));
    std::vector<uint32_t> sums(zero_w.size());
    std::vector<int64_t> plain(zero_w.size()), shifted(zero_w.size());
    for (size_t at = 0; at < weights.size(); ++at) {
      const size_t channel = at / static_cast<size_t>(taps);
      sums[channel] += static_cast<uint32_t>(int32_t{weights[at]});
      plain[channel] += std::abs(weights[at]);
      shifted[channel] += std::abs(weights[at] - zero_w[channel]);
    }
    ASSERT_EQ(SumDepthwiseWeights(channels, taps, packed.data()), sums) << "case " << i;
    ASSERT_EQ(SumDepthwiseDistances(channels, taps, packed.data(), nullptr), plain);
    ASSERT_EQ(SumDepthwiseDistances(channels, taps, packed.data(), zero_w.data()), shifted);
  }
}

// Each byte in turn: set where a weight is, it changes nothing; set elsewhere, it is noticed.
template <typename IsZero>
void ExpectEveryPaddingByteIsSeen(const std::vector<int8_t>& ones, const IsZero& is_zero) {
  EXPECT_TRUE(is_zero(ones.data()));
  std::vector<int8_t> packed = ones;
  for (size_t at = 0; at < packed.size(); ++at) {
    for (const int8_t value : {int8_t{1}, int8_t{-128}}) {
      packed[at] = value;
      ASSERT_EQ(is_zero(packed.data()), ones[at] == 1) << "byte " << at;
    }
    packed[at] = ones[at];
  }
}

TEST(PackedWeights, EveryByteOfPaddingIsSeen) {
  for (const PackedShape& shape :
       {PackedShape{1, 5, 3, 2}, PackedShape{2, 16, 5, 1}, PackedShape{1, 70, 4, 2},
        PackedShape{1, 64, 6, 3}, PackedShape{3, 1, 1, 1}, PackedShape{1, 32, 8, 1}}) {
    const int64_t count = shape.groups * shape.oc_per_group * shape.ic_per_group * shape.taps;
    ExpectEveryPaddingByteIsSeen(
        PackConvWeights(shape, std::vector<int8_t>(static_cast<size_t>(count), 1)),
        [&](const int8_t* packed) { return ConvPaddingIsZero(shape, packed); });
  }
  for (const int64_t channels : {1, 63, 64, 65}) {
    ExpectEveryPaddingByteIsSeen(
        PackDepthwiseWeights(channels, 3,
                             std::vector<int8_t>(static_cast<size_t>(channels * 3), 1)),
        [&](const int8_t* packed) { return DepthwisePaddingIsZero(channels, 3, packed); });
  }
}

}  // namespace
}  // namespace rshift::testing
