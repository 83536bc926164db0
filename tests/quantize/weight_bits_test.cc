#include "quantize/weight_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "tests/base/error_of.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// x -> c1 (1x1) -> c2 (1x1) -> c3 (3x3) -> d (1x1, 2 groups) -> c4 (1x1) -> f -> m -> y: the first
// and the last have one tap, too. h reads c2 and is an output, so that nothing lies behind it.
LittleGraph Network() {
  LittleGraph little(2);
  Window three{.kernel_h = 3, .kernel_w = 3};
  const auto conv = [&](const char* name, ValueId x, int64_t from, int64_t groups, int64_t size,
                        Shape shape) {
    const ValueId w =
        little.RandomConstant(std::string(name) + "_w", {4, from / groups, size, size}, -1, 1);
    Conv op;
    op.groups = groups;
    if (size == 3) op.window = three;
    return little.Add(name, op, {x, w}, std::move(shape));
  };
  const ValueId x = little.Input("x", {1, 5, 5, 3});
  const ValueId c1 = conv("c1", x, 3, 1, 1, {1, 5, 5, 4});
  const ValueId c2 = conv("c2", c1, 4, 1, 1, {1, 5, 5, 4});
  const ValueId c3 = conv("c3", c2, 4, 1, 3, {1, 3, 3, 4});
  const ValueId d = conv("d", c3, 4, 2, 1, {1, 3, 3, 4});
  const ValueId c4 = conv("c4", d, 4, 1, 1, {1, 3, 3, 4});
  little.Output(conv("h", c2, 4, 1, 1, {1, 5, 5, 4}));
  const ValueId f = little.Add("f", Reshape{}, {c4}, {1, 36});
  const ValueId m =
      little.Add("m", MatMul{}, {f, little.RandomConstant("m_w", {36, 6}, -1, 1)}, {1, 6});
  little.Output(
      little.Add("y", MatMul{}, {m, little.RandomConstant("y_w", {6, 5}, -1, 1)}, {1, 5}));
  return little;
}

// Names of the nodes whose weights have 4 bits.
std::string Of4Bits(const Graph& integer) {
  std::string names;
  for (const Node& node : integer.nodes()) {
    if (node.inputs.size() < 2) continue;
    const Value& w = integer.value(node.inputs[1]);
    if (w.origin == nullptr || w.origin->bits != 4) continue;
    const auto q = w.constant->As<int8_t>();
    const auto [low, high] = std::minmax_element(q.begin(), q.end());
    EXPECT_TRUE(*low >= -7 && *high <= 7 && std::max<int>(-*low, *high) == 7) << node.name;
    names += node.name.substr(0, node.name.find('_')) + " ";
  }
  return names;
}

Graph Quantized(LittleGraph& little, const QuantizeConfig& config) {
  QuantizeOptions options;
  options.config = config;
  return QuantizeGraph(little.graph(), little.Calibrate(), options).graph;
}

QuantizeConfig Read(const std::string& yaml) { return ReadQuantizeConfig(yaml, "q.yaml"); }

TEST(WeightBitsTest, ProductsOfOneTapBetweenTheFirstAndTheLast) {
  LittleGraph little = Network();
  const QuantizeConfig config = WithWeightBits(little.graph(), {});
  const Graph integer = Quantized(little, config);
  EXPECT_EQ(Of4Bits(integer), "c2 c4 m ");
  const WeightBitsCount count = CountWeightsOf4Bits(integer);
  EXPECT_EQ(count.layers, 3);
  EXPECT_EQ(count.weights, 16 + 16 + 36 * 6);
  EXPECT_EQ(CountWeightsOf4Bits(Quantized(little, {})).layers, 0);
}

TEST(WeightBitsTest, TheConfigurationSaysMoreAndLess) {
  LittleGraph little = Network();
  const auto with = [&](const std::string& yaml) {
    return Of4Bits(Quantized(little, WithWeightBits(little.graph(), Read(yaml))));
  };
  EXPECT_EQ(with("layers: {c2: {weight_bits: 8}, y: {weight_bits: 4}}\n"), "c4 m y ");
  EXPECT_EQ(with("layers: {c2: {mode: f32}}\n"), "c4 m ");
  EXPECT_EQ(with("layers: {'c*': {weight_bits: 8}}\n"), "m ");
  EXPECT_EQ(Of4Bits(Quantized(little, Read("types: {Conv: {weight_bits: 4}}\n"))),
            "c1 c2 c3 d c4 h ");
  EXPECT_EQ(Of4Bits(Quantized(little, Read("layers: {'*': {weight_bits: 4}}\n"))),
            "c1 c2 c3 d c4 h m y ");
}

// The error of a layer is within what NUMERICS.md says, with steps of max|w| / 7.
TEST(WeightBitsTest, AMatrixProductIsWithinItsBound) {
  for (const QuantMode mode : kModes) {
    for (const bool per_channel : {true, false}) {
      LittleGraph little(3);
      const ValueId x = little.Input("x", {3, 16});
      const ValueId w = little.RandomConstant("w", {16, 5}, -1, 1);
      little.Output(little.Add("y", MatMul{}, {x, w}, {3, 5}));
      QuantizeOptions options = Mode(mode);
      options.target.per_channel_weights = per_channel;
      options.config = Read("types: {MatMul: {weight_bits: 4}}\n");
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
      EXPECT_EQ(Of4Bits(result.graph), "y ");
      const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
      const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
      const double worst = WorstError(little, result, "y");
      EXPECT_LE(worst, 0.51 + 16 * (sx + 1.0 / 14 + sx / 14) / sy);
      EXPECT_GT(worst, 1) << "as good as 8 bits";
    }
  }
}

std::string MessageOf(const LittleGraph& graph, const QuantizeConfig& config) {
  LittleGraph little = graph;
  return ErrorOf(ErrorCode::kInvalidInput, [&] {
    const Graph integer = Quantized(little, config);
    CheckWeightBits(little.graph(), integer, config);
  });
}

TEST(WeightBitsTest, WhatCannotHaveThemIsAnError) {
  const LittleGraph little = Network();
  const std::string only =
      "weight_bits is for Conv, ConvTranspose, Gemm and MatMul with constant weights; leave it out";
  EXPECT_EQ(MessageOf(little, Read("layers:\n  f: {weight_bits: 4}\n")), "q.yaml:2: 'f': " + only);
  EXPECT_EQ(MessageOf(little, Read("types:\n  Reshape: {weight_bits: 4}\n")),
            "q.yaml:2: 'Reshape': " + only);
  EXPECT_NE(MessageOf(little, Read("layers:\n  x: {weight_bits: 4}\n")).find("is an input"),
            std::string::npos);
  // What a wider entry has put into F32 has no integer weights.
  EXPECT_EQ(MessageOf(little, Read("layers:\n  c2: {weight_bits: 4}\n  'c*': {mode: f32}\n")),
            "q.yaml:2: 'c2' has no integer weights of its own (it is computed in F32, or as part "
            "of a recurrent cell): leave weight_bits out");
  EXPECT_EQ(MessageOf(little, Read("layers:\n  '*': {weight_bits: 4}\n  c2: {mode: f32}\n")),
            "no error");
}

TEST(WeightBitsTest, ProductsOfTwoActivationsHaveNoWeights) {
  LittleGraph little(5);
  const ValueId a = little.Input("a", {2, 3, 4}), b = little.Input("b", {2, 4, 3});
  little.Output(little.Add("y", MatMul{}, {a, b}, {2, 3, 3}));
  EXPECT_NE(MessageOf(little, Read("layers:\n  y: {weight_bits: 4}\n")).find("constant weights"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] {
              WithWeightBits(little.graph(), {});
            }).rfind("--weight-bits 4: the model has no 1x1", 0),
            0u);
}

TEST(WeightBitsTest, ScalesThatAreGivenHave8Bits) {
  LittleGraph little = Network();
  QuantizeOptions options;
  options.profile.id = ProfileId::kOneDnn;
  options.config =
      Read("layers:\n  c2: {weight_bits: 4, onednn: {output_scales: {mask: 0, values: [0.5]}}}\n");
  const std::string error =
      ErrorOf([&] { QuantizeGraph(little.graph(), little.Calibrate(), options); });
  EXPECT_EQ(error.rfind("q.yaml:2: 'c2_node': weight_bits 4 is for", 0), 0u) << error;
}

}  // namespace
}  // namespace rshift::test
