#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

const Kind kQ = QuantizedNhwc({1, 2, 2, 3}, {0.5f, 1});
const Kind kF = Nhwc({1, 2, 2, 3});

ProgramImage CompileUnary(Op op, const Kind& kind) {
  TestGraph test;
  const ValueId x = test.Input("x", kind);
  test.Output(test.Node("y", kind, std::move(op), {x}));
  return CompileChecked(test);
}

TEST(LowerClip, Bounds) {
  const Command command = CompileUnary(Clip{{0.0f, 6.0f}}, F32({4})).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kClipF32);
  EXPECT_EQ(command.GetFloat(Field::kClampLoF), 0.0f);
  EXPECT_EQ(command.GetFloat(Field::kClampHiF), 6.0f);
}

TEST(LowerLeakyRelu, Slope) {
  const Command command = CompileUnary(LeakyRelu{0.1f}, F32({4})).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kLeakyReluF32);
  EXPECT_EQ(command.GetFloat(Field::kAlphaF), 0.1f);
}

TEST(LowerUnary, FunctionAndParameters) {
  const Command command =
      CompileUnary(Unary{UnaryOp::kHardSigmoid, 0.2f, 0.5f}, F32({4})).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kUnaryF32);
  EXPECT_EQ(command.Get(Field::kMode), 2);
  EXPECT_EQ(command.GetFloat(Field::kAlphaF), 0.2f);
  EXPECT_EQ(command.GetFloat(Field::kBetaF), 0.5f);
}

TEST(LowerPRelu, SlopesAreAnOperand) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 2, 2, 3}));
  const ValueId slope = test.Floats("slope", {3}, {1, 2, 3});
  test.Output(test.Node("y", Nhwc({1, 2, 2, 3}), PRelu{}, {x, slope}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kPReluF32});
  EXPECT_EQ(ConstantOf<float>(image, image.commands[0], Field::kSrc2),
            (std::vector<float>{1, 2, 3}));
}

TEST(LowerQLeakyRelu, BothSides) {
  const Command command = CompileUnary(isa::LeakyRelu{-50, 9, {70, 6}, {-20, 30}}, kQ).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kLeakyRelu);
  EXPECT_EQ(command.Get(Field::kMultiplier), -50);
  EXPECT_EQ(command.Get(Field::kRshift), 9);
  EXPECT_EQ(command.Get(Field::kMultiplier2), 70);
  EXPECT_EQ(command.Get(Field::kRshift2), 6);
  EXPECT_EQ(command.Get(Field::kClampLoQ), -20);
  EXPECT_EQ(command.Get(Field::kClampHiQ), 30);
}

TEST(LowerQPRelu, SlopesAreConstantBytes) {
  const ProgramImage image = CompileUnary(QPRelu{{7, {}}, {-1, 2, 3}}, kQ);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kPRelu});
  EXPECT_EQ(ConstantOf<int8_t>(image, image.commands[0], Field::kSrc2),
            (std::vector<int8_t>{-1, 2, 3}));
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc2).dtype, DType::kS8);
  EXPECT_EQ(image.commands[0].Get(Field::kRshift), 7);
  EXPECT_NO_THROW(CompileUnary(QPRelu{{7, {}}, {5}}, kQ));
  EXPECT_THROW(CompileUnary(QPRelu{{7, {}}, {5, 6}}, kQ), Error);
}

TEST(LowerQTable, TheTableIsAConstant) {
  QTable op;
  for (int i = 0; i < 256; ++i) op.entries[i] = static_cast<uint8_t>(255 - i);
  const ProgramImage image = CompileUnary(op, kQ);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kTable});
  EXPECT_EQ(ConstantOf<uint8_t>(image, image.commands[0], Field::kTable),
            std::vector<uint8_t>(op.entries.begin(), op.entries.end()));
}

TEST(LowerQChannelTables, TablesAndTheirNumbersAreConstants) {
  QChannelTables op;
  for (int i = 0; i < 512; ++i) op.entries.push_back(static_cast<uint8_t>(511 - i));
  op.table_of_channel = {1, 0, 1};
  const ProgramImage image = CompileUnary(op, kQ);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kChannelTables});
  EXPECT_EQ(ConstantOf<uint8_t>(image, image.commands[0], Field::kTable), op.entries);
  EXPECT_EQ(ConstantOf<uint8_t>(image, image.commands[0], Field::kSrc2), op.table_of_channel);
  op.table_of_channel = {1, 0};
  EXPECT_THROW(CompileUnary(op, kQ), Error);
}

TEST(LowerUnary, ScalesOfChannelsAreProductsAroundTheFunction) {
  Unary op(UnaryOp::kSilu);
  op.input_exponents = {3, 0, -2};
  op.output_exponents = {1, -1, 0};
  const ProgramImage image = CompileUnary(op, kF);
  ASSERT_EQ(OpcodesOf(image),
            (std::vector{Opcode::kBinaryF32, Opcode::kUnaryF32, Opcode::kBinaryF32}));
  EXPECT_EQ(ConstantOf<float>(image, image.commands[0], Field::kSrc2),
            (std::vector<float>{8, 1, 0.25f}));
  EXPECT_EQ(ConstantOf<float>(image, image.commands[2], Field::kSrc2),
            (std::vector<float>{0.5f, 2, 1}));
}

}  // namespace
}  // namespace rshift
