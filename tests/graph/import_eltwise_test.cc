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

TEST(ImportEltwise, EveryBinaryOperator) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod", "Equal", "Less",
                         "LessOrEqual", "Greater", "GreaterOrEqual"}) {
    auto b = OneNode(16, {2, 1, 4}, op, {"x", "c"}, {{"fmod", 1}});
    b.Floats("c", {3, 1});
    const Graph g = b.Import();
    EXPECT_EQ(OpsOf(g), op);
    EXPECT_EQ(OutputOf(g).shape, (Shape{2, 3, 4})) << op;
    const bool compares = kResultIsBool[static_cast<size_t>(std::get<Binary>(g.nodes()[0].op).op)];
    EXPECT_EQ(OutputOf(g).dtype, compares ? DType::kBool : DType::kF32) << op;
  }
}

TEST(ImportEltwise, OldBroadcastPlacesTheSecondInputAtAxis) {
  auto b = OneNode(6, {2, 3, 4, 5}, "Add", {"x", "c"}, {{"broadcast", 1}, {"axis", 1}});
  b.Floats("c", {3, 4});
  const Graph g = b.Import();
  EXPECT_EQ(g.value(g.nodes()[0].inputs[1]).shape, (Shape{3, 4, 1}));
  EXPECT_EQ(OutputOf(g).shape, (Shape{2, 3, 4, 5}));
}

TEST(ImportEltwise, VariadicOperatorsAreChainsFromTheLeft) {
  ModelBuilder b(13);
  b.Input("p", {2}).Input("q", {2}).Input("r", {2});
  b.Node("Sum", {"p", "q", "r"}, {"s"}).Node("Max", {"s"}, {"m"}).Node("Mean", {"m", "p"}, {"y"});
  b.Output("y");
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Add Add Identity Add Div");
  EXPECT_EQ(g.value(g.nodes()[0].inputs[0]).name, "p");
  EXPECT_EQ(g.value(g.nodes()[0].inputs[1]).name, "q");
  EXPECT_EQ(g.value(g.nodes()[1].inputs[1]).name, "r");
  EXPECT_EQ(g.value(g.nodes()[1].outputs[0]).name, "s");
}

TEST(ImportEltwise, LogicalOperatorsAndWhere) {
  ModelBuilder b(13);
  b.Input("p", {2, 1}, onnx::TensorProto::BOOL).Input("q", {3}, onnx::TensorProto::BOOL);
  b.Floats("a", {1}).Floats("c", {});
  b.Node("And", {"p", "q"}, {"and"})
      .Node("Or", {"and", "q"}, {"or"})
      .Node("Xor", {"or", "q"}, {"xor"});
  b.Node("Not", {"xor"}, {"not"}).Node("Where", {"not", "a", "c"}, {"y"}).Output("y");
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "And Or Xor Not Where");
  EXPECT_EQ(OutputOf(g).shape, (Shape{2, 3}));
  EXPECT_EQ(OutputOf(g).dtype, DType::kF32);
}

TEST(ImportEltwise, PowTakesTheTypeOfItsBase) {
  auto b = OneNode(13, {2}, "Pow", {"x", "e"});
  b.Ints("e", {}, {2});
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Pow");
  EXPECT_EQ(g.value(g.nodes()[0].inputs[1]).dtype, DType::kF32);
}

TEST(ImportEltwise, MixedTypesAndShapesAreRefused) {
  auto types = OneNode(13, {2}, "Add", {"x", "c"});
  types.Ints("c", {2}, {1, 2});
  EXPECT_THAT(types.ImportError(), HasSubstr("inputs 'x' and 'c' have types f32 and s64"));
  auto shapes = OneNode(13, {2}, "Add", {"x", "c"});
  shapes.Floats("c", {3});
  EXPECT_THAT(shapes.ImportError(), HasSubstr("y (Add): shapes 2 and 3 do not broadcast"));
}

TEST(ImportEltwise, CastToHalfAndDoubleStaysF32) {
  for (int to :
       {onnx::TensorProto::FLOAT16, onnx::TensorProto::DOUBLE, onnx::TensorProto::BFLOAT16}) {
    const Graph g = OneNode(13, {2}, "Cast", {"x"}, {{"to", to}}).Import();
    EXPECT_EQ(OutputOf(g).dtype, DType::kF32);
  }
  const Graph g = OneNode(13, {2}, "Cast", {"x"}, {{"to", int{onnx::TensorProto::INT32}}}).Import();
  EXPECT_EQ(OutputOf(g).dtype, DType::kS32);
  EXPECT_THAT(
      OneNode(13, {2}, "Cast", {"x"}, {{"to", int{onnx::TensorProto::STRING}}}).ImportError(),
      HasSubstr("element type STRING is not supported"));
}

}  // namespace
}  // namespace rshift
