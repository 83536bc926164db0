#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

TEST(ImportReduce, EveryReduction) {
  for (const char* op :
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum"}) {
    const Graph g =
        OneNode(11, {2, 3, 4}, op, {"x"}, {{"axes", {-1, 0}}, {"keepdims", 0}}).Import();
    EXPECT_EQ(OpsOf(g), op);
    EXPECT_EQ(OutputOf(g).shape, (Shape{3}));
    EXPECT_THAT(std::get<Reduce>(g.nodes()[0].op).axes, ElementsAre(0, 2));
  }
}

TEST(ImportReduce, AxesAsInputOrAbsent) {
  auto input = OneNode(18, {2, 3, 4}, "ReduceMean", {"x", "a"});
  input.Ints("a", {1}, {1});
  EXPECT_EQ(OutputOf(input.Import()).shape, (Shape{2, 1, 4}));
  EXPECT_EQ(OutputOf(OneNode(13, {2, 3}, "ReduceMax", {"x"}).Import()).shape, (Shape{1, 1}));
  auto noop = OneNode(18, {2, 3}, "ReduceSum", {"x"}, {{"noop_with_empty_axes", 1}});
  EXPECT_EQ(OutputOf(noop.Import()).shape, (Shape{2, 3}));
  EXPECT_THAT(OneNode(11, {2, 3}, "ReduceSum", {"x"}, {{"axes", {2}}}).ImportError(),
              HasSubstr("axis 2 is outside [-2, 2)"));
}

TEST(ImportReduce, ArgMaxGivesIndices) {
  const Graph g = OneNode(12, {2, 3, 4}, "ArgMax", {"x"},
                          {{"axis", -2}, {"keepdims", 0}, {"select_last_index", 1}})
                      .Import();
  EXPECT_EQ(OutputOf(g).shape, (Shape{2, 4}));
  EXPECT_EQ(OutputOf(g).dtype, DType::kS64);
  EXPECT_EQ(std::get<ArgMax>(g.nodes()[0].op).axis, 1);
  EXPECT_TRUE(std::get<ArgMax>(g.nodes()[0].op).select_last_index);
  EXPECT_EQ(OpsOf(OneNode(12, {2, 3}, "ArgMin", {"x"}).Import()), "ArgMin");
}

}  // namespace
}  // namespace rshift
