#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

ModelBuilder BatchNormModel(int opset, const Shape& parameters,
                            const std::vector<testing::Attribute>& attributes = {}) {
  auto b =
      OneNode(opset, {2, 3, 4, 5}, "BatchNormalization", {"x", "s", "b", "m", "v"}, attributes);
  for (const char* name : {"s", "b", "m", "v"}) b.Floats(name, parameters);
  return b;
}

TEST(ImportNorm, BatchNormKeepsItsParameters) {
  const Graph g = BatchNormModel(13, {3}, {{"epsilon", 1e-3f}}).Import();
  EXPECT_EQ(OpsOf(g), "BatchNorm");
  EXPECT_EQ(std::get<BatchNorm>(g.nodes()[0].op).epsilon, 1e-3f);
  EXPECT_EQ(g.nodes()[0].inputs.size(), 5u);
  EXPECT_THAT(BatchNormModel(13, {4}).ImportError(),
              HasSubstr("scale 's' has the shape 4, expected 3"));
  EXPECT_THAT(BatchNormModel(15, {3}, {{"training_mode", 1}}).ImportError(),
              HasSubstr("training mode"));
}

// As F.batch_norm(weight, training=True) is exported, with which BiT standardizes its weights.
TEST(ImportNorm, BatchNormOfConstantsTakesTheirOwnStatistics) {
  ModelBuilder b(15);
  b.Input("x", {2, 2}).Floats("w", {2, 2}, {1, 0, 3, 4}).Floats("s", {2}, {2, 1});
  b.Floats("b", {2}, {0.5f, -1}).Floats("m", {2}).Floats("v", {2});
  b.Node("BatchNormalization", {"w", "s", "b", "m", "v"}, {"n", "mean", "variance"},
         {{"training_mode", 1}, {"epsilon", 0.0f}});
  b.Node("Add", {"x", "n"}, {"y"}).Output("y");
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Add");
  EXPECT_THAT(testing::Elements<float>(g.value(g.nodes()[0].inputs[1])),
              ::testing::ElementsAre(-1.5f, -2, 2.5f, 0));
}

TEST(ImportNorm, BatchNormOfEachElementBecomesMulAndAdd) {
  const Graph g = BatchNormModel(7, {3, 4, 5}, {{"spatial", 0}, {"epsilon", 0.0f}}).Import();
  EXPECT_EQ(OpsOf(g), "Mul Add");
  // parameters are 0.5: factor 0.5 / sqrt(0.5)
  const auto factor = testing::Elements<float>(g.value(g.nodes()[0].inputs[1]));
  EXPECT_EQ(factor.size(), 60u);
  EXPECT_NEAR(factor[0], 0.70710678f, 1e-6);
}

TEST(ImportNorm, SoftmaxBeforeOpset13FlattensUnlessItMakesNoDifference) {
  const auto import = [](int opset, const Shape& x, int axis) {
    return OneNode(opset, x, "Softmax", {"x"}, {{"axis", axis}}).Import();
  };
  const Graph flattened = import(11, {2, 3, 4}, 1);
  EXPECT_EQ(OpsOf(flattened), "Reshape Softmax Reshape");
  EXPECT_EQ(flattened.value(flattened.nodes()[1].outputs[0]).shape, (Shape{2, 12}));
  EXPECT_EQ(OutputOf(flattened).shape, (Shape{2, 3, 4}));
  const Graph ones = import(11, {1, 1000, 1, 1}, 1);
  EXPECT_EQ(OpsOf(ones), "Softmax");
  EXPECT_EQ(std::get<Softmax>(ones.nodes()[0].op).axis, 1);
  const Graph last = import(11, {2, 3, 4}, 2);
  EXPECT_EQ(std::get<Softmax>(last.nodes()[0].op).axis, 2);
  const Graph modern = import(13, {2, 3, 4}, 1);
  EXPECT_EQ(OpsOf(modern), "Softmax");
  EXPECT_EQ(std::get<Softmax>(modern.nodes()[0].op).axis, 1);
  const Graph fallback = OneNode(13, {2, 3, 4}, "LogSoftmax", {"x"}).Import();
  EXPECT_EQ(std::get<Softmax>(fallback.nodes()[0].op).axis, 2);
  EXPECT_TRUE(std::get<Softmax>(fallback.nodes()[0].op).log);
}

TEST(ImportNorm, LayerNormStretchesItsScale) {
  auto b = OneNode(17, {2, 3, 4}, "LayerNormalization", {"x", "s"}, {{"axis", 1}});
  b.Floats("s", {4});
  const Graph g = b.Import();
  EXPECT_EQ(std::get<LayerNorm>(g.nodes()[0].op).axis, 1);
  EXPECT_EQ(g.value(g.nodes()[0].inputs[1]).shape, (Shape{3, 4}));
}

TEST(ImportNorm, GroupNormCountsScaleByGroupUntilOpset20) {
  auto by_group =
      OneNode(18, {2, 4, 5, 6}, "GroupNormalization", {"x", "s", "b"}, {{"num_groups", 2}});
  by_group.Floats("s", {2}).Floats("b", {2});
  EXPECT_EQ(OpsOf(by_group.Import()), "Reshape InstanceNorm Reshape");
  auto by_channel =
      OneNode(21, {2, 4, 5, 6}, "GroupNormalization", {"x", "s", "b"}, {{"num_groups", 2}});
  by_channel.Floats("s", {4}).Floats("b", {4});
  const Graph g = by_channel.Import();
  EXPECT_EQ(OpsOf(g), "Reshape InstanceNorm Reshape Mul Add");
  EXPECT_EQ(g.value(g.nodes()[0].outputs[0]).shape, (Shape{2, 2, 60, 1}));
  EXPECT_EQ(OutputOf(g).shape, (Shape{2, 4, 5, 6}));
}

TEST(ImportNorm, OthersBecomeTheirOperatorOrTheirFormula) {
  const Graph lrn = OneNode(13, {1, 8, 4, 4}, "LRN", {"x"}, {{"size", 3}, {"bias", 2.0f}}).Import();
  EXPECT_EQ(std::get<Lrn>(lrn.nodes()[0].op).size, 3);
  EXPECT_EQ(std::get<Lrn>(lrn.nodes()[0].op).bias, 2.0f);
  EXPECT_EQ(std::get<Lrn>(lrn.nodes()[0].op).axis, 1);
  auto instance = OneNode(13, {2, 3, 4, 5}, "InstanceNormalization", {"x", "s", "b"});
  instance.Floats("s", {3}).Floats("b", {3});
  EXPECT_EQ(OpsOf(instance.Import()), "InstanceNorm");
  auto rms = OneNode(23, {2, 3}, "RMSNormalization", {"x", "s"});
  rms.Floats("s", {3});
  EXPECT_EQ(OpsOf(rms.Import()), "RMSNorm");
  EXPECT_EQ(OpsOf(OneNode(13, {2, 3, 4, 5}, "MeanVarianceNormalization", {"x"}).Import()),
            "ReduceMean Sub Square ReduceMean Sqrt Add Div");
  EXPECT_EQ(OpsOf(OneNode(13, {2, 3}, "LpNormalization", {"x"}).Import()), "ReduceL2 Max Div");
}

}  // namespace
}  // namespace rshift
