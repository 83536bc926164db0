#include "quantize/equalize/channel_groups.h"

#include <gtest/gtest.h>

#include <random>

#include "quantize/equalize/apply.h"
#include "tests/quantize/equalize/hidden_scales.h"

namespace rshift::test {
namespace {

class Groups {
 public:
  explicit Groups(const Graph& graph, EqualizeThrough through = EqualizeThrough::kFunctions)
      : graph_(graph), groups_(FindChannelGroups(graph, through)) {}
  bool Free(const std::string& name) const { return groups_.free[Of(name).at(0)]; }
  const std::vector<int32_t>& Of(const std::string& name) const {
    return groups_.of_value[graph_.FindValue(name).index()];
  }

 private:
  const Graph& graph_;
  ChannelGroups groups_;
};

LittleGraph Pointwise(const std::string& name, LittleGraph net, ValueId x, int64_t from, int64_t to,
                      ValueId* y) {
  *y = net.Add(name, Conv{}, {x, net.RandomConstant("w" + name, {to, from, 1, 1}, -1, 1)},
               {1, 2, 2, to});
  return net;
}

TEST(ChannelGroups, BetweenProductsTheyAreFreeInputsAndOutputsAreNot) {
  const LittleGraph net = SeparableNet();
  const Groups groups(net.graph());
  EXPECT_FALSE(groups.Free("x"));
  EXPECT_TRUE(groups.Free("a"));
  EXPECT_TRUE(groups.Free("b"));
  EXPECT_FALSE(groups.Free("y"));
  for (size_t c = 0; c < 4; ++c) EXPECT_NE(groups.Of("a")[c], groups.Of("b")[c]);
}

TEST(ChannelGroups, AddJoinsItsOperandsAndConcatLaysThemSideBySide) {
  LittleGraph net(3);
  const ValueId x = net.Input("x", {1, 2, 2, 2});
  ValueId a, b, d;
  net = Pointwise("a", std::move(net), x, 2, 3, &a);
  net = Pointwise("b", std::move(net), x, 2, 3, &b);
  const ValueId sum = net.Add("sum", Binary{BinaryOp::kAdd, kRelu}, {a, b}, {1, 2, 2, 3});
  const ValueId both = net.Add("both", Concat{3}, {sum, a}, {1, 2, 2, 6});
  const ValueId part = net.Add("part", Slice{{0, 0, 0, 4}, {1, 1, 1, 1}}, {both}, {1, 2, 2, 2});
  net = Pointwise("d", std::move(net), part, 2, 2, &d);
  net.Output(d);
  const Groups groups(net.graph());
  EXPECT_EQ(groups.Of("a"), groups.Of("b"));
  EXPECT_EQ(groups.Of("a"), groups.Of("sum"));
  for (size_t c = 0; c < 6; ++c) EXPECT_EQ(groups.Of("both")[c], groups.Of("a")[c % 3]);
  EXPECT_EQ(groups.Of("part")[0], groups.Of("a")[1]);
  EXPECT_EQ(groups.Of("part")[1], groups.Of("a")[2]);
  EXPECT_TRUE(groups.Free("part"));
}

// x -> MatMul p -> Softmax s [1, 5, 5], x -> MatMul v [1, 5, 3]; s v = m -> MatMul y.
LittleGraph Attention(const std::vector<float>& scales = {1, 1, 1}) {
  LittleGraph net(5);
  const ValueId x = net.Input("x", {1, 5, 4});
  const auto weights = [&](const std::string& name, int64_t rows, int64_t columns, bool down) {
    std::mt19937 random(static_cast<uint32_t>(rows * columns));
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> drawn;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const float scale = scales[static_cast<size_t>(down ? i / columns : i % columns)];
      drawn.push_back(uniform(random) * (down ? 1 / scale : scale));
    }
    return net.Constant(name, {rows, columns}, drawn);
  };
  const ValueId p = net.Add("p", MatMul{}, {x, net.RandomConstant("wp", {4, 5}, -1, 1)}, {1, 5, 5});
  const ValueId s = net.Add("s", Softmax{2}, {p}, {1, 5, 5});
  const ValueId v = net.Add("v", MatMul{}, {x, weights("wv", 4, 3, false)}, {1, 5, 3});
  const ValueId m = net.Add("m", MatMul{}, {s, v}, {1, 5, 3});
  net.Output(net.Add("y", MatMul{}, {m, weights("wy", 3, 2, true)}, {1, 5, 2}));
  return net;
}

TEST(ChannelGroups, OfAttentionTheValuesPassTheirScalesOn) {
  const LittleGraph net = Attention();
  const Groups groups(net.graph());
  EXPECT_EQ(groups.Of("v"), groups.Of("m"));
  EXPECT_TRUE(groups.Free("v"));
  EXPECT_FALSE(groups.Free("s"));
}

TEST(ChannelGroups, OfAttentionHiddenScalesAreFound) {
  LittleGraph net = Attention({1, 64, 1.0f / 16});
  net.Calibrate();
  const EqualizationChoice choice = ChooseEqualization(net.graph(), EqualizeThrough::kFunctions,
                                                       Measure(net.graph(), net.samples()));
  ASSERT_EQ(choice.equalization.size(), 2);  // v and m
  EXPECT_EQ(choice.equalization[0].exponents, choice.equalization[1].exponents);
  const Graph again = Equalize(net.graph(), choice.equalization, "test");
  for (const Tensors& sample : net.samples())
    EXPECT_EQ(Execute(net.graph(), sample).at("y").data, Execute(again, sample).at("y").data);
}

TEST(ChannelGroups, AFarReachingFunctionHasScalesOfItsOwnOnBothSides) {
  for (const UnaryOp function : {UnaryOp::kSilu, UnaryOp::kHardSwish, UnaryOp::kGelu}) {
    LittleGraph net(3);
    const ValueId x = net.Input("x", {1, 2, 2, 2});
    ValueId a, y;
    net = Pointwise("a", std::move(net), x, 2, 3, &a);
    const ValueId b = net.Add("b", Unary(function), {a}, {1, 2, 2, 3});
    net = Pointwise("y", std::move(net), b, 3, 2, &y);
    net.Output(y);
    const Groups groups(net.graph());
    EXPECT_TRUE(groups.Free("a"));
    EXPECT_TRUE(groups.Free("b"));
    for (size_t c = 0; c < 3; ++c) EXPECT_NE(groups.Of("a")[c], groups.Of("b")[c]);
    const Groups weights(net.graph(), EqualizeThrough::kWeights);
    EXPECT_FALSE(weights.Free("a"));
    EXPECT_FALSE(weights.Free("b"));
  }
}

TEST(ChannelGroups, AFunctionOfEveryElementHoldsItsTensor) {
  LittleGraph net(3);
  const ValueId x = net.Input("x", {1, 2, 2, 2});
  ValueId a, gate, y;
  net = Pointwise("a", std::move(net), x, 2, 3, &a);
  net = Pointwise("gate", std::move(net), x, 2, 3, &gate);
  const ValueId open = net.Add("open", Unary{UnaryOp::kSigmoid}, {gate}, {1, 2, 2, 3});
  const ValueId product = net.Add("product", Binary{BinaryOp::kMul, {}}, {a, open}, {1, 2, 2, 3});
  net = Pointwise("y", std::move(net), product, 3, 2, &y);
  net.Output(y);
  const Groups groups(net.graph());
  EXPECT_FALSE(groups.Free("gate"));
  EXPECT_FALSE(groups.Free("open"));
  EXPECT_TRUE(groups.Free("a")) << "the gate stays, what it multiplies passes its scale on";
  EXPECT_EQ(groups.Of("a"), groups.Of("product"));
}

TEST(ChannelGroups, ASumWithOneNumberPassesScalesOnWhereFunctionsTakeThem) {
  LittleGraph net(3);
  const ValueId x = net.Input("x", {1, 2, 2, 2});
  ValueId a, y;
  net = Pointwise("a", std::move(net), x, 2, 3, &a);
  const ValueId sum = net.Add("sum", Binary{BinaryOp::kSub, {}},
                              {net.Constant("one", {}, {1.0f}), a}, {1, 2, 2, 3});
  net = Pointwise("y", std::move(net), sum, 3, 2, &y);
  net.Output(y);
  const Groups groups(net.graph());
  EXPECT_TRUE(groups.Free("sum"));
  EXPECT_EQ(groups.Of("a"), groups.Of("sum"));
  EXPECT_FALSE(Groups(net.graph(), EqualizeThrough::kWeights).Free("a"));
}

TEST(ChannelGroups, AClipFromBelowZeroHoldsItsTensor) {
  const LittleGraph net = SeparableNet({-1.0f, 1.0f});
  const Groups groups(net.graph());
  EXPECT_FALSE(groups.Free("a"));
  EXPECT_TRUE(groups.Free("b"));
}

// A Conv to 3 channels, a Pad and a Conv.
LittleGraph Padded(std::vector<int64_t> before, std::vector<int64_t> after) {
  LittleGraph net(3);
  const ValueId x = net.Input("x", {1, 2, 2, 2});
  ValueId a, y;
  net = Pointwise("a", std::move(net), x, 2, 3, &a);
  const Shape shape = {1, 2 + before[1] + after[1], 2, 3 + before[3] + after[3]};
  const ValueId pad = net.Add("pad", Pad{PadMode::kConstant, before, after, 0.0f}, {a}, shape);
  const int64_t channels = shape[3];
  y = net.Add("y", Conv{}, {pad, net.RandomConstant("wy", {2, channels, 1, 1}, -1, 1)},
              {1, shape[1], 2, 2});
  net.Output(y);
  return net;
}

TEST(ChannelGroups, APadOfPositionsKeepsChannelsAPadOfChannelsHoldsThem) {
  const LittleGraph positions = Padded({0, 1, 0, 0}, {0, 1, 0, 0});
  EXPECT_TRUE(Groups(positions.graph()).Free("a"));
  EXPECT_EQ(Groups(positions.graph()).Of("a"), Groups(positions.graph()).Of("pad"));
  for (const auto& [before, after] : {std::pair{1, -1}, {-1, 1}, {0, 3}, {3, 0}}) {
    const LittleGraph shifted = Padded({0, 0, 0, before}, {0, 0, 0, after});
    const Groups groups(shifted.graph());
    EXPECT_FALSE(groups.Free("a")) << before << " " << after;
    EXPECT_FALSE(groups.Free("pad")) << before << " " << after;
  }
}

TEST(ChannelGroups, FlatteningRepeatsTheChannels) {
  LittleGraph net(3);
  const ValueId x = net.Input("x", {1, 2, 2, 2});
  ValueId a;
  net = Pointwise("a", std::move(net), x, 2, 3, &a);
  const ValueId flat = net.Add("flat", Reshape{}, {a}, {1, 12});
  net.Output(net.Add("y", MatMul{}, {flat, net.RandomConstant("w", {12, 2}, -1, 1)}, {1, 2}));
  const Groups groups(net.graph());
  for (size_t c = 0; c < 12; ++c) EXPECT_EQ(groups.Of("flat")[c], groups.Of("a")[c % 3]);
  EXPECT_TRUE(groups.Free("flat"));
}

}  // namespace
}  // namespace rshift::test
