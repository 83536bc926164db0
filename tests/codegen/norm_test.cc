#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

TEST(LowerSoftmax, AxisCountsFromTheEndToo) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({2, 3, 4}));
  const ValueId y = test.Node("y", F32({2, 3, 4}), Softmax{.axis = -1}, {x});
  test.Output(test.Node("z", F32({2, 3, 4}), Softmax{.axis = 1, .log = true}, {y}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kSoftmaxF32, Opcode::kSoftmaxF32}));
  EXPECT_EQ(image.commands[0].Get(Field::kAxis), 2);
  EXPECT_EQ(image.commands[0].Get(Field::kFlags), 0);
  EXPECT_EQ(image.commands[1].Get(Field::kAxis), 1);
  EXPECT_EQ(image.commands[1].Get(Field::kFlags), 1);
}

TEST(LowerSoftmax, RefusesAnAxisThatIsNotThere) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({2, 3}));
  test.Output(test.Node("y", F32({2, 3}), Softmax{.axis = 2}, {x}));
  EXPECT_THAT(CompileError(test, ErrorCode::kInvalidInput), HasSubstr("axis is 2"));
}

TEST(LowerLayerNorm, BiasIsOptional) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({2, 3}));
  const ValueId scale = test.Floats("scale", {3}, {1, 2, 3});
  test.Output(test.Node("y", F32({2, 3}), LayerNorm{.axis = -1, .epsilon = 0.5f}, {x, scale}));
  const Command command = CompileChecked(test).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kLayerNormF32);
  EXPECT_EQ(command.Tensor(Field::kSrc3), -1);
  EXPECT_EQ(command.Get(Field::kAxis), 1);
  EXPECT_EQ(command.GetFloat(Field::kEpsilonF), 0.5f);
}

TEST(LowerLrn, Parameters) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 2, 2, 8}));
  test.Output(test.Node("y", Nhwc({1, 2, 2, 8}),
                        Lrn{.size = 3, .alpha = 0.1f, .beta = 0.6f, .bias = 2.0f, .axis = 3}, {x}));
  const Command command = CompileChecked(test).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kLrnF32);
  EXPECT_EQ(command.Get(Field::kCount), 3);
  EXPECT_EQ(command.Get(Field::kAxis), 3);
  EXPECT_EQ(command.GetFloat(Field::kAlphaF), 0.1f);
  EXPECT_EQ(command.GetFloat(Field::kBetaF), 0.6f);
  EXPECT_EQ(command.GetFloat(Field::kBiasF), 2.0f);
}

TEST(LowerInstanceNorm, Operands) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 2, 2, 2}));
  const ValueId scale = test.Floats("scale", {2}, {1, 2});
  const ValueId bias = test.Floats("bias", {2}, {3, 4});
  test.Output(test.Node("y", Nhwc({1, 2, 2, 2}), InstanceNorm{0.25f}, {x, scale, bias}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kInstanceNormF32});
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc3).name, "bias");
  EXPECT_EQ(image.commands[0].GetFloat(Field::kEpsilonF), 0.25f);
}

TEST(LowerBatchNorm, IsRefusedByNameWithAdvice) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 2, 2, 1}));
  const ValueId one = test.Floats("one", {1}, {1});
  test.Output(test.Node("y", Nhwc({1, 2, 2, 1}), BatchNorm{}, {x, one, one, one, one}));
  EXPECT_THAT(CompileError(test, ErrorCode::kUnsupported), HasSubstr("y_node"));
}

TEST(LowerQSoftmax, TableArithmeticAndClamp) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedPlain({2, 5}, {0.5f, 3}));
  QSoftmax op;
  op.arithmetic = SoftmaxArithmetic::kFloatQuotient;
  for (int d = 0; d < 256; ++d) op.entries[d] = 1000 - d;
  op.clamp = {-100, 120};
  test.Output(test.Node("y", QuantizedPlain({2, 5}, {1.0f / 256, -128}), op, {x}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kSoftmax});
  EXPECT_EQ(ConstantOf<int32_t>(image, image.commands[0], Field::kTable),
            std::vector<int32_t>(op.entries.begin(), op.entries.end()));
  EXPECT_EQ(image.commands[0].Get(Field::kMode), 2);
  EXPECT_EQ(image.commands[0].Get(Field::kClampLoQ), -100);
  EXPECT_EQ(image.commands[0].Get(Field::kClampHiQ), 120);
}

TEST(LowerQNormalize, NumbersBecomeConstants) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedPlain({2, 3}, {0.5f, 3}));
  QNormalize op;
  op.axis = 1;
  op.center = true;
  op.epsilon = 77;
  op.variance_shift = 6;
  op.rshift = 40;
  op.clamp = {-100, 120};
  op.row_factors = {1, -2, 3};
  op.row_offsets = {4, 5, int64_t{-6} << 40};
  test.Output(test.Node("y", QuantizedPlain({2, 3}, {1.0f, 0}), op, {x}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kNormalize});
  const Command& command = image.commands[0];
  EXPECT_EQ(ConstantOf<int32_t>(image, command, Field::kSrc2), op.row_factors);
  EXPECT_EQ(ConstantOf<int64_t>(image, command, Field::kList), op.row_offsets);
  EXPECT_EQ(command.Get(Field::kOffset), 77);
  EXPECT_EQ(command.Get(Field::kRshift), 6);
  EXPECT_EQ(command.Get(Field::kRshift2), 40);
  EXPECT_EQ(command.Get(Field::kFlags), 1);
}

}  // namespace
}  // namespace rshift
