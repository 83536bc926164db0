#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

TEST(MatMulTest, IsWithinTheBoundOfTheFloatProduct) {
  for (QuantMode mode : kModes) {
    for (const Shape& a : {Shape{3, 16}, Shape{2, 3, 16}, Shape{1, 2, 3, 16}}) {
      for (float low : {-1.0f, 0.0f, 0.9f}) {
        LittleGraph little(3);
        const ValueId x = little.Input("x", a, low, 1);
        const ValueId w = little.RandomConstant("w", {16, 5}, -1, 1);
        const ValueId b = little.RandomConstant("b", {5}, -1, 1);
        Shape shape = a;
        shape.back() = 5;
        little.Output(little.Add("y", MatMul{}, {x, w, b}, shape));
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        EXPECT_EQ(Count<QMatMul>(result.graph), 1);
        const double sx = result.graph.value(result.graph.FindValue("x__q")).quant->scale;
        const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
        EXPECT_LE(WorstError(little, result, "y"), 0.51 + 16 * (sx + 1.0 / 254 + sx / 254) / sy);
      }
    }
  }
}

// Of the integer product against the real product of the dequantized factors, before the clamp.
double WorstOfBatched(const LittleGraph& little, const QuantizeResult& result) {
  const Graph& graph = result.graph;
  const auto real = [&](const Tensors& tensors, const char* name) {
    const QuantParams& q = *graph.value(graph.FindValue(name)).quant;
    Tensor tensor = tensors.at(name);
    for (double& v : tensor.data) v = static_cast<double>(q.scale) * (v - q.zero_point);
    return tensor;
  };
  const Value& y = graph.value(graph.FindValue("y"));
  const auto lowest = y.dtype == DType::kU8 ? 0.0 : -128.0, highest = lowest + 255;
  double worst = 0;
  for (const Tensors& sample : little.samples()) {
    const Tensors integers = Execute(graph, sample);
    const Tensors exact =
        Execute(little.graph(), {{"a", real(integers, "a__q")}, {"b", real(integers, "b__q")}});
    for (size_t i = 0; i < exact.at("y").data.size(); ++i) {
      const double units =
          exact.at("y").data[i] / static_cast<double>(y.quant->scale) + y.quant->zero_point;
      const double clamped = std::min(std::max(units, lowest), highest);
      worst = std::max(worst, std::fabs(integers.at("y").data[i] - clamped));
    }
  }
  return worst;
}

TEST(BatchedMatMulTest, ErrsByHalfAUnitAgainstTheProductOfItsIntegers) {
  struct Case {
    Shape a, b, y;
  };
  const Case cases[] = {{{3, 7}, {7, 5}, {3, 5}},
                        {{2, 3, 7}, {2, 7, 5}, {2, 3, 5}},
                        {{2, 3, 4, 6}, {2, 3, 6, 1}, {2, 3, 4, 1}},
                        {{3, 2, 6}, {6, 4}, {3, 2, 4}},
                        {{2, 6}, {3, 6, 4}, {3, 2, 4}},
                        {{2, 1, 3, 5}, {4, 5, 2}, {2, 4, 3, 2}}};
  uint32_t seed = 1;
  for (const QuantMode mode : kModes) {
    for (const Case& shapes : cases) {
      for (const float low : {-1.0f, 0.0f, 0.7f}) {
        SCOPED_TRACE(seed);
        LittleGraph little(seed++);
        const ValueId a = little.Input("a", shapes.a, low, 1);
        const ValueId b = little.Input("b", shapes.b, -0.3f, 2);
        little.Output(little.Add("y", MatMul{}, {a, b}, shapes.y));
        const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), Mode(mode));
        EXPECT_EQ(Count<isa::BatchedMatMul>(result.graph), 1);
        EXPECT_TRUE(result.report.float_nodes.empty());
        EXPECT_LE(WorstOfBatched(little, result), 0.5 + 1e-4);
      }
    }
  }
}

TEST(BatchedMatMulTest, TakesAConstantThatIsNoMatrixOfWeights) {
  LittleGraph little(5);
  const ValueId a = little.RandomConstant("a", {4, 6}, -1, 1);
  const ValueId b = little.Input("b", {2, 6, 3});
  little.Output(little.Add("y", MatMul{}, {a, b}, {2, 4, 3}));
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), {});
  EXPECT_EQ(Count<isa::BatchedMatMul>(result.graph), 1);
  const double sb = result.graph.value(result.graph.FindValue("b__q")).quant->scale;
  const double sy = result.graph.value(result.graph.FindValue("y")).quant->scale;
  EXPECT_LE(WorstError(little, result, "y"), 0.51 + 6 * (sb + 1.0 / 254 + sb / 254) / sy);
}

TEST(BatchedMatMulTest, TakesInAFactor) {
  for (const bool division : {false, true}) {
    for (const float number : {0.125f, 3.0f, -0.125f}) {
      LittleGraph little(9);
      const ValueId a = little.Input("a", {2, 4, 6});
      const ValueId b = little.Input("b", {2, 6, 3});
      const ValueId c = little.Constant("c", {1}, {number});
      const ValueId product = little.Add("product", MatMul{}, {a, b}, {2, 4, 3});
      const Binary op{.op = division ? BinaryOp::kDiv : BinaryOp::kMul, .clamp = {}};
      little.Output(little.Add("y", op, {product, c}, {2, 4, 3}));
      const QuantizeResult result =
          QuantizeGraph(little.graph(), little.Calibrate(), Mode(QuantMode::kAsymmetric));
      EXPECT_EQ(Count<QTable>(result.graph), number > 0 ? 0 : 1);
      EXPECT_LE(WorstOfBatched(little, result), number > 0 ? 0.5 + 1e-4 : 1.01);
    }
  }
}

TEST(BatchedMatMulTest, SumsThatMayLeaveInt32StayFloat) {
  for (const int64_t k : {33025, 33026}) {
    LittleGraph little;
    const ValueId a = little.Input("a", {1, k});
    const ValueId b = little.Input("b", {k, 1});
    little.Output(little.Add("y", MatMul{}, {a, b}, {1, 1}));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(1), {});
    EXPECT_EQ(Count<isa::BatchedMatMul>(result.graph), k == 33025 ? 1 : 0) << k;
  }
}

TEST(BatchedMatMulTest, OtherProfilesKeepItInFloat) {
  LittleGraph little;
  const ValueId x = little.Input("x", {3, 4});
  const ValueId w = little.Input("w", {4, 5});
  little.Output(little.Add("y", MatMul{}, {x, w}, {3, 5}));
  QuantizeOptions options;
  options.profile.id = ProfileId::kOneDnn;
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
  ASSERT_EQ(result.report.float_nodes.size(), 1u);
  EXPECT_EQ(result.report.float_nodes[0].op, "MatMul");
}

TEST(BatchedMatMulTest, AFactorBehindItIsAnOperatorOfItsOwnInFrameworks) {
  for (const ProfileId id : {ProfileId::kTfLiteRef, ProfileId::kOnnxRuntime}) {
    LittleGraph little;
    const ValueId a = little.Input("a", {3, 4}), b = little.Input("b", {4, 5});
    const ValueId product = little.Add("p", MatMul{}, {a, b}, {3, 5});
    const ValueId factor = little.Constant("f", {1}, {0.25f});
    little.Output(little.Add("y", Binary{BinaryOp::kMul, {}}, {product, factor}, {3, 5}));
    QuantizeOptions options;
    options.profile.id = id;
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
    EXPECT_EQ(Count<isa::BatchedMatMul>(result.graph), 1);
    EXPECT_TRUE(result.report.float_nodes.empty());
    EXPECT_EQ(Count<isa::Mul>(result.graph) + Count<QTable>(result.graph), 1);
  }
}

}  // namespace
}  // namespace rshift::test
