// Known bounds against the functions themselves on a fine grid.
#include "quantize/ranges/known_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quantize/ops/ops.h"

namespace rshift {
namespace {

Graph OneFunction(const Op& op) {
  Graph graph;
  const auto add = [&](const char* name) {
    Value value;
    value.name = name;
    value.shape = {1, 4};
    return graph.AddValue(std::move(value));
  };
  const ValueId x = add("x"), y = add("y");
  graph.inputs = {x};
  graph.outputs = {y};
  graph.AddNode({"node", op, {x}, {y}});
  return graph;
}

class KnownBoundsTest : public ::testing::TestWithParam<Unary> {};

TEST_P(KnownBoundsTest, HoldEveryValueAndAreReached) {
  const Unary& op = GetParam();
  double least = INFINITY, largest = -INFINITY;
  for (double v = -30; v <= 30; v += 1.0 / 4096) {
    least = std::min(least, Evaluate(op, v));
    largest = std::max(largest, Evaluate(op, v));
  }
  const KnownBounds bounds = FindKnownBounds(OneFunction(op))[1];
  EXPECT_LE(bounds.low, least + 1e-6) << static_cast<int>(op.op);
  EXPECT_GE(bounds.high, largest) << static_cast<int>(op.op);
  EXPECT_NEAR(bounds.low, least, op.op == UnaryOp::kSoftsign ? 0.04 : 1e-5);
  if (bounds.fills) {
    EXPECT_NEAR(bounds.high, largest, op.op == UnaryOp::kSoftsign ? 0.04 : 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, KnownBoundsTest,
    ::testing::Values(Unary{UnaryOp::kSigmoid}, Unary{UnaryOp::kTanh},
                      Unary{UnaryOp::kHardSigmoid, 0.2f, 0.5f}, Unary{UnaryOp::kErf},
                      Unary{UnaryOp::kSoftsign}, Unary{UnaryOp::kSin}, Unary{UnaryOp::kCos},
                      Unary{UnaryOp::kHardSwish}, Unary{UnaryOp::kSilu}, Unary{UnaryOp::kGelu},
                      Unary{UnaryOp::kGeluTanh}, Unary{UnaryOp::kMish}, Unary{UnaryOp::kElu, 0.7f},
                      Unary{UnaryOp::kCelu, 1.5f}, Unary{UnaryOp::kSelu, 1.67f, 1.05f},
                      Unary{UnaryOp::kSoftplus}, Unary{UnaryOp::kExp}, Unary{UnaryOp::kAbs},
                      Unary{UnaryOp::kSquare}));

// Results near 0 keep the range that was seen, whole; scores do not.
TEST(ApplyKnownBoundsTest, FarWithinTheBoundsWhatWasSeenCounts) {
  const TensorRange seen = {-0.01f, 0.02f, 0.005f, -0.004f, 0.005f, "kl", 0};
  CalibrationTable tanh;
  tanh.tensors = {{"y", seen}};
  ApplyKnownBounds(OneFunction(Unary{UnaryOp::kTanh}), tanh);
  EXPECT_EQ(tanh.tensors[0].second.low, -0.01f);
  EXPECT_EQ(tanh.tensors[0].second.high, 0.02f);
  EXPECT_EQ(tanh.tensors[0].second.threshold, 0.02f);
  tanh.tensors = {{"y", {-0.01f, 0.07f, 0.07f, -0.01f, 0.07f, "kl", 0}}};
  ApplyKnownBounds(OneFunction(Unary{UnaryOp::kTanh}), tanh);
  EXPECT_EQ(tanh.tensors[0].second.threshold, 1);

  for (const bool product : {false, true}) {  // an attention's shares; a detector's scores
    Graph graph = OneFunction(Softmax{});
    Value z, w;
    z.name = "z", w.name = "w";
    z.shape = {1, 4}, w.shape = {4, 4};
    const ValueId other = graph.AddValue(w), result = graph.AddValue(z);
    Op op = Binary{BinaryOp::kMul, {}};
    if (product) op = MatMul{};
    graph.AddNode({"behind", op, {graph.outputs[0], other}, {result}});
    graph.outputs = {result};
    CalibrationTable table;
    table.tensors = {{"y", {0, 0.02f, 0.005f, 0, 0.005f, "kl", 0}}};
    ApplyKnownBounds(graph, table);
    EXPECT_EQ(table.tensors[0].second.high, product ? 0.02f : 1.0f);
  }
}

TEST(ApplyKnownBoundsTest, SetsWhatIsFilledAndLimitsTheRest) {
  CalibrationTable table;
  table.tensors = {{"x", {-3, 3, 2, -2, 2, "kl", 0}},
                   {"y", {0, 2.7e-6f, 2.7e-6f, 0, 2.7e-6f, "kl", 0}}};
  CalibrationTable sigmoid = table, silu = table;
  ApplyKnownBounds(OneFunction(Unary{UnaryOp::kSigmoid}), sigmoid);
  EXPECT_EQ(sigmoid.tensors[0].second.threshold, 2) << "inputs are not touched";
  EXPECT_EQ(sigmoid.tensors[1].second.high, 1);
  EXPECT_EQ(sigmoid.tensors[1].second.threshold, 1);
  silu.tensors[1].second = {-0.2f, 4, 3, -2, 3.5f, "kl", 0};
  ApplyKnownBounds(OneFunction(Unary{UnaryOp::kSilu}), silu);
  EXPECT_FLOAT_EQ(silu.tensors[1].second.low, -0.27846457f);
  EXPECT_EQ(silu.tensors[1].second.high, 3.5f);
  EXPECT_EQ(silu.tensors[1].second.threshold, 3);
}

}  // namespace
}  // namespace rshift
