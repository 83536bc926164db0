#include "codegen/packing/packing.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "base/error.h"

namespace rshift {
namespace {

// Two output channels of three inputs, 1x1: one panel of 16 columns, one K step of 4.
TEST(PackConvWeights, WorkedExample) {
  const std::vector<int8_t> weights = {1, 2, 3, 4, 5, 6};
  std::vector<int8_t> expected(64);
  expected[0] = 1, expected[1] = 2, expected[2] = 3;  // channel 0, then one zero of padding
  expected[4] = 4, expected[5] = 5, expected[6] = 6;  // channel 1
  EXPECT_EQ(
      PackConvWeights({.groups = 1, .oc_per_group = 2, .ic_per_group = 3, .taps = 1}, weights),
      expected);
}

TEST(PackConvWeights, EveryWeightIsWhereOffsetSaysAndAllElseIsZero) {
  for (const PackedShape& shape :
       {PackedShape{1, 1, 1, 1}, PackedShape{1, 64, 4, 9}, PackedShape{1, 65, 5, 9},
        PackedShape{3, 7, 6, 4}, PackedShape{2, 130, 3, 2}}) {
    const int64_t count = shape.groups * shape.oc_per_group * shape.ic_per_group * shape.taps;
    std::vector<int8_t> weights(count);
    for (int64_t i = 0; i < count; ++i) weights[i] = static_cast<int8_t>(i % 127 + 1);
    const std::vector<int8_t> packed = PackConvWeights(shape, weights);
    ASSERT_EQ(static_cast<int64_t>(packed.size()), shape.bytes());
    std::set<int64_t> used;
    int64_t i = 0;
    for (int64_t g = 0; g < shape.groups; ++g) {
      for (int64_t oc = 0; oc < shape.oc_per_group; ++oc) {
        for (int64_t ic = 0; ic < shape.ic_per_group; ++ic) {
          for (int64_t tap = 0; tap < shape.taps; ++tap) {
            const int64_t at = g * shape.group_bytes() + shape.Offset(oc, tap, ic);
            ASSERT_EQ(packed[at], weights[i++]);
            ASSERT_TRUE(used.insert(at).second) << "two weights in one place";
          }
        }
      }
    }
    const auto zeros = std::count(packed.begin(), packed.end(), 0);
    EXPECT_EQ(zeros, static_cast<int64_t>(packed.size()) - count);
  }
}

TEST(PackConvWeights, AColumnOfSixteenChannelsIsOneLine) {
  const PackedShape shape{1, 80, 8, 1};
  EXPECT_EQ(shape.Offset(0, 0, 4), 64 * 4);        // second K step of the full panel
  EXPECT_EQ(shape.Offset(64, 0, 0), 64 * 8);       // the narrow panel starts behind it
  EXPECT_EQ(shape.Offset(64, 0, 4), 64 * 8 + 64);  // and is 16 wide
}

TEST(PackConvolution, OfFewChannelsTheWindowIsOneTap) {
  const ConvDims dims{1, 1, 3, 2, 2, 1};
  ASSERT_TRUE(UsesStemIm2col(dims));
  ASSERT_EQ(ConvPackedShape(dims).k(), 12);  // two lines of two pixels of three channels
  // Weights count by line and pixel: channel 1 is 11 12 over 13 14, channel 2 is 21 22 over 23 24.
  const std::vector<int8_t> packed =
      PackConvolution(dims, std::vector<int8_t>{11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34});
  const std::vector<std::vector<int8_t>> steps = {
      {11, 21, 31, 12}, {22, 32, 13, 23}, {33, 14, 24, 34}};
  std::vector<int8_t> expected(192);
  for (size_t k = 0; k < steps.size(); ++k) {
    std::copy(steps[k].begin(), steps[k].end(), expected.begin() + static_cast<int64_t>(64 * k));
  }
  EXPECT_EQ(packed, expected);
}

TEST(PackConvolution, KeepsTheTapsApartWhereNothingIsGained) {
  for (const ConvDims& dims :
       {ConvDims{1, 2, 4, 3, 3, 1}, ConvDims{1, 2, 17, 3, 3, 1}, ConvDims{2, 2, 3, 3, 3, 1},
        ConvDims{1, 2, 3, 3, 1, 1}, ConvDims{1, 2, 3, 3, 3, 2}, ConvDims{1, 2, 9, 3, 8, 1},
        ConvDims{1, 2, 3, 22, 16, 1}, ConvDims{1, 2, 5, 1, 13, 1}, ConvDims{1, 2, 1, 1, 1025, 1}}) {
    EXPECT_FALSE(UsesStemIm2col(dims));
    const PackedShape shape = ConvPackedShape(dims);
    EXPECT_EQ(shape.taps, dims.kernel_h * dims.kernel_w);
    std::vector<int8_t> weights(dims.groups * dims.oc_per_group * dims.ic_per_group * shape.taps);
    std::iota(weights.begin(), weights.end(), static_cast<int8_t>(1));
    EXPECT_EQ(PackConvolution(dims, weights), PackConvWeights(shape, weights));
  }
}

TEST(PackConvWeights, RefusesAWrongNumberOfWeights) {
  const std::vector<int8_t> weights(5);
  EXPECT_THROW(PackConvWeights({1, 2, 3, 1}, weights), Error);
  EXPECT_THROW(PackDepthwiseWeights(2, 3, weights), Error);
}

TEST(PackDepthwiseWeights, TapsBecomeRowsOfChannels) {
  std::vector<int8_t> weights(3 * 2);
  std::iota(weights.begin(), weights.end(), 1);
  const std::vector<int8_t> packed = PackDepthwiseWeights(3, 2, weights);
  ASSERT_EQ(packed.size(), 128u);
  EXPECT_EQ((std::vector<int8_t>{packed[0], packed[1], packed[2], packed[3]}),
            (std::vector<int8_t>{1, 3, 5, 0}));
  EXPECT_EQ((std::vector<int8_t>{packed[64], packed[65], packed[66], packed[67]}),
            (std::vector<int8_t>{2, 4, 6, 0}));
}

}  // namespace
}  // namespace rshift
