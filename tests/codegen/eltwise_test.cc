#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

TEST(LowerBinary, FunctionAndClamp) {
  TestGraph test;
  const ValueId a = test.Input("a", F32({2, 3}));
  const ValueId b = test.Floats("b", {3}, {1, 2, 3});
  const ValueId y = test.Node("y", F32({2, 3}), Binary{BinaryOp::kMul, {}}, {a, b});
  test.Output(test.Node("z", F32({2, 3}), Binary{BinaryOp::kAdd, {0.0f, 6.0f}}, {y, b}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kBinaryF32, Opcode::kBinaryF32}));
  EXPECT_EQ(image.commands[0].Get(Field::kMode), 2);
  EXPECT_EQ(image.commands[0].GetFloat(Field::kClampLoF), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(image.commands[1].GetFloat(Field::kClampHiF), 6.0f);
  EXPECT_EQ(image.commands[0].Tensor(Field::kSrc2), image.commands[1].Tensor(Field::kSrc2));
}

TEST(LowerWhere, ThreeOperands) {
  TestGraph test;
  const ValueId c = test.Input("c", {{2, 1}, DType::kBool, Layout::kPlain, std::nullopt});
  const ValueId a = test.Input("a", F32({2, 3}));
  const ValueId b = test.Input("b", F32({3}));
  test.Output(test.Node("y", F32({2, 3}), Where{}, {c, a, b}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kWhere});
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc).name, "c");
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc2).name, "a");
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc3).name, "b");
}

isa::Add SymmetricAdd() { return {100, -200, 12, {-128, 100}}; }

TEST(LowerQAdd, SymmetricByMultipliers) {
  TestGraph test;
  const ValueId a = test.Input("a", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 0}));
  const ValueId b = test.Input("b", QuantizedNhwc({1, 2, 2, 3}, {0.25f, 0}));
  test.Output(test.Node("y", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 0}), SymmetricAdd(), {a, b}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kAdd});
  EXPECT_EQ(image.commands[0].Get(Field::kMultiplier), 100);
  EXPECT_EQ(image.commands[0].Get(Field::kMultiplier2), -200);
  EXPECT_EQ(image.commands[0].Get(Field::kRshift), 12);
  EXPECT_EQ(image.commands[0].Get(Field::kClampHiQ), 100);
}

TEST(LowerQAdd, AsymmetricByFloat) {
  TestGraph test;
  const ValueId a = test.Input("a", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 5}));
  test.Output(test.Node("y", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 1}),
                        isa::AddFloat{.clamp = {-128, 127}}, {a, a}));
  EXPECT_EQ(OpcodesOf(CompileChecked(test)), std::vector{Opcode::kAddFloat});
}

TEST(LowerQAdd, ASmallerOperandIsBroadcastFirst) {
  TestGraph test;
  const ValueId a = test.Input("a", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 0}));
  const ValueId b = test.Input("b", QuantizedNhwc({1, 1, 1, 3}, {0.25f, 0}));
  test.Output(test.Node("y", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 0}), SymmetricAdd(), {a, b}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kExpand, Opcode::kAdd}));
  const TensorRecord& expanded = RecordOf(image, image.commands[1], Field::kSrc2);
  EXPECT_EQ(expanded.shape, (Shape{1, 2, 2, 3}));
  EXPECT_EQ(expanded.scale, 0.25f);
  EXPECT_EQ(image.commands[0].Tensor(Field::kDst), image.commands[1].Tensor(Field::kSrc2));
}

TEST(LowerQAdd, ASmallerConstantIsStoredAsItIs) {
  TestGraph test;
  const ValueId a = test.Input("a", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 0}));
  const ValueId c = test.S8("c", {1, 1, 1, 3}, {1, -2, 3});
  test.Output(test.Node("y", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 0}), SymmetricAdd(), {c, a}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kAdd});
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc).shape, (Shape{1, 1, 1, 3}));
  EXPECT_EQ(ConstantOf<int8_t>(image, image.commands[0], Field::kSrc),
            (std::vector<int8_t>{1, -2, 3}));
}

TEST(LowerQAdd, OfTwoSmallerConstantsOneIsExpanded) {
  TestGraph test;
  const ValueId a = test.S8("a", {1, 2, 1, 1}, {4, 5});
  const ValueId c = test.S8("c", {1, 1, 1, 3}, {1, -2, 3});
  test.Output(test.Node("y", QuantizedNhwc({1, 2, 1, 3}, {0.5f, 0}), SymmetricAdd(), {a, c}));
  EXPECT_EQ(OpcodesOf(CompileChecked(test)),
            (std::vector{Opcode::kExpand, Opcode::kExpand, Opcode::kAdd}));
}

// a, b, y of one shape.
Command Lowered(const Op& op) {
  TestGraph test;
  const ValueId a = test.Input("a", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 5}));
  const ValueId b = test.Input("b", QuantizedNhwc({1, 2, 2, 3}, {0.25f, -7}));
  test.Output(test.Node("y", QuantizedNhwc({1, 2, 2, 3}, {0.5f, 1}), op, {a, b}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(image.commands.size(), 1u);
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc2).name, "b");
  EXPECT_EQ(image.commands[0].Get(Field::kClampLoQ), -9);
  EXPECT_EQ(image.commands[0].Get(Field::kClampHiQ), 9);
  return image.commands[0];
}

TEST(LowerQAdd, CarriesItsRounding) {
  isa::Add add{100, -200, 35, {-9, 9}};
  add.rounding = Rounding::kHalfAway;
  const Command command = Lowered(add);
  EXPECT_EQ(command.Get(Field::kRounding), static_cast<int64_t>(Rounding::kHalfAway));
  EXPECT_EQ(command.Get(Field::kRshift), 35);
}

TEST(LowerQAddShifted, ThreePairsAndTheBlocks) {
  const Command command = Lowered(isa::AddShifted{.words = {1 << 30, 32},
                                                  .words2 = {(1 << 30) + 1, 33},
                                                  .words3 = {(1 << 30) + 2, 50},
                                                  .left_shift = 19,
                                                  .clamp = {-9, 9},
                                                  .rounding = Rounding::kTwoStep,
                                                  .blocks = AddBlocks::kEight});
  EXPECT_EQ(command.opcode, Opcode::kAddShifted);
  EXPECT_EQ(command.Get(Field::kCount), 19);
  EXPECT_EQ(command.Get(Field::kMultiplier), 1 << 30);
  EXPECT_EQ(command.Get(Field::kRshift), 32);
  EXPECT_EQ(command.Get(Field::kMultiplier2), (1 << 30) + 1);
  EXPECT_EQ(command.Get(Field::kRshift2), 33);
  EXPECT_EQ(command.Get(Field::kMultiplier3), (1 << 30) + 2);
  EXPECT_EQ(command.Get(Field::kRshift3), 50);
  EXPECT_EQ(command.Get(Field::kRounding), static_cast<int64_t>(Rounding::kTwoStep));
  EXPECT_EQ(command.Get(Field::kMode), 2);
}

TEST(LowerQAddFma, RatiosAndTheConstant) {
  const Command command = Lowered(isa::AddFma{0.5f, 0.25f, -12.5f, {-9, 9}});
  EXPECT_EQ(command.opcode, Opcode::kAddFma);
  EXPECT_EQ(command.GetFloat(Field::kScaleF), 0.5f);
  EXPECT_EQ(command.GetFloat(Field::kAlphaF), 0.25f);
  EXPECT_EQ(command.GetFloat(Field::kOffsetF), -12.5f);
}

TEST(LowerQMul, FactorAndRounding) {
  const Command command =
      Lowered(isa::Mul{{std::bit_cast<int32_t>(0.125f), 0}, {-9, 9}, Rounding::kFloatEven});
  EXPECT_EQ(command.opcode, Opcode::kMul);
  EXPECT_EQ(command.Get(Field::kMultiplier), std::bit_cast<int32_t>(0.125f));
  EXPECT_EQ(command.Get(Field::kRshift), 0);
  EXPECT_EQ(command.Get(Field::kRounding), static_cast<int64_t>(Rounding::kFloatEven));
}

}  // namespace
}  // namespace rshift
