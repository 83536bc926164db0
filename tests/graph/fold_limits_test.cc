// A file of a few hundred bytes cannot make the importer work or allocate without bound.
#include <gtest/gtest.h>

#include "graph/fold/limits.h"
#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::ModelBuilder;
using testing::OpsOf;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Each Concat of a tensor with itself doubles it; `x` is only there to be an input.
ModelBuilder Doubling(int nodes) {
  ModelBuilder b(13);
  b.Input("x", {1}).Floats("c0", {64});
  for (int i = 0; i < nodes; ++i) {
    const std::string in = "c" + std::to_string(i);
    b.Node("Concat", {in, in}, {"c" + std::to_string(i + 1)}, {{"axis", 0}});
  }
  b.Node("Slice", {"c" + std::to_string(nodes), "zero", "one"}, {"first"});
  b.Ints("zero", {1}, {0}).Ints("one", {1}, {1}).Node("Add", {"x", "first"}, {"y"});
  return b.Output("y");
}

TEST(FoldLimits, ConcatOfAConstantWithItselfStopsAtTheLimitOfOneConstant) {
  EXPECT_EQ(OpsOf(Doubling(14).Import()), "Add");
  const std::string error = Doubling(40).ImportError();
  EXPECT_TRUE(
      Contains(error, "(Concat): its constant result has 268435456 bytes, expected at most"))
      << error;
}

TEST(FoldLimits, AllConstantsTogetherAreLimited) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("size", {1}, {int64_t{1} << 22});
  for (int i = 0; i < 80; ++i) {
    const std::string name = "c" + std::to_string(i);
    b.Node("ConstantOfShape", {"size"}, {name}).Node("Add", {"x", name}, {"y" + name});
    b.Output("y" + name);
  }
  EXPECT_TRUE(Contains(b.ImportError(), "the constant part of the model makes")) << b.ImportError();
}

TEST(FoldLimits, WorkOnConstantsIsLimited) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("size", {1}, {int64_t{1} << 24}).Node("ConstantOfShape", {"size"}, {"c"});
  for (int i = 0; i < 200; ++i) {
    const std::string name = "s" + std::to_string(i);
    b.Node("ReduceSum", {"c"}, {name}).Node("Add", {"x", name}, {"y" + name}).Output("y" + name);
  }
  EXPECT_TRUE(Contains(b.ImportError(), "executing it on its constant inputs takes"))
      << b.ImportError();
}

TEST(FoldLimits, AHugeProductOfConstantsIsLeftToTheProgram) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("size", {2}, {4096, 4096}).Node("ConstantOfShape", {"size"}, {"c"});
  b.Node("MatMul", {"c", "c"}, {"p"}).Node("Add", {"x", "p"}, {"y"}).Output("y");
  EXPECT_EQ(OpsOf(b.Import()), "MatMul Add");
}

TEST(FoldLimits, ASmallProductOfConstantsIsFolded) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("size", {2}, {16, 16}).Node("ConstantOfShape", {"size"}, {"c"});
  b.Node("MatMul", {"c", "c"}, {"p"}).Node("Add", {"x", "p"}, {"y"}).Output("y");
  EXPECT_EQ(OpsOf(b.Import()), "Add");
}

TEST(FoldLimits, ARangeIsMeasuredBeforeItIsMade) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("from", {}, {0}).Ints("to", {}, {int64_t{1} << 40}).Ints("by", {}, {1});
  b.Node("Range", {"from", "to", "by"}, {"r"}).Node("Gather", {"x", "r"}, {"y"}).Output("y");
  EXPECT_TRUE(Contains(b.ImportError(), "(Range): has 1.09951163e+12 elements, expected at most"))
      << b.ImportError();
}

TEST(FoldLimits, LargeWeightsMayBePrepared) {
  FoldBudget budget;
  const int64_t weights = int64_t{1} << 32;
  EXPECT_THROW(FoldBudget(budget).Spend(weights, weights), Error);
  budget.Give(weights);
  for (int i = 0; i < 8; ++i) budget.Spend(weights, weights);  // transposed, converted, ...
  EXPECT_THROW(budget.Spend(weights, weights), Error);
}

}  // namespace
}  // namespace rshift
