#include "tools/classes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tools/runner_data.h"

namespace rshift {
namespace {

TEST(BestClassesTest, BestFirstTiesToTheLowerClassNanLast) {
  const std::vector<float> scores = {0.5f, std::nanf(""), 2, -HUGE_VALF, 2, 0.5f, 7};
  std::vector<int64_t> order;
  for (const RankedClass& one : BestClasses(scores, 10)) order.push_back(one.index);
  EXPECT_EQ(order, (std::vector<int64_t>{6, 2, 4, 0, 5, 3, 1}));
  EXPECT_EQ(BestClasses(scores, 2).size(), 2u);
  EXPECT_TRUE(BestClasses({}, 5).empty());
}

TEST(BestClassesTest, OnlyOneScorePerClassIsAClassifiersOutput) {
  for (const Shape& shape : {Shape{1, 10}, Shape{10}, Shape{1, 1000, 1, 1}}) {
    EXPECT_TRUE(HoldsClassScores(shape)) << ToString(shape);
  }
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{1, 1}, Shape{8, 10}, Shape{1, 3, 4, 4}, Shape{0}}) {
    EXPECT_FALSE(HoldsClassScores(shape)) << ToString(shape);
  }
}

ProgramImage WithShapes(const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  ProgramImage image;
  const auto add = [&](const Shape& shape, std::vector<Binding>& bindings) {
    bindings.push_back({"t", static_cast<int32_t>(image.tensors.size())});
    image.tensors.emplace_back();
    image.tensors.back().shape = shape;
  };
  for (const Shape& shape : inputs) add(shape, image.inputs);
  for (const Shape& shape : outputs) add(shape, image.outputs);
  return image;
}

TEST(BatchOfTest, IsTheFirstDimensionThatAllShare) {
  EXPECT_EQ(BatchOf(WithShapes({{8, 3, 4, 4}}, {{8, 10}})), 8);
  EXPECT_EQ(BatchOf(WithShapes({{8, 3, 4, 4}, {8, 2}}, {{8, 10}, {8, 1}})), 8);
  EXPECT_EQ(BatchOf(WithShapes({{8, 3, 4, 4}}, {{1, 10}})), 1);
  EXPECT_EQ(BatchOf(WithShapes({{8}}, {{8}})), 1);
  EXPECT_EQ(BatchOf(WithShapes({}, {})), 1);
}

}  // namespace
}  // namespace rshift
