#include "quantize/ops/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "base/error.h"
#include "isa/attributes.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

WeightRequest Request(std::span<const float> weights, std::span<const float> bias,
                      int64_t channels) {
  WeightRequest r;
  r.node = "conv";
  r.weights = weights;
  r.bias = bias;
  r.channels = channels;
  r.k = static_cast<int64_t>(weights.size()) / channels;
  r.channel_stride = r.k;
  r.x = {DType::kS8, {0.1f, 0}};
  r.y = {DType::kS8, {0.05f, 0}};
  return r;
}

// What the record makes of an accumulator without inputs.
double BiasOf(const ChannelRequant& r, const IntType& y) {
  return std::ldexp(static_cast<double>(r.bias) * r.multiplier, -r.rshift) * y.quant.scale;
}

TEST(WeightsTest, WorkedExample) {
  const float weights[] = {1.27f, -0.5f}, bias[] = {0.3f};
  QuantizeReport report;
  const QuantizedWeights q = QuantizeWeights(Request(weights, bias, 1), &report);
  EXPECT_EQ(q.weights, (std::vector<int8_t>{127, -50}));
  EXPECT_EQ(q.linear.channels[0].bias, 300);  // 0.3 / (0.1 * 0.01)
  // 0.1 * 0.01 / 0.05 = 0.02
  EXPECT_NEAR(std::ldexp(q.linear.channels[0].multiplier, -q.linear.channels[0].rshift), 0.02,
              1e-8);
  EXPECT_TRUE(report.repairs.empty());
}

// 7 steps on either side: 0.35 / 0.1 is between 3 and 4, to even.
TEST(WeightsTest, AWorkedExampleOf4Bits) {
  const float weights[] = {0.7f, -0.34f, -0.7f, 0.04f}, bias[] = {0.3f};
  QuantizeReport report;
  WeightRequest r = Request(weights, bias, 1);
  r.weight_bits = 4;
  const QuantizedWeights q = QuantizeWeights(r, &report);
  EXPECT_EQ(q.weights, (std::vector<int8_t>{7, -3, -7, 0}));
  EXPECT_EQ(q.bits, 4);
  EXPECT_EQ(q.scales, std::vector<float>{0.1f});
  EXPECT_EQ(q.linear.channels[0].bias, 30);  // 0.3 / (0.1 * 0.1)
  EXPECT_NEAR(std::ldexp(q.linear.channels[0].multiplier, -q.linear.channels[0].rshift), 0.2, 1e-7);
}

TEST(WeightsTest, AChannelOfZerosKeepsItsBias) {
  const float weights[] = {0.0f, 0.0f, 1.0f, 1.0f}, bias[] = {0.777f, 0.0f};
  QuantizeReport report;
  const WeightRequest r = Request(weights, bias, 2);
  const QuantizedWeights q = QuantizeWeights(r, &report);
  EXPECT_NEAR(BiasOf(q.linear.channels[0], r.y), 0.777, 1e-6);
  EXPECT_TRUE(report.repairs.empty());
}

TEST(WeightsTest, ATinyChannelWithALargeBiasIsRepairedAndReported) {
  const float weights[] = {1e-9f, -1e-9f}, bias[] = {5.0f};
  QuantizeReport report;
  const WeightRequest r = Request(weights, bias, 1);
  const QuantizedWeights q = QuantizeWeights(r, &report);
  ASSERT_EQ(report.repairs.size(), 1u);
  EXPECT_EQ(report.repairs[0].node, "conv");
  EXPECT_GT(report.repairs[0].scale_after, report.repairs[0].scale_before);
  EXPECT_NEAR(BiasOf(q.linear.channels[0], r.y), 5.0, 1e-5);
  double bound = std::fabs(static_cast<double>(q.linear.channels[0].bias));
  for (int8_t w : q.weights) bound += 255.0 * std::abs(w);
  EXPECT_LT(bound, 2147483648.0);
}

TEST(WeightsTest, AnAccumulatorTooLongForInt32IsRepaired) {
  const std::vector<float> weights(70000, 1.0f);
  QuantizeReport report;
  const QuantizedWeights q = QuantizeWeights(Request(weights, {}, 1), &report);
  EXPECT_EQ(report.repairs.size(), 1u);
  EXPECT_EQ(q.weights[0], 64);  // 63.5 to even
}

TEST(WeightsTest, AnInputThatIsAlwaysZeroLeavesTheBias) {
  const float weights[] = {100.0f}, bias[] = {0.3f};
  WeightRequest r = Request(weights, bias, 1);
  r.x.quant.scale = 1.0f;
  r.x_is_zero = true;
  QuantizeReport report;
  const QuantizedWeights q = QuantizeWeights(r, &report);
  EXPECT_EQ(q.weights[0], 0);
  EXPECT_NEAR(BiasOf(q.linear.channels[0], r.y), 0.3, 1e-6);
}

TEST(WeightsTest, StridedColumnsAreTheChannels) {
  const float weights[] = {1.0f, 10.0f, -0.5f, 5.0f};  // [K = 2, N = 2]
  WeightRequest r = Request(weights, {}, 2);
  r.channel_stride = 1;
  r.k_stride = 2;
  QuantizeReport report;
  const QuantizedWeights q = QuantizeWeights(r, &report);
  EXPECT_EQ(q.weights, (std::vector<int8_t>{127, 127, -64, 64}));  // 63.5 to even
}

TEST(WeightsTest, ExtremeRangesStillHaveRecords) {
  const float weights[] = {1.0f};
  for (const float sx : {1e-38f, 1e38f}) {
    for (const float sy : {1e-38f, 1e38f}) {
      WeightRequest r = Request(weights, {}, 1);
      r.x.quant.scale = sx;
      r.y.quant.scale = sy;
      QuantizeReport report;
      const ChannelRequant c = QuantizeWeights(r, &report).linear.channels[0];
      EXPECT_GE(c.rshift, 0);
      EXPECT_LE(c.rshift, 62);
      EXPECT_TRUE(c.multiplier == 0 || c.multiplier >= 1 << 30) << sx << " " << sy;
    }
  }
}

// --- the integers of a QDQ model ---

struct Model {
  QuantizedOrigin weights, bias;
  std::vector<float> reals, bias_reals;

  template <typename T>
  Model(DType type, std::vector<T> q, std::vector<float> scales, std::vector<int32_t> zeros,
        std::vector<int32_t> bias_q, std::vector<float> bias_scales) {
    weights = {type, scales.size() > 1 ? 0 : -1, scales, zeros, MakeConstant<T>(q)};
    bias = {DType::kS32, -1, bias_scales, {0}, MakeConstant<int32_t>(bias_q)};
    const size_t k = q.size() / bias_q.size();
    for (size_t i = 0; i < q.size(); ++i) {
      const size_t c = scales.size() > 1 ? i / k : 0;
      reals.push_back(scales[c] * static_cast<float>(q[i] - zeros[c]));
    }
    for (int32_t b : bias_q) bias_reals.push_back(static_cast<float>(b) * bias_scales[0]);
  }

  WeightRequest Ask(const IntType& x) const {
    WeightRequest r = Request(reals, bias_reals, static_cast<int64_t>(bias_reals.size()));
    r.weights_origin = &weights;
    r.bias_origin = &bias;
    r.x = x;
    return r;
  }
};

TEST(QdqWeightsTest, UnsignedIntegersAreShiftedWithTheirZeroPoints) {
  const std::vector<uint8_t> q = {0, 255, 128, 7};
  const Model model(DType::kU8, q, {0.01f, 0.02f}, {3, 200}, {1000, -70000}, {0.001f});
  QuantizeReport report;
  WeightRequest r = model.Ask({DType::kU8, {0.1f, 5}});
  const QuantizedWeights got = QuantizeWeights(r, &report);
  EXPECT_EQ(got.weights, (std::vector<int8_t>{-128, 127, 0, -121}));
  EXPECT_EQ(got.linear.zero_w, (std::vector<int32_t>{-125, 72}));
  // The first bias has scale 0.1f * 0.01f; the second has half of 0.1f * 0.02f.
  EXPECT_EQ(got.linear.channels[0].bias, 1000 - 5 * ((0 - 3) + (255 - 3)));
  EXPECT_EQ(got.linear.channels[1].bias, -35000 - 5 * ((128 - 200) + (7 - 200)));
  EXPECT_TRUE(report.repairs.empty());
}

// The sums of products with w - zero are those of 8 bits; only what is taken off of w is less.
TEST(QdqWeightsTest, UnsignedIntegersOf4BitsAreShiftedBy8) {
  const std::vector<uint8_t> q = {0, 15, 8, 7};
  Model model(DType::kU8, q, {0.01f, 0.02f}, {3, 9}, {1000, -70000}, {0.001f});
  QuantizeReport report;
  const IntType x = {DType::kU8, {0.1f, 5}};
  const QuantizedWeights wide = QuantizeWeights(model.Ask(x), &report);
  model.weights.bits = 4;
  const QuantizedWeights got = QuantizeWeights(model.Ask(x), &report);
  EXPECT_EQ(got.bits, 4);
  EXPECT_EQ(got.weights, (std::vector<int8_t>{-8, 7, 0, -1}));
  EXPECT_EQ(got.linear.zero_w, (std::vector<int32_t>{-5, 1}));
  ASSERT_EQ(got.linear.channels.size(), wide.linear.channels.size());
  for (size_t c = 0; c < wide.linear.channels.size(); ++c) {
    const ChannelRequant &a = got.linear.channels[c], &b = wide.linear.channels[c];
    EXPECT_EQ(std::tie(a.bias, a.multiplier, a.rshift), std::tie(b.bias, b.multiplier, b.rshift));
  }
  for (size_t i = 0; i < q.size(); ++i) {
    EXPECT_EQ(got.weights[i] - got.linear.zero_w[i / 2],
              wide.weights[i] - wide.linear.zero_w[i / 2]);
  }
}

TEST(QdqWeightsTest, SignedIntegersStayAndZeroPointsOfZeroVanish) {
  const std::vector<int8_t> q = {-128, 127, 1, 0};
  const Model model(DType::kS8, q, {0.01f}, {0}, {2000000011}, {0.001f});
  QuantizeReport report;
  const QuantizedWeights got = QuantizeWeights(model.Ask({DType::kS8, {0.1f, 0}}), &report);
  EXPECT_EQ(got.weights, q);
  EXPECT_TRUE(got.linear.zero_w.empty());
  EXPECT_EQ(got.linear.channels[0].bias, 2000000011);  // no float holds it
}

TEST(QdqWeightsTest, ABiasScaleAFewRoundingsOffIsTaken) {
  const std::vector<int8_t> q = {1, 1};
  const Model model(DType::kS8, q, {0.01f}, {0}, {1234567}, {0.001f * (1 + 3e-6f)});
  QuantizeReport report;
  EXPECT_EQ(QuantizeWeights(model.Ask({DType::kS8, {0.1f, 0}}), &report).linear.channels[0].bias,
            1234567);
}

TEST(QdqWeightsTest, AnOverflowIsAnErrorThatNamesTheChannel) {
  const std::vector<int8_t> q = {1, 1, 127, 127};
  const Model model(DType::kS8, q, {0.01f}, {0}, {0, 2147483000}, {0.001f});
  QuantizeReport report;
  const std::string error = ErrorOf([&] {
    QuantizeWeights(model.Ask({DType::kS8, {0.1f, 0}}), &report);
  });
  EXPECT_NE(error.find("output channel 1 may reach"), std::string::npos) << error;
}

TEST(QdqWeightsTest, ScalesAlongAnotherAxisAreRefused) {
  const std::vector<int8_t> q = {1, 1, 2, 2};
  Model model(DType::kS8, q, {0.01f, 0.02f}, {0, 0}, {0, 0}, {0.001f});
  model.weights.axis = 1;
  QuantizeReport report;
  EXPECT_THROW(QuantizeWeights(model.Ask({DType::kS8, {0.1f, 0}}), &report), Error);
}

TEST(WeightsTest, RejectsWhatIsNotFinite) {
  const float weights[] = {1.0f, std::nanf("")}, fine[] = {1.0f, 2.0f}, bias[] = {INFINITY};
  QuantizeReport report;
  EXPECT_THROW(QuantizeWeights(Request(weights, {}, 1), &report), Error);
  EXPECT_THROW(QuantizeWeights(Request(fine, bias, 1), &report), Error);
  EXPECT_THROW(QuantizeWeights(Request(fine, fine, 1), &report), Error);  // two biases, one channel
}

}  // namespace
}  // namespace rshift
