// Products with 16-bit results read the bytes that are widened for them alone.
#include "codegen/passes/read_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace rshift {
namespace {

constexpr int32_t kZero = 7;

// u8 x [1, 3, 3, 4] -> x16 -> a convolution of 4 channels, 1 x 1 -> s16 y.
struct Case {
  Graph graph;
  ValueId x, x16, y;
  QConvS16 conv;
  std::vector<int8_t> weights = std::vector<int8_t>(16, 3);
  int64_t group_channels = 4;
  isa::RequantizeS16 widening;

  Case() {
    conv.clamp = widening.clamp = {-32768, 32767};
    conv.channels.assign(4, {100, 1 << 30, 40});
  }
  void Build() {
    const auto value = [&](const char* name, DType type, int32_t zero) {
      return graph.AddValue(
          {name, type, {1, 3, 3, 4}, Layout::kNhwc, QuantParams{0.5f, zero}, nullptr});
    };
    x = value("x", DType::kU8, kZero);
    x16 = value("x16", DType::kS16, 0);
    y = value("y", DType::kS16, 0);
    Value w{"w", DType::kS8, {4, group_channels, 1, 1}, Layout::kPlain, {}, nullptr};
    w.constant = MakeConstant(std::span<const int8_t>(weights));
    const ValueId weight = graph.AddValue(std::move(w));
    graph.inputs = {x};
    graph.AddNode({"widen", widening, {x}, {x16}});
    graph.AddNode({"conv", conv, {x16, weight}, {y}});
    graph.outputs = {y};
    graph.output_names = {"y"};
  }
  // The nodes after the pass, by name.
  std::string Nodes() {
    Build();
    result = ReadBytes(graph);
    std::string names;
    for (const Node& node : result.nodes()) names += node.name + " ";
    return names;
  }
  const Node& Conv() const {
    return *std::find_if(result.nodes().begin(), result.nodes().end(),
                         [](const Node& node) { return node.name == "conv"; });
  }
  bool ReadsBytes() const { return result.value(Conv().inputs[0]).dtype == DType::kU8; }
  Graph result;
};

TEST(ReadBytes, TheZeroPointMovesIntoTheBias) {
  Case c;
  EXPECT_EQ(c.Nodes(), "conv ");
  EXPECT_TRUE(c.ReadsBytes());
  EXPECT_EQ(std::get<QConvS16>(c.Conv().op).channels[2].bias, 100 - kZero * 4 * 3);
}

TEST(ReadBytes, WhatOthersReadStays) {
  Case c;
  c.Build();
  c.graph.outputs.push_back(c.x16);
  c.graph.output_names.push_back("x16");
  c.result = ReadBytes(c.graph);
  EXPECT_EQ(c.result.nodes().size(), 2u);
  EXPECT_TRUE(c.ReadsBytes());
}

TEST(ReadBytes, AccumulatorsThatMayLeave32BitsStay) {
  Case c;
  c.conv.channels[3].bias = INT32_MAX - 100;
  EXPECT_EQ(c.Nodes(), "widen conv ");
  EXPECT_FALSE(c.ReadsBytes());
}

TEST(ReadBytes, OtherScalesRoundingsAndDepthwiseStay) {
  Case scaled;
  scaled.widening.words = {1 << 30, 23};
  EXPECT_EQ(scaled.Nodes(), "widen conv ");
  Case clamped;
  clamped.widening.clamp = {0, 100};
  EXPECT_EQ(clamped.Nodes(), "widen conv ");
  Case rounded;
  rounded.conv.rounding = Rounding::kTwoStep;
  EXPECT_EQ(rounded.Nodes(), "widen conv ");
  Case depthwise;
  depthwise.conv.groups = 4;
  depthwise.group_channels = 1;
  depthwise.weights.resize(4);
  EXPECT_EQ(depthwise.Nodes(), "widen conv ");
}

}  // namespace
}  // namespace rshift
