#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "base/error.h"
#include "isa/attributes.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ints = std::vector<int64_t>;

constexpr QuantParams kQuant{0.5f, -2};

// x -> clip -> `op` -> clip -> y, so that neither end is a graph input or output.
ProgramImage CompileBetween(const Op& op, const Kind& in, const Kind& out,
                            bool observable = false) {
  TestGraph test;
  const ValueId x = test.Input("x", in);
  const ValueId a = test.Node("a", in, QTable{}, {x});
  const ValueId b = test.Node("b", out, op, {a});
  test.Output(test.Node("y", out, QTable{}, {b}));
  return CompileChecked(test, observable);
}

void ExpectSameBytes(const ProgramImage& image, const std::string& a, const std::string& b) {
  EXPECT_EQ(RecordOf(image, a).offset, RecordOf(image, b).offset);
  EXPECT_EQ(RecordOf(image, a).bytes(), RecordOf(image, b).bytes());
}

TEST(LowerReshape, IsAViewOfTheSameBytes) {
  const ProgramImage image = CompileBetween(Reshape{}, QuantizedNhwc({1, 2, 3, 4}, kQuant),
                                            QuantizedPlain({6, 4}, kQuant));
  EXPECT_EQ(OpcodesOf(image), (std::vector{Opcode::kTable, Opcode::kTable}));
  ExpectSameBytes(image, "a", "b");
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kSrc).shape, (Shape{6, 4}));
}

TEST(LowerReshape, CopiesWhenObserved) {
  const ProgramImage image = CompileBetween(Reshape{}, QuantizedPlain({2, 12}, kQuant),
                                            QuantizedPlain({6, 4}, kQuant), true);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kTable, Opcode::kCopyInto, Opcode::kTable}));
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kDst).name, "b");
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kSrc).shape, (Shape{6, 4}));
  EXPECT_NE(RecordOf(image, "a").offset, RecordOf(image, "b").offset);
}

TEST(LowerTranspose, PermIsAList) {
  const ProgramImage image = CompileBetween(Transpose{{1, 2, 0}}, QuantizedPlain({2, 3, 4}, kQuant),
                                            QuantizedPlain({3, 4, 2}, kQuant));
  ASSERT_EQ(image.commands[1].opcode, Opcode::kTranspose);
  EXPECT_EQ(ListOf(image, image.commands[1], Field::kList), (Ints{1, 2, 0}));
}

TEST(LowerTranspose, IsAViewWhenNothingMoves) {
  const ProgramImage image =
      CompileBetween(Transpose{{0, 3, 1, 2}}, QuantizedNhwc({1, 1, 4, 1}, kQuant),
                     QuantizedPlain({1, 1, 1, 4}, kQuant));
  EXPECT_EQ(image.commands.size(), 2u);
  ExpectSameBytes(image, "a", "b");
}

TEST(LowerConcat, CopiesEachPartToItsPlace) {
  TestGraph test;
  const ValueId a = test.Input("a", QuantizedPlain({2, 3}, kQuant));
  const ValueId b = test.Input("b", QuantizedPlain({2, 0}, kQuant));
  const ValueId c = test.Input("c", QuantizedPlain({2, 4}, kQuant));
  test.Output(test.Node("y", QuantizedPlain({2, 7}, kQuant), Concat{1}, {a, b, c}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), (std::vector{Opcode::kCopyInto, Opcode::kCopyInto}));
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc).name, "a");
  EXPECT_EQ(image.commands[0].Get(Field::kOffset), 0);
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kSrc).name, "c");
  EXPECT_EQ(image.commands[1].Get(Field::kOffset), 3);
  EXPECT_EQ(image.commands[1].Get(Field::kAxis), 1);
}

TEST(LowerSlice, StartsAndSteps) {
  const ProgramImage image = CompileBetween(Slice{{3, 0}, {-2, 1}}, QuantizedPlain({4, 2}, kQuant),
                                            QuantizedPlain({2, 2}, kQuant));
  ASSERT_EQ(image.commands[1].opcode, Opcode::kSlice);
  EXPECT_EQ(ListOf(image, image.commands[1], Field::kList), (Ints{3, 0}));
  EXPECT_EQ(ListOf(image, image.commands[1], Field::kList2), (Ints{-2, 1}));
}

TEST(LowerPad, FillIsTheBitsOfOneElement) {
  const Pad pad{PadMode::kConstant, {1, 0}, {0, 2}, -3.0f};
  const ProgramImage integer =
      CompileBetween(pad, QuantizedPlain({2, 2}, kQuant), QuantizedPlain({3, 4}, kQuant));
  ASSERT_EQ(integer.commands[1].opcode, Opcode::kPad);
  EXPECT_EQ(integer.commands[1].Get(Field::kFill), 0xfd);
  EXPECT_EQ(ListOf(integer, integer.commands[1], Field::kList), (Ints{1, 0}));
  EXPECT_EQ(ListOf(integer, integer.commands[1], Field::kList2), (Ints{0, 2}));
  TestGraph test;
  test.Output(test.Node("y", F32({3, 4}), pad, {test.Input("x", F32({2, 2}))}));
  EXPECT_EQ(CompileChecked(test).commands[0].Get(Field::kFill), std::bit_cast<uint32_t>(-3.0f));
}

TEST(LowerPad, NegativePadsCropFirst) {
  const ProgramImage image =
      CompileBetween(Pad{PadMode::kReflect, {-1, 2}, {1, -1}, 0.0f}, QuantizedPlain({4, 5}, kQuant),
                     QuantizedPlain({4, 6}, kQuant));
  ASSERT_EQ(OpcodesOf(image),
            (std::vector{Opcode::kTable, Opcode::kSlice, Opcode::kPad, Opcode::kTable}));
  EXPECT_EQ(ListOf(image, image.commands[1], Field::kList), (Ints{1, 0}));
  EXPECT_EQ(RecordOf(image, image.commands[1], Field::kDst).shape, (Shape{3, 4}));
  EXPECT_EQ(ListOf(image, image.commands[2], Field::kList), (Ints{0, 2}));
  EXPECT_EQ(ListOf(image, image.commands[2], Field::kList2), (Ints{1, 0}));
  EXPECT_EQ(image.commands[2].Get(Field::kMode), 1);
}

TEST(LowerPad, NegativePadsAloneAreASlice) {
  const ProgramImage image =
      CompileBetween(Pad{PadMode::kConstant, {-1}, {-2}, 0.0f}, QuantizedPlain({8}, kQuant),
                     QuantizedPlain({5}, kQuant));
  EXPECT_EQ(OpcodesOf(image), (std::vector{Opcode::kTable, Opcode::kSlice, Opcode::kTable}));
}

TEST(LowerPad, RefusesAFractionForIntegers) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedPlain({2}, kQuant));
  test.Output(
      test.Node("y", QuantizedPlain({3}, kQuant), Pad{PadMode::kConstant, {1}, {0}, 0.5f}, {x}));
  EXPECT_THAT(CompileError(test, ErrorCode::kInvalidInput), HasSubstr("pad value is 0.5"));
}

TEST(LowerExpand, CommandOrView) {
  EXPECT_EQ(CompileBetween(Expand{}, QuantizedPlain({3}, kQuant), QuantizedPlain({2, 3}, kQuant))
                .commands[1]
                .opcode,
            Opcode::kExpand);
  EXPECT_EQ(CompileBetween(Expand{}, QuantizedPlain({3}, kQuant), QuantizedPlain({3}, kQuant))
                .commands.size(),
            2u);
}

TEST(LowerTile, Repeats) {
  const ProgramImage image =
      CompileBetween(Tile{{2, 1}}, QuantizedPlain({2, 3}, kQuant), QuantizedPlain({4, 3}, kQuant));
  EXPECT_EQ(image.commands[1].opcode, Opcode::kTile);
  EXPECT_EQ(ListOf(image, image.commands[1], Field::kList), (Ints{2, 1}));
}

TEST(LowerGather, IndicesMayBeConstant) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({5, 3}));
  const std::vector<int64_t> indices = {4, -5};
  const ValueId i = test.graph.AddConstant<int64_t>("i", DType::kS64, {2}, indices);
  test.Output(test.Node("y", F32({2, 3}), Gather{0}, {x, i}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kGather});
  EXPECT_EQ(ListOf(image, image.commands[0], Field::kSrc2), indices);
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kSrc2).region, Region::kConst);
}

TEST(LowerCast, CommandOrView) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4}));
  const ValueId same = test.Node("same", F32({4}), Cast{DType::kF32}, {x});
  test.Output(
      test.Node("y", {{4}, DType::kS64, Layout::kPlain, std::nullopt}, Cast{DType::kS64}, {same}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(OpcodesOf(image), std::vector{Opcode::kCast});
  ExpectSameBytes(image, "x", "same");
}

}  // namespace
}  // namespace rshift
