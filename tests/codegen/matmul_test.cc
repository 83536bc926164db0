#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

TEST(LowerQMatMul, PacksColumnsAsOutputChannels) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedPlain({2, 3}, {0.5f, 0}));
  const ValueId w = test.S8("w", {3, 2}, {1, 2, 3, 4, 5, 6});  // columns 1 3 5 and 2 4 6
  QMatMul op;
  op.channels = {{1, 1 << 30, 31}, {2, 1 << 30, 32}};
  op.clamp = {0, 127};
  test.Output(test.Node("y", QuantizedPlain({2, 2}, {0.25f, 0}), op, {x, w}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kMatMul});
  const std::vector<int8_t> columns = {1, 3, 5, 2, 4, 6};
  EXPECT_EQ(ConstantOf<int8_t>(image, image.commands[0], Field::kWeights),
            PackConvWeights({1, 2, 3, 1}, columns));
  const auto records = ConstantOf<ChannelRequant>(image, image.commands[0], Field::kRequant);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].rshift, 32);
  EXPECT_EQ(image.commands[0].Get(Field::kClampLoQ), 0);
}

TEST(LowerQMatMul, RefusesWeightsOfAnotherDepth) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedPlain({2, 4}, {0.5f, 0}));
  const ValueId w = test.S8("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  QMatMul op;
  op.channels.resize(2);
  test.Output(test.Node("y", QuantizedPlain({2, 2}, {0.25f, 0}), op, {x, w}));
  CompileError(test, ErrorCode::kInternal);
}

TEST(LowerMatMul, OperandsBiasAndClamp) {
  TestGraph test;
  const ValueId a = test.Input("a", F32({5, 2, 3}));
  const ValueId b = test.Input("b", F32({5, 3, 4}));
  const ValueId bias = test.Floats("bias", {4}, {1, 2, 3, 4});
  const ValueId y = test.Node("y", F32({5, 2, 4}), MatMul{}, {a, b});
  test.Output(test.Node("z", F32({5, 2, 4}), MatMul{.clamp = {0.0f, 1.0f}}, {a, b, bias}))
      .Output(y);
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kMatMulF32, Opcode::kMatMulF32}));
  EXPECT_EQ(image.commands[0].Tensor(Field::kSrc3), -1);
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kSrc3).name, "bias");
  EXPECT_EQ(image.commands[1].GetFloat(Field::kClampHiF), 1.0f);
}

}  // namespace
}  // namespace rshift
