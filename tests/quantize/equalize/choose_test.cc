#include "quantize/equalize/choose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "quantize/equalize/apply.h"
#include "tests/quantize/equalize/hidden_scales.h"

namespace rshift::test {
namespace {

constexpr auto kThrough = EqualizeThrough::kFunctions;

// The net with channel c of `a` and of `b` computed 2^hidden[c] too large: the same function.
Graph Hidden(const Graph& graph, const std::vector<int32_t>& hidden) {
  std::vector<int32_t> exponents;
  exponents.reserve(hidden.size());
  for (const int32_t octaves : hidden) exponents.push_back(-octaves);
  return Equalize(graph, {{"a", exponents}, {"b", exponents}}, "test");
}

TEST(ChooseEqualization, LeavesANetAloneWhoseChannelsAreAlike) {
  LittleGraph net = SeparableNet();
  net.Calibrate();
  const EqualizationChoice choice =
      ChooseEqualization(net.graph(), kThrough, Measure(net.graph(), net.samples()));
  EXPECT_TRUE(choice.equalization.empty());
  EXPECT_TRUE(choice.gains.empty());
}

TEST(ChooseEqualization, FindsHiddenScalesUpToOneOctave) {
  LittleGraph net = SeparableNet();
  net.Calibrate();
  const std::vector<int32_t> hidden = {5, -3, 0, -5};
  const Graph driven = Hidden(net.graph(), hidden);
  const EqualizationChoice choice =
      ChooseEqualization(driven, kThrough, Measure(driven, net.samples()));
  ASSERT_EQ(choice.equalization.size(), 2);
  ASSERT_EQ(choice.gains.size(), 2);
  for (const EqualizedTensors& gain : choice.gains)
    EXPECT_GE(gain.after_db, gain.before_db + kEqualizeGainDb);
  const Graph again = Equalize(driven, choice.equalization, "test");
  const MeasuredChannels measured = Measure(again, net.samples());
  // All of a tensor's channels that a depthwise convolution reads end within an octave.
  const std::vector<float>& peak = measured.at(choice.equalization[0].tensor + "__equalized").peak;
  const auto [low, high] = std::minmax_element(peak.begin(), peak.end());
  EXPECT_LE(*high / *low, 2.0f);
}

// What calibration measures beside the scaled tensors is what the model has, to the last bit.
TEST(WithUnequalized, TheModelsTensorsAreMeasuredBesideTheScaledOnes) {
  LittleGraph net = SeparableNet();
  net.Calibrate();
  const Graph driven = Hidden(net.graph(), {5, -3, 0, -5});
  const MeasuredChannels measured = Measure(driven, net.samples());
  const EqualizationChoice choice = ChooseEqualization(driven, kThrough, measured);
  ASSERT_EQ(choice.equalization.size(), 2);
  const Graph both =
      WithUnequalized(Equalize(driven, choice.equalization, "test"), choice.equalization);
  const MeasuredChannels beside = Measure(both, net.samples());
  for (const ChannelExponents& entry : choice.equalization) {
    const ChannelRanges& own = beside.at(entry.tensor + "__unequalized");
    EXPECT_EQ(own.peak, measured.at(entry.tensor).peak);
    EXPECT_NE(own.peak, beside.at(entry.tensor + "__equalized").peak);
  }
  EXPECT_EQ(WithUnequalized(driven, {}).value_count(), driven.value_count());
}

// The upper bound of a Relu6 is one number for all channels: none of them meets it through its
// factor, on these samples or on others that reach nearly twice as far.
TEST(ChooseEqualization, NoChannelMeetsAnUpperBoundThatItHadNotMet) {
  for (const float bound : {1.0f, 1.3f, 1.7f, 2.5f}) {
    SCOPED_TRACE(::testing::Message() << "bound " << bound);
    LittleGraph net = SeparableNet();
    net.Calibrate();
    Graph driven = Hidden(net.graph(), {0, -5, -3, -6});
    const MeasuredChannels measured = Measure(driven, net.samples());
    const std::vector<float>& peak = measured.at("a__equalized").peak;
    std::get<Conv>(driven.nodes()[0].op).clamp.hi =
        bound * *std::max_element(peak.begin(), peak.end());
    const EqualizationChoice choice =
        ChooseEqualization(driven, kThrough, Measure(driven, net.samples()));
    ASSERT_FALSE(choice.equalization.empty());
    const Graph again = Equalize(driven, choice.equalization, "test");
    for (Tensors sample : net.samples()) {
      for (const double reach : {1.0, 1.9}) {
        for (auto& [name, tensor] : sample) {
          for (double& number : tensor.data) number *= reach;
        }
        // Beyond its own bound the least scaled channel is cut off in both.
        EXPECT_EQ(Execute(driven, sample).at("y").data, Execute(again, sample).at("y").data);
      }
    }
  }
}

// A channel that is 0 in every sample, whose weights to the next product are the largest: without
// factors the weights that matter have few levels.
TEST(ChooseEqualization, ADeadChannelsWeightsComeDownToTheOthers) {
  for (const float weight : {1.0f, 100.0f}) {
    SCOPED_TRACE(::testing::Message() << "weight " << weight);
    LittleGraph net(5);
    const ValueId x = net.Input("x", {1, 4, 4, 3});
    Conv first;
    first.clamp = kRelu;
    const ValueId a = net.Add("a", first,
                              {x, net.RandomConstant("wa", {4, 3, 1, 1}, -1, 1),
                               net.Constant("ba", {4}, {-20, 0.5f, 0.5f, 0.5f})},
                              {1, 4, 4, 4});
    net.Output(net.Add(
        "y", Conv{},
        {a, net.Constant("wy", {2, 4, 1, 1}, {weight, 0.3f, -1, 0.6f, -weight, 0.7f, 0.2f, -1})},
        {1, 4, 4, 2}));
    net.Calibrate();
    const EqualizationChoice choice =
        ChooseEqualization(net.graph(), kThrough, Measure(net.graph(), net.samples()));
    if (weight == 1) {
      EXPECT_TRUE(choice.equalization.empty());
      continue;
    }
    ASSERT_EQ(choice.equalization.size(), 1u);
    const std::vector<int32_t>& exponents = choice.equalization[0].exponents;
    EXPECT_EQ(exponents[0], *std::min_element(exponents.begin() + 1, exponents.end()) - 7);
    const Graph again = Equalize(net.graph(), choice.equalization, "test");
    for (const Tensors& sample : net.samples())
      EXPECT_EQ(Execute(net.graph(), sample).at("y").data, Execute(again, sample).at("y").data);
  }
}

// Columns of a table in units of their own: a product before the first layer takes them up.
TEST(ChooseEqualization, ColumnsOfAnInputAreScaledBeforeTheFirstProduct) {
  for (const bool unlike : {false, true}) {
    LittleGraph net(9);
    const std::vector<int32_t> units = {0, 7, -5, unlike ? 9 : 0};
    std::vector<float> weights;
    std::mt19937 random(2);
    std::uniform_real_distribution<float> weight(-1, 1);
    for (int k = 0; k < 4; ++k) {
      for (int o = 0; o < 3; ++o)
        weights.push_back(std::ldexp(weight(random), unlike ? -units[static_cast<size_t>(k)] : 0));
    }
    const ValueId x = net.Input("x", {8, 4});
    net.Output(net.Add("y", MatMul{}, {x, net.Constant("w", {4, 3}, weights)}, {8, 3}));
    net.Calibrate();
    std::vector<Tensors> samples = net.samples();
    for (Tensors& sample : samples) {
      std::vector<double>& data = sample.at("x").data;
      for (size_t i = 0; i < data.size() && unlike; ++i)
        data[i] = std::ldexp(data[i], units[i % 4]);
    }
    const EqualizationChoice choice =
        ChooseEqualization(net.graph(), kThrough, Measure(net.graph(), samples));
    EXPECT_EQ(choice.equalization.empty(), !unlike);
    if (!unlike) continue;
    EXPECT_EQ(choice.equalization[0].tensor, "x");
    EXPECT_EQ(choice.equalization[0].exponents, (std::vector<int32_t>{-9, -2, -13, 0}));
    const Graph scaled = Equalize(net.graph(), choice.equalization, "test");
    EXPECT_EQ(scaled.value(scaled.inputs[0]).name, "x");
    for (const Tensors& sample : samples)
      EXPECT_EQ(Execute(net.graph(), sample).at("y").data, Execute(scaled, sample).at("y").data);
  }
}

// Dead and nearly dead channels with enormous weights: what is chosen can be applied.
TEST(ChooseEqualization, NeverChoosesWhatOverflows) {
  int scaled = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> hidden(-8, 8), dead(100, 127), weight(-1, 1);
    LittleGraph net(seed);
    const ValueId x = net.Input("x", {1, 1, 1, 2}), z = net.Input("z", {1, 1, 1, 1}, 0, 0);
    const ValueId both = net.Add("both", Concat{3}, {x, z}, {1, 1, 1, 3});
    std::vector<float> first, last;
    for (int c = 0; c < 6; ++c) {
      const float scale = std::exp2(hidden(random));
      first.insert(first.end(), {weight(random) * scale, weight(random) * scale,
                                 std::exp2(dead(random))});  // of z, which is 0
      last.push_back(weight(random) / scale);
    }
    const ValueId a =
        net.Add("a", Conv{}, {both, net.Constant("wa", {6, 3, 1, 1}, first)}, {1, 1, 1, 6});
    net.Output(net.Add("y", Conv{}, {a, net.Constant("wy", {1, 6, 1, 1}, last)}, {1, 1, 1, 1}));
    net.Calibrate();
    const EqualizationChoice choice =
        ChooseEqualization(net.graph(), kThrough, Measure(net.graph(), net.samples()));
    scaled += choice.equalization.empty() ? 0 : 1;
    EXPECT_NO_THROW(Equalize(net.graph(), choice.equalization, "test"));
  }
  EXPECT_GT(scaled, 10);
}

TEST(ChooseEqualization, OfAResidualStreamAllTensorsAreScaledAlike) {
  LittleGraph net(11);
  const ValueId x = net.Input("x", {1, 4});
  const auto product = [&](const char* name, ValueId from, int64_t rows, int64_t columns) {
    return net.Add(name, MatMul{},
                   {from, net.RandomConstant(std::string("w") + name, {rows, columns}, -1, 1)},
                   {1, columns});
  };
  const ValueId a = product("a", x, 4, 3);
  const ValueId b = product("b", a, 3, 3);
  const ValueId sum = net.Add("sum", Binary{BinaryOp::kAdd, {}}, {a, b}, {1, 3});
  net.Output(product("y", sum, 3, 2));
  net.Calibrate();
  const std::vector<int32_t> apart = {-9, 0, 7};
  const Graph driven = Equalize(net.graph(), {{"a", apart}, {"b", apart}, {"sum", apart}}, "test");
  const EqualizationChoice choice =
      ChooseEqualization(driven, kThrough, Measure(driven, net.samples()));
  ASSERT_EQ(choice.equalization.size(), 3);
  EXPECT_EQ(choice.equalization[0].exponents, choice.equalization[1].exponents);
  EXPECT_EQ(choice.equalization[0].exponents, choice.equalization[2].exponents);
  ASSERT_EQ(choice.gains.size(), 1);
  EXPECT_EQ(choice.gains[0].tensors,
            (std::vector<std::string>{"a__equalized", "b__equalized", "sum__equalized"}));
}

// x [1, 4] -> MatMul to 6 -> SiLU -> MatMul to 2.
LittleGraph GatedNet() {
  LittleGraph net(13);
  const ValueId x = net.Input("x", {1, 4});
  const ValueId a = net.Add("a", MatMul{}, {x, net.RandomConstant("wa", {4, 6}, -1, 1)}, {1, 6});
  const ValueId b = net.Add("b", Unary(UnaryOp::kSilu), {a}, {1, 6});
  net.Output(net.Add("y", MatMul{}, {b, net.RandomConstant("wy", {6, 2}, -1, 1)}, {1, 2}));
  return net;
}

TEST(ChooseEqualization, GoesThroughFunctionsWhereItMay) {
  LittleGraph net = GatedNet();
  net.Calibrate();
  const Graph driven =
      Equalize(net.graph(), {{"a", {-6, 0, 5, -2, 3, 0}}, {"b", {-7, 0, -4, 3, 0, 1}}}, "test");
  const MeasuredChannels measured = Measure(driven, net.samples());
  const EqualizationChoice choice = ChooseEqualization(driven, kThrough, measured);
  ASSERT_EQ(choice.equalization.size(), 2);
  EXPECT_EQ(choice.equalization[0].tensor, "a__equalized");
  EXPECT_EQ(choice.equalization[1].tensor, "b__equalized");
  const Graph again = Equalize(driven, choice.equalization, "test");
  const MeasuredChannels after = Measure(again, net.samples());
  const std::vector<float>& peak = after.at("a__equalized__equalized").peak;
  const auto [low, high] = std::minmax_element(peak.begin(), peak.end());
  EXPECT_LE(*high / *low, 2.0f);
  EXPECT_TRUE(ChooseEqualization(driven, EqualizeThrough::kWeights, measured).equalization.empty());
}

TEST(ChooseEqualization, FunctionsOfChannelsThatAreAlikeKeepOneTable) {
  LittleGraph net = GatedNet();
  net.Calibrate();
  const EqualizationChoice choice =
      ChooseEqualization(net.graph(), kThrough, Measure(net.graph(), net.samples()));
  EXPECT_TRUE(choice.equalization.empty());
}

}  // namespace
}  // namespace rshift::test
