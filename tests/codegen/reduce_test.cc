#include <gtest/gtest.h>

#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

TEST(LowerReduce, FunctionAndAxes) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({2, 3, 4}));
  test.Output(test.Node("y", F32({2}), Reduce{ReduceOp::kMax, {1, -1}}, {x}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kReduceF32});
  EXPECT_EQ(image.commands[0].Get(Field::kMode), 2);
  EXPECT_EQ(ListOf(image, image.commands[0], Field::kList), (std::vector<int64_t>{1, 2}));
}

TestGraph ReducedIntegers(ReduceOp op, DType type) {
  TestGraph test;
  const ValueId x = test.Input("x", {{2, 3}, type, Layout::kPlain, std::nullopt});
  test.Output(test.Node("y", {{2}, type, Layout::kPlain, std::nullopt}, Reduce{op, {1}}, {x}));
  return test;
}

TEST(LowerReduce, SumsAndExtremesOfIntegersAreReduced) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax, ReduceOp::kProd}) {
    for (const DType type : {DType::kS32, DType::kS64}) {
      TestGraph test = ReducedIntegers(op, type);
      EXPECT_EQ(OpcodesOf(CompileChecked(test)), std::vector{Opcode::kReduceF32});
    }
  }
  TestGraph any = ReducedIntegers(ReduceOp::kMax, DType::kBool);
  EXPECT_EQ(OpcodesOf(CompileChecked(any)), std::vector{Opcode::kReduceF32});
}

TEST(LowerReduce, RefusesRootsOfIntegersAndSumsOfBool) {
  TestGraph root = ReducedIntegers(ReduceOp::kL2, DType::kS64);
  EXPECT_EQ(CompileError(root, ErrorCode::kUnsupported),
            "y_node (ReduceL2): input 'x' has elements of type s64, expected f32");
  TestGraph sum = ReducedIntegers(ReduceOp::kSum, DType::kBool);
  EXPECT_EQ(CompileError(sum, ErrorCode::kUnsupported),
            "y_node (ReduceSum): input 'x' has elements of type bool, expected f32 or s32 or s64");
}

TEST(LowerArgMax, FlagsTellMinimumAndLastIndex) {
  for (int flags = 0; flags < 4; ++flags) {
    TestGraph test;
    const ValueId x = test.Input("x", F32({2, 3}));
    const ArgMax op{.axis = 1, .min = (flags & 1) != 0, .select_last_index = (flags & 2) != 0};
    test.Output(test.Node("y", {{2, 1}, DType::kS64, Layout::kPlain, std::nullopt}, op, {x}));
    const Command command = CompileChecked(test).commands[0];
    EXPECT_EQ(command.opcode, Opcode::kArgMax);
    EXPECT_EQ(command.Get(Field::kAxis), 1);
    EXPECT_EQ(command.Get(Field::kFlags), flags);
  }
}

}  // namespace
}  // namespace rshift
