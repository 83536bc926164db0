#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::Elements;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

const Value& InputOf(const Graph& g, int node, int i) {
  return g.value(g.nodes().at(node).inputs.at(i));
}

TEST(ImportGemm, FoldsTransposeAlphaAndBeta) {
  auto b = OneNode(13, {2, 3}, "Gemm", {"x", "w", "c"},
                   {{"transB", 1}, {"alpha", 0.5f}, {"beta", 2.0f}});
  b.Floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}).Floats("c", {2}, {10, 20});
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "MatMul");
  EXPECT_EQ(InputOf(g, 0, 1).shape, (Shape{3, 2}));
  EXPECT_THAT(Elements<float>(InputOf(g, 0, 1)), ElementsAre(0.5, 2, 1, 2.5, 1.5, 3));
  EXPECT_THAT(Elements<float>(InputOf(g, 0, 2)), ElementsAre(20, 40));
}

TEST(ImportGemm, EveryShapeOfCWorks) {
  const auto import = [](const Shape& c) {
    auto b = OneNode(13, {4, 3}, "Gemm", {"x", "w", "c"});
    b.Floats("w", {3, 2}).Floats("c", c);
    return b.Import();
  };
  for (const Shape& c : {Shape{}, Shape{1}, Shape{2}, Shape{1, 2}, Shape{1, 1}}) {
    const Graph g = import(c);
    EXPECT_EQ(OpsOf(g), "MatMul") << ToString(c);
    EXPECT_EQ(InputOf(g, 0, 2).shape, Shape{2}) << ToString(c);
    EXPECT_THAT(Elements<float>(InputOf(g, 0, 2)), ElementsAre(0.5, 0.5));
  }
  EXPECT_EQ(OpsOf(import({4, 2})), "MatMul Add");
  EXPECT_EQ(OpsOf(import({4, 1})), "MatMul Add");
  auto wrong = OneNode(13, {4, 3}, "Gemm", {"x", "w", "c"});
  wrong.Floats("w", {3, 2}).Floats("c", {3});
  EXPECT_THAT(wrong.ImportError(), HasSubstr("do not broadcast"));
}

TEST(ImportGemm, ComputedOperandsKeepTheirNodes) {
  auto b = OneNode(13, {3, 4}, "Gemm", {"x", "v"}, {{"transA", 1}, {"alpha", 2.0f}});
  b.Input("v", {3, 5});
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Transpose MatMul Mul");
  EXPECT_EQ(OutputOf(g).shape, (Shape{4, 5}));
}

TEST(ImportMatMul, BroadcastsAndAcceptsVectors) {
  const auto shape = [](const Shape& a, const Shape& w) {
    auto b = OneNode(13, a, "MatMul", {"x", "w"});
    b.Floats("w", w);
    return OutputOf(b.Import()).shape;
  };
  EXPECT_EQ(shape({5, 1, 2, 3}, {4, 3, 6}), (Shape{5, 4, 2, 6}));
  EXPECT_EQ(shape({3}, {3, 6}), (Shape{6}));
  EXPECT_EQ(shape({2, 3}, {3}), (Shape{2}));
  EXPECT_EQ(shape({3}, {3}), (Shape{}));
  auto wrong = OneNode(13, {2, 3}, "MatMul", {"x", "w"});
  wrong.Floats("w", {4, 2});
  EXPECT_THAT(wrong.ImportError(), HasSubstr("inner dimensions 3 and 4 differ"));
}

}  // namespace
}  // namespace rshift
