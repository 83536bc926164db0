// Which activations have 16 bits, what reads them, and the tables of functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "base/error.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/set_weights.h"
#include "tests/base/error_of.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

DType TypeOf(const Graph& graph, const std::string& name) {
  return graph.value(graph.FindValue(name)).dtype;
}

QuantizeOptions All16(QuantMode mode = QuantMode::kSymmetric) {
  QuantizeOptions options = Mode(mode);
  options.activation_bits = 16;
  return options;
}

QuantizeOptions Residual16() {
  QuantizeOptions options;
  options.residual_bits = 16;
  return options;
}

// x -> a = x w1 -> b = relu(a) -> c = b w2 -> s = x2 + c, where x2 = x w0; y = s w3.
struct Block {
  LittleGraph little;
  CalibrationTable table;
  Block() {
    const Shape rows = {4, 8};
    const ValueId x = little.Input("x", rows);
    const auto product = [&](const std::string& name, ValueId from) {
      const ValueId w = little.RandomConstant("w_" + name, {8, 8}, -1, 1);
      return little.Add(name, MatMul{}, {from, w}, rows);
    };
    const ValueId x2 = product("x2", x), a = product("a", x2);
    const ValueId b = little.Add("b", Unary{UnaryOp::kTanh}, {a}, rows);
    const ValueId c = product("c", b);
    const ValueId s = little.Add("s", Binary{BinaryOp::kAdd, {}}, {x2, c}, rows);
    little.Output(product("y", s));
    table = little.Calibrate();
  }
};

TEST(Int16Test, EveryResultHasSixteenBits) {
  for (const QuantMode mode : kModes) {
    Block block;
    const QuantizeResult result = QuantizeGraph(block.little.graph(), block.table, All16(mode));
    for (const char* name : {"x2", "a", "b", "c", "s", "y"})
      EXPECT_EQ(TypeOf(result.graph, name), DType::kS16) << name;
    EXPECT_EQ(Count<QMatMulS16>(result.graph), 4);
    EXPECT_EQ(Count<QMatMul>(result.graph), 0);
    EXPECT_EQ(Count<isa::AddS16>(result.graph), 1);
    EXPECT_EQ(Count<QTableS16>(result.graph), 1);
    EXPECT_EQ(Count<isa::RequantizeS16>(result.graph), 0);
    EXPECT_EQ(result.graph.value(result.graph.FindValue("s")).quant->zero_point, 0);
  }
}

TEST(Int16Test, ScaleIsTheThresholdBy32768) {
  Block block;
  const QuantizeResult result = QuantizeGraph(block.little.graph(), block.table, All16());
  const TensorRange* range = block.table.Find("y");
  ASSERT_NE(range, nullptr);
  EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).quant->scale,
            numerics::Int16Scale(range->threshold));
}

// The sum and what it adds; products behind it read bytes.
TEST(Int16Test, ResidualStreamAlone) {
  Block block;
  const QuantizeResult result = QuantizeGraph(block.little.graph(), block.table, Residual16());
  for (const char* name : {"x2", "c", "s"})
    EXPECT_EQ(TypeOf(result.graph, name), DType::kS16) << name;
  for (const char* name : {"a__code", "b", "y"})
    EXPECT_NE(TypeOf(result.graph, name), DType::kS16) << name;
  EXPECT_EQ(Count<QMatMulS16>(result.graph), 2);  // x2, c
  EXPECT_EQ(Count<QMatMul>(result.graph), 2);     // a, y
  // x and b to 16 bits, x2 and s to 8.
  EXPECT_EQ(Count<isa::RequantizeS16>(result.graph), 4);
}

TEST(Int16Test, WithoutASumOfActivationsNothingChanges) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 8});
  const ValueId w = little.RandomConstant("w", {8, 8}, -1, 1);
  const ValueId a = little.Add("a", MatMul{}, {x, w}, {4, 8});
  const ValueId bias = little.RandomConstant("bias", {8}, -1, 1);
  little.Output(little.Add("y", Binary{BinaryOp::kAdd, {}}, {a, bias}, {4, 8}));
  const CalibrationTable table = little.Calibrate();
  const QuantizeResult with = QuantizeGraph(little.graph(), table, Residual16());
  const QuantizeResult without = QuantizeGraph(little.graph(), table, {});
  EXPECT_EQ(with.graph.nodes().size(), without.graph.nodes().size());
  EXPECT_EQ(Count<isa::AddS16>(with.graph), 0);
}

// A softmax of rows of more than 8,192 elements.
TEST(Int16Test, WhatHasNoSixteenBitFormReadsEight) {
  LittleGraph little;
  const Shape shape = {1, 8200};
  const ValueId x = little.Input("x", shape);
  const ValueId scores = little.Add("scores", Unary{UnaryOp::kTanh}, {x}, shape);
  const ValueId p = little.Add("p", Softmax{.axis = 1}, {scores}, shape);
  little.Output(little.Add("y", Unary{UnaryOp::kTanh}, {p}, shape));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16());
  EXPECT_EQ(TypeOf(result.graph, "scores"), DType::kS16);
  EXPECT_NE(TypeOf(result.graph, "p"), DType::kS16);
  EXPECT_EQ(TypeOf(result.graph, "y"), DType::kS16);
  EXPECT_EQ(TypeOf(result.graph, "scores__8"), DType::kS8);
}

// A quotient is rounded once; one by a constant is a product, however far its numbers lie apart.
TEST(Int16Test, QuotientsAreWithinOneUnit) {
  for (const QuantMode mode : kModes) {
    for (const bool constant : {false, true}) {
      LittleGraph little(7);
      const Shape shape = {3, 5, 8};
      const ValueId x = little.Input("x", shape, -3, 3);
      const ValueId d = constant ? little.RandomConstant("d", {8}, 0.001f, 5)
                                 : little.Input("d", {3, 5, 1}, 0.5f, 2);
      little.Output(little.Add("y", Binary{BinaryOp::kDiv, {}}, {x, d}, shape));
      const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16(mode));
      EXPECT_EQ(Count<isa::DivS16>(result.graph), constant ? 0 : 1);
      EXPECT_EQ(TypeOf(result.graph, "y"), DType::kS16);
      EXPECT_LE(OwnError(little, result, "y"), constant ? 1.1 : 0.51);
    }
  }
}

TEST(Int16Test, ConfigurationAsksForOneLayerAndIsTold) {
  Block block;
  QuantizeOptions options;
  options.config.layers["b"].activation_bits = 16;
  const QuantizeResult result = QuantizeGraph(block.little.graph(), block.table, options);
  EXPECT_EQ(TypeOf(result.graph, "b"), DType::kS16);
  EXPECT_NE(TypeOf(result.graph, "a"), DType::kS16);
  EXPECT_EQ(Count<QMatMulS16>(result.graph), 0);  // c was not asked: it reads 8 bits
  EXPECT_TRUE(result.report.notes.empty());

  LittleGraph little;
  const ValueId x = little.Input("x", {1, 8200});
  const ValueId t = little.Add("t", Unary{UnaryOp::kTanh}, {x}, {1, 8200});
  const ValueId p = little.Add("scores", Softmax{.axis = 1}, {t}, {1, 8200});
  little.Output(little.Add("y", Unary{UnaryOp::kTanh}, {p}, {1, 8200}));
  QuantizeOptions ask;
  ask.config.layers["scores"].activation_bits = 16;
  const QuantizeResult told = QuantizeGraph(little.graph(), little.Calibrate(), ask);
  ASSERT_EQ(told.report.notes.size(), 1u);
  EXPECT_NE(told.report.notes[0].text.find("has no 16-bit form"), std::string::npos);
}

// The greatest of sixteen bits, not of what 8 of them leave equal.
// Whatever computes in F32 between operators of 16 bits hands on 16 bits.
TEST(Int16Test, AResultInF32IsReadInSixteenBits) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 8});
  const ValueId a =
      little.Add("a", MatMul{}, {x, little.RandomConstant("w", {8, 8}, -1, 1)}, {4, 8});
  const ValueId t = little.Add("t", Unary{UnaryOp::kTanh}, {a}, {4, 8});
  little.Output(little.Add("y", MatMul{}, {t, little.RandomConstant("v", {8, 8}, -1, 1)}, {4, 8}));
  const CalibrationTable table = little.Calibrate();
  QuantizeOptions options = All16();
  options.config.layers["t"].float32 = true;
  const QuantizeResult result = QuantizeGraph(little.graph(), table, options);
  EXPECT_EQ(Count<Unary>(result.graph), 1);
  EXPECT_EQ(Count<QMatMulS16>(result.graph), 2);
  EXPECT_EQ(TypeOf(result.graph, "t__q"), DType::kS16);
}

// Movements between two that are asked carry 16 bits, unless the configuration says 8.
TEST(Int16Test, MovementsBetweenTwoThatAreAskedCarrySixteenBits) {
  for (const bool says_8 : {false, true}) {
    LittleGraph little;
    const ValueId x = little.Input("x", {4, 8});
    const ValueId a =
        little.Add("a", MatMul{}, {x, little.RandomConstant("w", {8, 8}, -1, 1)}, {4, 8});
    const ValueId r = little.Add("r", Reshape{}, {a}, {8, 4});
    const ValueId t = little.Add("t", Transpose{{1, 0}}, {r}, {4, 8});
    const ValueId y =
        little.Add("y", MatMul{}, {t, little.RandomConstant("v", {8, 8}, -1, 1)}, {4, 8});
    const ValueId z = little.Add("z", Transpose{{1, 0}}, {y}, {8, 4});
    little.Output(z);
    const CalibrationTable table = little.Calibrate();
    QuantizeOptions options;
    for (const char* name : {"a", "y"}) options.config.layers[name].activation_bits = 16;
    if (says_8) options.config.layers["t"].activation_bits = 8;
    const QuantizeResult result = QuantizeGraph(little.graph(), table, options);
    EXPECT_EQ(TypeOf(result.graph, "r") == DType::kS16, !says_8);
    EXPECT_EQ(TypeOf(result.graph, "t") == DType::kS16, !says_8);
    EXPECT_NE(TypeOf(result.graph, "z"), DType::kS16);
  }
}

TEST(Int16Test, ArgMaxReadsSixteenBits) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 8});
  const ValueId w = little.RandomConstant("w", {8, 8}, -1, 1);
  const ValueId a = little.Add("a", MatMul{}, {x, w}, {4, 8});
  little.Output(little.AddIndex("y", ArgMax{.axis = 1}, {a}, {4, 1}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16());
  const Node& last = result.graph.nodes().back();
  ASSERT_TRUE(std::holds_alternative<ArgMax>(last.op));
  EXPECT_EQ(result.graph.value(last.inputs[0]).dtype, DType::kS16);
  EXPECT_EQ(Count<isa::RequantizeS16>(result.graph), 0);
}

TEST(Int16Test, OtherProfilesHaveNone) {
  Block block;
  QuantizeOptions options = All16();
  options.profile.id = ProfileId::kTfLiteRef;
  EXPECT_NE(ErrorOf([&] {
              QuantizeGraph(block.little.graph(), block.table, options);
            }).find("of profile tpu alone"),
            std::string::npos);
}

// Of x, the operator and perhaps a number.
QuantizeResult OfOne(Op op, float low, float high, const float* number = nullptr) {
  LittleGraph little;
  std::vector<ValueId> inputs = {little.Input("x", {64, 64}, low, high)};
  if (number != nullptr) inputs.push_back(little.Constant("number", {1}, {*number}));
  little.Output(little.Add("y", std::move(op), inputs, {64, 64}));
  return QuantizeGraph(little.graph(), little.Calibrate(), All16());
}

TEST(Int16Test, SmoothFunctionsAreInterpolatedOthersHaveEveryEntry) {
  const auto points = [](const QuantizeResult& result) {
    const auto& table = Only<QTableS16>(result.graph);
    EXPECT_EQ(table.entries.size(), table.interpolated.empty() ? 65536u : 0u);
    return table.interpolated.size();
  };
  const float half = 0.5f, three = 3.0f, bend = 0.3f;
  EXPECT_EQ(points(OfOne(Unary{UnaryOp::kTanh}, -4, 4)), 513u);
  EXPECT_EQ(points(OfOne(LeakyRelu{0.1f}, -4, 4)), 513u);  // the bend is an entry
  EXPECT_EQ(points(OfOne(Binary{BinaryOp::kMul, {}}, -4, 4, &three)), 513u);
  EXPECT_GT(points(OfOne(Binary{BinaryOp::kMax, {}}, -4, 4, &bend)), 513u);  // not this one's
  EXPECT_EQ(points(OfOne(Binary{BinaryOp::kPow, {}}, 0, 4, &half)), 0u);
}

// A slope is part of a product of bytes alone.
TEST(Int16Test, ASlopeBehindAProductStaysAFunction) {
  for (const QuantMode mode : kModes) {
    LittleGraph little;
    const ValueId x = little.Input("x", {4, 8});
    const ValueId w = little.RandomConstant("w", {8, 8}, -1, 1);
    const ValueId m = little.Add("m", MatMul{}, {x, w}, {4, 8});
    little.Output(little.Add("y", LeakyRelu{0.1f}, {m}, {4, 8}));
    const CalibrationTable table = little.Calibrate();
    const QuantizeResult bytes = QuantizeGraph(little.graph(), table, Mode(mode));
    EXPECT_FALSE(Only<QMatMul>(bytes.graph).negative.empty());
    const QuantizeResult wide = QuantizeGraph(little.graph(), table, All16(mode));
    EXPECT_EQ(Count<QMatMulS16>(wide.graph), 1);
    EXPECT_EQ(Count<QTableS16>(wide.graph), 1);
    QuantizeOptions options = Mode(mode);  // the result alone
    options.config.layers["y_node"].activation_bits = 16;
    const QuantizeResult result = QuantizeGraph(little.graph(), table, options);
    EXPECT_TRUE(Only<QMatMul>(result.graph).negative.empty());
    EXPECT_EQ(Count<QTableS16>(result.graph), 1);
  }
}

// Of the steps twice as wide, one result at least is off by more than a quantum.
TEST(Int16Test, ATableIsTheSmallestOneThatKeepsItsBound) {
  std::set<size_t> sizes;
  for (const float reach : {4.0f, 12.0f, 20.0f, 40.0f, 80.0f, 160.0f}) {
    const QuantizeResult result = OfOne(Unary{UnaryOp::kSigmoid}, -reach, reach);
    const auto& table = Only<QTableS16>(result.graph).interpolated;
    ASSERT_FALSE(table.empty()) << reach;
    sizes.insert(table.size());
    if (table.size() == 513) continue;
    std::vector<int32_t> wider;
    for (size_t i = 0; i < table.size(); i += 2) wider.push_back(table[i]);
    const int32_t bits = numerics::TableStepBits(static_cast<int64_t>(wider.size()));
    const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
    const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
    double worst = 0;
    for (int32_t q = -32768; q < 32768; ++q) {
      const double nearest = std::nearbyint(std::min(1 / (1 + std::exp(-sx * q)) / sy, 32767.0));
      const int32_t y = numerics::InterpolateInt16(wider.data(), bits, q, 0, -32768, 32767);
      worst = std::max(worst, std::fabs(y - nearest));
    }
    EXPECT_GE(worst, 2) << reach;
  }
  EXPECT_GE(sizes.size(), 3u);
  const QuantizeResult steep = OfOne(Unary{UnaryOp::kSigmoid}, -320, 320);
  EXPECT_EQ(Only<QTableS16>(steep.graph).entries.size(), 65536u);
}

TEST(Int16Test, TablesAreWithinAQuantumOfTheFunction) {
  for (const float reach : {0.5f, 3.0f, 20.0f, 200.0f}) {
    const QuantizeResult result = OfOne(Unary{UnaryOp::kSigmoid}, -reach, reach);
    const auto& table = Only<QTableS16>(result.graph);
    const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
    const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
    for (int32_t q = -32768; q < 32768; q += 7) {
      const double exact = 1 / (1 + std::exp(-sx * q)) / sy;
      const double held = std::min(std::max(exact, -32768.0), 32767.0);
      const auto points = static_cast<int64_t>(table.interpolated.size());
      const int32_t y =
          table.entries.empty()
              ? numerics::InterpolateInt16(table.interpolated.data(),
                                           numerics::TableStepBits(points), q, 0, -32768, 32767)
              : table.entries[static_cast<size_t>(q) + 32768];
      ASSERT_LE(std::fabs(y - held), table.entries.empty() ? 1.51 : 0.51)
          << q << " of reach " << reach;
    }
  }
}

// Each channel within a quantum and a half of the function at its own scales.
TEST(Int16Test, AFunctionOfScaledChannelsHasATableForEachPairOfScales) {
  LittleGraph little;
  const ValueId x = little.Input("x", {64, 4}, -4, 4);
  Unary silu(UnaryOp::kSilu);
  silu.input_exponents = {0, -2, -25, 0};
  silu.output_exponents = {1, -2, -25, 1};
  little.Output(little.Add("y", silu, {x}, {64, 4}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16());
  EXPECT_EQ(TypeOf(result.graph, "y"), DType::kS16);
  const auto& tables = Only<QChannelTablesS16>(result.graph);
  EXPECT_EQ(tables.table_of_channel, (std::vector<uint8_t>{0, 1, 2, 0}));
  ASSERT_EQ(tables.interpolated.size(), 3u * 513);
  const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
  const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
  for (size_t c = 0; c < 4; ++c) {
    const int32_t* lines = tables.interpolated.data() + 513 * tables.table_of_channel[c];
    const auto [i, o] = silu.ExponentsOf(c);
    for (int32_t q = -32768; q < 32768; q += 7) {
      const double v = std::ldexp(sx * q, i);
      const double exact = v / (1 + std::exp(-v)) / std::ldexp(sy, o);
      ASSERT_NEAR(numerics::InterpolateInt16(lines, numerics::kTableStepBits, q, 0, -32768, 32767),
                  std::min(std::max(exact, -32768.0), 32767.0), 1.51)
          << q << " of channel " << c;
    }
  }
}

// Its bias would not fit int32 in units of Sx Sw.
TEST(Int16Test, ChannelWithALargeBiasGetsALargerWeightScale) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 8}, -1e-3f, 1e-3f);
  const ValueId w = little.RandomConstant("w", {8, 2}, -1e-3f, 1e-3f);
  const ValueId bias = little.Constant("bias", {2}, {100.0f, 0.0f});
  little.Output(little.Add("y", MatMul{}, {x, w, bias}, {4, 2}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16());
  ASSERT_FALSE(result.report.repairs.empty());
  EXPECT_EQ(result.report.repairs[0].channel, 0);
  const auto& product = Only<QMatMulS16>(result.graph);
  EXPECT_LE(std::abs(int64_t{product.channels[0].bias}), INT32_MAX);
  EXPECT_GT(product.channels[0].bias, 1 << 29);
}

// Weights chosen for 8 bits, whose scales leave a bias 2^30: 256 times as much where x has 16.
TEST(Int16Test, ChosenWeightsThatDoNotFitAreRoundedAtALargerScale) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 2}, -4, 4);
  const ValueId w = little.Constant("w", {2, 2}, {3e-6f, 0.5f, -2e-6f, 0.25f});
  const ValueId bias = little.Constant("bias", {2}, {100.0f, 0.0f});
  little.Output(little.Add("y", MatMul{}, {x, w, bias}, {4, 2}));
  const float small = 100.0f / (4.0f / 127) / 1073741824.0f;
  const std::string name = little.graph().nodes()[0].name;
  const NodeWeights chosen = {{name, {{small, 0.5f / 100}, {1, 100, -1, 49}}}};
  const Graph graph = SetWeights(little.graph(), chosen);
  QuantizeOptions options = All16();
  EXPECT_THROW(QuantizeGraph(graph, little.Calibrate(), options), Error);  // as of a QDQ model
  options.scaled_weights = true;
  const QuantizeResult result = QuantizeGraph(graph, little.Calibrate(), options);
  const auto& product = Only<QMatMulS16>(result.graph);
  EXPECT_LE(std::abs(int64_t{product.channels[0].bias}), INT32_MAX);
  EXPECT_GT(product.channels[0].bias, 1 << 29);
  ASSERT_FALSE(result.report.repairs.empty());
  for (const auto& repair : result.report.repairs) EXPECT_EQ(repair.channel, 0);
  EXPECT_EQ(result.report.repairs[0].scale_before, small);
  EXPECT_GT(result.report.repairs[0].scale_after, small);
  const Node& node = *std::find_if(result.graph.nodes().begin(), result.graph.nodes().end(),
                                   [&](const Node& n) { return n.name == name; });
  const auto integers = result.graph.value(node.inputs[1]).constant->As<int8_t>();
  EXPECT_EQ(integers[1], 100);
  EXPECT_EQ(integers[3], 49);
}

// Scores with a factor, their softmax, its product, and a maximum: nothing is held in 8 bits.
TEST(Int16Test, AttentionAndMaxima) {
  for (const QuantMode mode : kModes) {
    LittleGraph little;
    const Shape square = {4, 4}, rows = {4, 8};
    const ValueId x = little.Input("x", rows);
    const auto product = [&](const char* name, const Shape& w, const Shape& y) {
      const ValueId weights = little.RandomConstant(std::string("w_") + name, w, -1, 1);
      return little.Add(name, MatMul{}, {x, weights}, y);
    };
    const ValueId a = product("a", {8, 4}, square), b = product("b", {8, 8}, rows);
    const ValueId scores = little.Add("scores", MatMul{}, {a, b}, rows);
    const ValueId quarter = little.Constant("quarter", {}, {0.25f});
    const ValueId scaled =
        little.Add("scaled", Binary{BinaryOp::kMul, {}}, {scores, quarter}, rows);
    const ValueId shares = little.Add("shares", Softmax{.axis = 1}, {scaled}, rows);
    const ValueId o = little.Add("o", MatMul{}, {a, shares}, rows);
    const ValueId most = little.Add("most", Binary{BinaryOp::kMax, {}}, {o, b}, rows);
    const ValueId w = little.RandomConstant("w", {8, 8}, -1, 1);
    little.Output(little.Add("y", MatMul{}, {most, w}, rows));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16(mode));
    for (const char* name : {"a", "b", "scaled", "shares", "o", "most", "y"})
      EXPECT_EQ(TypeOf(result.graph, name), DType::kS16) << name;
    EXPECT_EQ(Count<isa::BatchedMatMulS16>(result.graph), 2);
    EXPECT_EQ(Count<QQuotientSoftmaxS16>(result.graph), 1);
    EXPECT_EQ(Count<isa::ExtremumS16>(result.graph), 1);
    EXPECT_EQ(Count<isa::MulS16>(result.graph), 0);  // the factor is the product's
    EXPECT_EQ(Count<QTableS16>(result.graph), 0);
  }
}

}  // namespace
}  // namespace rshift::test
