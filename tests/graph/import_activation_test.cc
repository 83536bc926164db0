#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Clamp ClampOf(const Graph& g) { return std::get<Clip>(g.nodes().at(0).op).clamp; }

TEST(ImportActivation, EveryPlainFunction) {
  for (const char* op : {"Sigmoid",    "Tanh",  "HardSigmoid", "HardSwish", "Elu",
                         "Selu",       "Celu",  "Softplus",    "Softsign",  "ThresholdedRelu",
                         "Gelu",       "Mish",  "Exp",         "Log",       "Sqrt",
                         "Reciprocal", "Abs",   "Neg",         "Sign",      "Floor",
                         "Ceil",       "Round", "Erf",         "Sin",       "Cos",
                         "Tan",        "Asin",  "Acos",        "Atan",      "Sinh",
                         "Cosh",       "Asinh", "Acosh",       "Atanh"}) {
    const Graph g = OneNode(20, {2, 3}, op, {"x"}).Import();
    EXPECT_EQ(OpsOf(g), op);
    EXPECT_EQ(OutputOf(g).shape, (Shape{2, 3}));
  }
}

TEST(ImportActivation, AttributesHaveTheDefaultsOfOnnx) {
  const auto unary = [](const char* op) {
    return std::get<Unary>(OneNode(20, {2}, op, {"x"}).Import().nodes()[0].op);
  };
  EXPECT_EQ(unary("HardSigmoid").alpha, 0.2f);
  EXPECT_EQ(unary("HardSigmoid").beta, 0.5f);
  EXPECT_EQ(unary("Elu").alpha, 1.0f);
  EXPECT_EQ(unary("Selu").alpha, 1.67326319217681884765625f);
  EXPECT_EQ(unary("Selu").beta, 1.05070102214813232421875f);
  EXPECT_EQ(unary("ThresholdedRelu").alpha, 1.0f);
  const Graph leaky = OneNode(13, {2}, "LeakyRelu", {"x"}).Import();
  EXPECT_EQ(std::get<LeakyRelu>(leaky.nodes()[0].op).alpha, 0.01f);
  const Graph gelu = OneNode(20, {2}, "Gelu", {"x"}, {{"approximate", "tanh"}}).Import();
  EXPECT_EQ(OpsOf(gelu), "GeluTanh");
}

TEST(ImportActivation, ReluAndEveryFormOfClip) {
  EXPECT_EQ(ClampOf(OneNode(13, {2}, "Relu", {"x"}).Import()), (Clamp{0.0f, kInfinity}));
  const Graph old = OneNode(6, {2}, "Clip", {"x"}, {{"min", 0.0f}, {"max", 6.0f}}).Import();
  EXPECT_EQ(ClampOf(old), (Clamp{0.0f, 6.0f}));
  auto inputs = OneNode(11, {2}, "Clip", {"x", "", "hi"});
  inputs.Floats("hi", {1}, {6.0f});
  EXPECT_EQ(ClampOf(inputs.Import()), (Clamp{-kInfinity, 6.0f}));
  auto open = OneNode(11, {2}, "Clip", {"x", "lo", "hi"});
  open.Floats("lo", {}, {std::numeric_limits<float>::lowest()});
  open.Floats("hi", {}, {std::numeric_limits<float>::max()});
  EXPECT_FALSE(ClampOf(open.Import()).active());
  auto nan = OneNode(11, {2}, "Clip", {"x", "lo"});
  nan.Floats("lo", {}, {std::nanf("")});
  EXPECT_THAT(nan.ImportError(), HasSubstr("bound 'min' is NaN"));
}

TEST(ImportActivation, ClipWithComputedBoundsBecomesMaxAndMin) {
  ModelBuilder b(13);
  b.Input("x", {2, 3}).Input("lo", {}).Floats("hi", {}, {6.0f});
  b.Node("Clip", {"x", "lo", "hi"}, {"y"}).Output("y");
  EXPECT_EQ(OpsOf(b.Import()), "Max Min Identity");
}

TEST(ImportActivation, PReluSlopeMustBroadcastToTheInput) {
  auto channel = OneNode(13, {1, 4, 5, 5}, "PRelu", {"x", "s"});
  channel.Floats("s", {4, 1, 1});
  EXPECT_EQ(OpsOf(channel.Import()), "PRelu");
  auto wrong = OneNode(13, {1, 4, 1, 1}, "PRelu", {"x", "s"});
  wrong.Floats("s", {4, 5, 1});
  EXPECT_THAT(wrong.ImportError(), HasSubstr("does not broadcast to the input 1x4x1x1"));
  auto old = OneNode(6, {1, 4, 5, 5}, "PRelu", {"x", "s"});
  old.Floats("s", {4});
  const Graph g = old.Import();
  EXPECT_EQ(g.value(g.nodes()[0].inputs[1]).shape, (Shape{4, 1, 1}));
}

}  // namespace
}  // namespace rshift
