#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

// Normalizes the elements of one group, given as positions in x.
struct Normal {
  double mean = 0, factor = 0;
};

Normal Moments(const std::vector<float>& x, const std::vector<int64_t>& group, double epsilon,
               bool rms = false) {
  double sum = 0, squares = 0;
  for (const int64_t at : group) sum += rms ? 0 : x[at];
  const double mean = sum / group.size();
  for (const int64_t at : group) squares += (x[at] - mean) * (x[at] - mean);
  return {mean, 1 / std::sqrt(squares / group.size() + epsilon)};
}

TEST(LayerNormTest, NormalizesFromTheAxisOn) {
  const Shape shape{2, 3, 5, 17};
  for (int64_t axis = 1; axis < 4; ++axis) {
    for (const bool with_bias : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "axis and seed " << axis << " bias " << with_bias);
      std::mt19937 random(static_cast<uint32_t>(axis));
      const Shape inner(shape.begin() + axis, shape.end());
      const int64_t size = NumElements(inner);
      const TestTensor x = RandomFloats(shape, random, 3, 9), scale = RandomFloats(inner, random),
                       bias = RandomFloats(inner, random);
      CommandCase test(Opcode::kLayerNormF32, {{Field::kSrc, x}, {Field::kSrc2, Constant(scale)}},
                       DType::kF32, shape);
      if (with_bias) test.inputs.push_back({Field::kSrc3, Constant(bias)});
      const bool rms = axis % 2 == 0;
      test.Set(Field::kAxis, axis).Set(Field::kFlags, rms).SetFloat(Field::kEpsilonF, 1e-5f);
      const auto values = x.As<float>(), scales = scale.As<float>(), biases = bias.As<float>();
      std::vector<double> want(values.size());
      for (int64_t row = 0; row < static_cast<int64_t>(values.size()) / size; ++row) {
        std::vector<int64_t> group;
        for (int64_t i = 0; i < size; ++i) group.push_back(row * size + i);
        const Normal normal = Moments(values, group, 1e-5f, rms);
        for (int64_t i = 0; i < size; ++i) {
          want[group[i]] = (values[group[i]] - normal.mean) * normal.factor * scales[i] +
                           (with_bias ? biases[i] : 0);
        }
      }
      ExpectClose(RunOnAnyIsa(test).As<float>(), want, 1e-7);
    }
  }
}

// Every length around the groups of eight: the result is rounded once, from double.
TEST(LayerNormTest, EveryLength) {
  for (int64_t n = 1; n <= 45; ++n) {
    SCOPED_TRACE(::testing::Message() << "length and seed " << n);
    std::mt19937 random(static_cast<uint32_t>(n));
    const TestTensor x = RandomFloats({5, n}, random, -3, 20), scale = RandomFloats({n}, random),
                     bias = RandomFloats({n}, random);
    CommandCase test(
        Opcode::kLayerNormF32,
        {{Field::kSrc, x}, {Field::kSrc2, Constant(scale)}, {Field::kSrc3, Constant(bias)}},
        DType::kF32, {5, n});
    test.Set(Field::kAxis, 1).SetFloat(Field::kEpsilonF, 1e-5f);
    const auto values = x.As<float>(), scales = scale.As<float>(), biases = bias.As<float>();
    std::vector<double> want;
    for (int64_t row = 0; row < 5; ++row) {
      std::vector<int64_t> group;
      for (int64_t i = 0; i < n; ++i) group.push_back(row * n + i);
      const Normal normal = Moments(values, group, 1e-5f);
      for (int64_t i = 0; i < n; ++i) {
        want.push_back((values[group[i]] - normal.mean) * normal.factor * scales[i] + biases[i]);
      }
    }
    ExpectClose(RunOnAnyIsa(test).As<float>(), want, 1e-7);
  }
}

// A NaN or an infinity takes its group with it, and no other.
TEST(LayerNormTest, NanAndInfinities) {
  for (const float special : {NAN, -NAN, std::numeric_limits<float>::infinity()}) {
    for (const int64_t n : {3, 8, 21}) {
      std::vector<float> values(2 * n), ones(n, 1.0f);
      for (int64_t i = 0; i < 2 * n; ++i) values[i] = i % n == 0 ? 1.0f : -1.0f;
      values[2 * n - 2] = special;
      CommandCase test(
          Opcode::kLayerNormF32,
          {{Field::kSrc, Make<float>({2, n}, values)}, {Field::kSrc2, Make<float>({n}, ones)}},
          DType::kF32, {2, n});
      test.Set(Field::kAxis, 1).SetFloat(Field::kEpsilonF, 1e-5f);
      const std::vector<float> got = RunOnAnyIsa(test).As<float>();
      for (int64_t i = 0; i < 2 * n; ++i) ASSERT_EQ(std::isnan(got[i]), i >= n) << i << " of " << n;
    }
  }
}

TEST(LayerNormTest, EmptyTensors) {
  const Shape shape = {int64_t{1} << 36, 0};  // its rows are not counted
  CommandCase test(Opcode::kLayerNormF32,
                   {{Field::kSrc, Make<float>(shape, {})}, {Field::kSrc2, Make<float>({0}, {})}},
                   DType::kF32, shape);
  test.Set(Field::kAxis, 1).SetFloat(Field::kEpsilonF, 1e-5f);
  EXPECT_TRUE(RunOnAnyIsa(test).As<float>().empty());
}

TEST(LayerNormTest, RejectsAScaleOfTheWrongSize) {
  std::mt19937 random(1);
  CommandCase test(
      Opcode::kLayerNormF32,
      {{Field::kSrc, RandomFloats({2, 3}, random)}, {Field::kSrc2, RandomFloats({2}, random)}},
      DType::kF32, {2, 3});
  test.Set(Field::kAxis, 1);
  EXPECT_NE(ErrorOf(test), kNoError);
}

// x in either memory order; `channel` and `image` of an index tell its group.
void CheckInstanceNorm(const TestTensor& x, size_t channel_dim, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t channels = x.shape[channel_dim];
  const TestTensor scale = RandomFloats({channels}, random),
                   bias = RandomFloats({channels}, random);
  CommandCase test(
      Opcode::kInstanceNormF32,
      {{Field::kSrc, x}, {Field::kSrc2, Constant(scale)}, {Field::kSrc3, Constant(bias)}},
      DType::kF32, x.shape, x.layout);
  test.SetFloat(Field::kEpsilonF, 1e-3f);
  const auto values = x.As<float>(), scales = scale.As<float>(), biases = bias.As<float>();
  std::vector<std::vector<int64_t>> groups(x.shape[0] * channels);
  int64_t position = 0;
  ForEachIndex(x.shape, [&](const Shape& index) {
    groups[index[0] * channels + index[channel_dim]].push_back(position++);
  });
  std::vector<double> want(values.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Normal normal = Moments(values, groups[g], 1e-3f);
    const int64_t c = static_cast<int64_t>(g) % channels;
    for (const int64_t at : groups[g]) {
      want[at] = (values[at] - normal.mean) * normal.factor * scales[c] + biases[c];
    }
  }
  ExpectClose(RunOnAnyIsa(test).As<float>(), want, 1e-7);
}

TEST(InstanceNormTest, ChannelsLast) {
  for (const int64_t channels : {1, 5, 8, 16, 19, 37, 64, 300}) {
    SCOPED_TRACE(::testing::Message() << "channels and seed " << channels);
    std::mt19937 random(static_cast<uint32_t>(channels));
    CheckInstanceNorm(Nhwc(RandomFloats({2, 7, 3, channels}, random, 1, 5)), 3,
                      static_cast<uint32_t>(channels));
  }
}

TEST(InstanceNormTest, ChannelsFirstOfAnyRank) {
  std::mt19937 random(5);
  for (const Shape& shape :
       {Shape{2, 5, 7}, Shape{2, 5, 7, 3}, Shape{1, 3, 8}, Shape{3, 2, 40}, Shape{2, 3, 2, 5, 4}}) {
    SCOPED_TRACE(ToString(shape));
    CheckInstanceNorm(RandomFloats(shape, random, 1, 5), 1, 6);
  }
}

TEST(InstanceNormTest, NanTakesItsChannelOnly) {
  for (const int64_t channels : {3, 24}) {
    std::vector<float> values(6 * channels);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 17);
    values[3 * channels + 1] = -NAN;
    const TestTensor ones = Make<float>({channels}, std::vector<float>(channels, 1.0f));
    CommandCase test(Opcode::kInstanceNormF32,
                     {{Field::kSrc, Nhwc(Make<float>({1, 2, 3, channels}, values))},
                      {Field::kSrc2, Constant(ones)},
                      {Field::kSrc3, Constant(ones)}},
                     DType::kF32, {1, 2, 3, channels}, Layout::kNhwc);
    test.SetFloat(Field::kEpsilonF, 1e-5f);
    const std::vector<float> got = RunOnAnyIsa(test).As<float>();
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(std::isnan(got[i]), i % channels == 1) << i;
  }
}

}  // namespace
}  // namespace rshift
