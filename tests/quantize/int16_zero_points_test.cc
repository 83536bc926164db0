// 16-bit integers of a model whose zero point is off the middle, held about 0.
#include "quantize/int16_zero_points.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

constexpr float kScale = 0.001f;
const Shape kShape = {2, 3};

// What the import makes of QuantizeLinear and DequantizeLinear of 16 bits: [lo, lo + 65535].
class Trips {
 public:
  ValueId Integers(const std::string& name, ValueId x, float zero, float lo, float levels = 65536) {
    ValueId q = little.Add(name + "_units", Binary{BinaryOp::kDiv, {}}, {x, Number(scale)}, shape);
    q = little.Add(name + "_round", Unary{UnaryOp::kRound}, {q}, shape);
    if (zero != 0)
      q = little.Add(name + "_sum", Binary{BinaryOp::kAdd, {}}, {q, Number(zero)}, shape);
    return little.Add(name, Clip{{lo, lo + levels - 1}}, {q}, shape);
  }
  ValueId Reals(const std::string& name, ValueId q, float zero, float step = kScale) {
    if (zero != 0)
      q = little.Add(name + "_off", Binary{BinaryOp::kSub, {}}, {q, Number(zero)}, shape);
    return little.Add(name, Binary{BinaryOp::kMul, {}}, {q, Number(step)}, shape);
  }
  ValueId Number(float number) {
    return little.Constant("number" + std::to_string(numbers_++), {}, {number});
  }

  LittleGraph little;
  Shape shape = kShape;
  float scale = kScale;  // of Integers()

 private:
  int numbers_ = 0;
};

struct OfZero {
  float zero, lo, reach;
};

TEST(Int16ZeroPointsTest, QuantizesAboutZeroWhatTheModelsIntegersStandFor) {
  for (const OfZero& of : {OfZero{0, 0, 65535}, OfZero{30000, 0, 35535}, OfZero{300, -32768, 33068},
                           OfZero{-32768, -32768, 65535}, OfZero{32767, -32768, 65535}}) {
    Trips trips;
    const ValueId q = trips.Integers("q", trips.little.Input("x", kShape), of.zero, of.lo);
    trips.little.Output(trips.Reals("y", q, of.zero));
    const CentredInt16 centred = CentreInt16(trips.little.graph(), Profile{});
    const Graph& graph = centred.graph;
    ASSERT_EQ(graph.nodes().size(), 3u) << of.zero;
    EXPECT_EQ(centred.tensors, std::vector<std::string>{"q"});
    const Clamp clamp = Only<Clip>(graph).clamp;
    EXPECT_FLOAT_EQ(clamp.lo, (of.lo - of.zero) * kScale);
    EXPECT_FLOAT_EQ(clamp.hi, (of.lo + 65535 - of.zero) * kScale);
    const Value& integers = graph.value(graph.FindValue("q"));
    EXPECT_EQ(integers.dtype, DType::kS16);
    EXPECT_FLOAT_EQ(integers.quant->scale, of.reach / 32767 * kScale);
    EXPECT_EQ(integers.quant->zero_point, 0);
    EXPECT_LT(integers.quant->scale, 2.0001f * kScale);
    EXPECT_EQ(Count<Dequantize>(graph), 1);
  }
}

TEST(Int16ZeroPointsTest, OneClipIsEnoughForNumbersThatMove) {
  Trips trips;
  ValueId q = trips.Integers("q", trips.little.Input("x", kShape), 7, 0);
  ValueId x = trips.Reals("a", q, 7);
  trips.shape = {3, 2};
  x = trips.little.Add("moved", Transpose{{1, 0}}, {x}, trips.shape);
  q = trips.Integers("r", x, 7, 0);
  trips.little.Output(trips.Reals("y", q, 7));
  const CentredInt16 centred = CentreInt16(trips.little.graph(), Profile{});
  EXPECT_EQ(Count<Clip>(centred.graph), 1);
  EXPECT_EQ(Count<Quantize>(centred.graph), 2);
  EXPECT_EQ(centred.tensors, (std::vector<std::string>{"q", "r"}));
}

TEST(Int16ZeroPointsTest, WhatAPadAddsIsCutOffAgain) {
  Trips trips;
  ValueId q = trips.Integers("q", trips.little.Input("x", kShape), 0, 0);
  trips.shape = {2, 4};
  const ValueId moved =
      trips.little.Add("moved", Pad{.before = {0, 0}, .after = {0, 1}, .value = -2},
                       {trips.Reals("a", q, 0)}, trips.shape);
  q = trips.Integers("r", moved, 0, 0);
  trips.little.Output(trips.Reals("y", q, 0));
  EXPECT_EQ(Count<Clip>(CentreInt16(trips.little.graph(), Profile{}).graph), 2);
}

TEST(Int16ZeroPointsTest, PairsOfOneValueShareAClip) {
  Trips trips;
  const ValueId x = trips.little.Input("x", kShape);
  trips.little.Output(trips.Reals("y", trips.Integers("q", x, 7, 0), 7));
  trips.little.Output(trips.Reals("z", trips.Integers("r", x, 7, 0), 7));
  const CentredInt16 centred = CentreInt16(trips.little.graph(), Profile{});
  EXPECT_EQ(Count<Clip>(centred.graph), 1);
  EXPECT_EQ(Count<Quantize>(centred.graph), 2);
}

TEST(Int16ZeroPointsTest, AZeroPointInTheMiddleKeepsTheModelsScale) {
  for (const auto& [zero, lo] : {std::pair(32768.0f, 0.0f), std::pair(0.0f, -32768.0f)}) {
    Trips trips;
    const ValueId q = trips.Integers("q", trips.little.Input("x", kShape), zero, lo);
    trips.little.Output(trips.Reals("y", q, zero));
    const CentredInt16 centred = CentreInt16(trips.little.graph(), Profile{});
    EXPECT_EQ(Count<Clip>(centred.graph), 0);
    EXPECT_EQ(centred.graph.value(centred.graph.FindValue("q")).quant, (QuantParams{kScale, 0}));
    EXPECT_TRUE(centred.tensors.empty());
  }
}

// Arithmetic that somebody wrote by hand.
TEST(Int16ZeroPointsTest, NumbersThatAreNoScaleOrZeroPointStay) {
  for (const auto& [scale, zero] :
       {std::pair(-1e-4f, 7.0f), std::pair(0.0f, 7.0f), std::pair(kScale, 0.5f)}) {
    Trips trips;
    trips.scale = scale;
    const ValueId q = trips.Integers("q", trips.little.Input("x", kShape), zero, 0);
    trips.little.Output(trips.Reals("y", q, zero, scale));
    const CentredInt16 centred = CentreInt16(trips.little.graph(), Profile{});
    EXPECT_EQ(Count<Quantize>(centred.graph), 0) << scale << " " << zero;
  }
}

TEST(Int16ZeroPointsTest, WhatIsReadOtherwiseStays) {
  const auto changed = [](Trips& trips, Profile profile = {}) {
    return !CentreInt16(trips.little.graph(), profile).tensors.empty();
  };
  Trips output, read, scaled, nibbles, other;
  const auto integers = [](Trips& trips, float levels = 65536) {
    return trips.Integers("q", trips.little.Input("x", kShape), 7, 0, levels);
  };
  ValueId q = integers(output);
  output.little.Output(output.Reals("y", q, 7));
  EXPECT_TRUE(changed(output));
  output.little.Output(q);
  EXPECT_FALSE(changed(output));

  q = integers(read);
  read.little.Output(read.Reals("y", q, 7));
  read.little.Output(read.little.Add("z", Unary{UnaryOp::kSqrt}, {q}, kShape));
  EXPECT_FALSE(changed(read));

  scaled.little.Output(scaled.Reals("y", integers(scaled), 7, 2 * kScale));
  EXPECT_FALSE(changed(scaled));

  nibbles.little.Output(nibbles.Reals("y", integers(nibbles, 16), 7));
  EXPECT_FALSE(changed(nibbles));

  other.little.Output(other.Reals("y", integers(other), 7));
  EXPECT_FALSE(changed(other, Profile{ProfileId::kOnnxRuntime}));
  EXPECT_FALSE(changed(other, Profile{ProfileId::kTfLiteRef}));
}

}  // namespace
}  // namespace rshift::test
