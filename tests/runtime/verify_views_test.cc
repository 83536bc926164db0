// Views: which bytes they have, who writes them. What may be one is for the container's
// tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "runtime/verify.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// A part of `whole`, all rows, columns [first, first + columns).
int32_t Part(ProgramBuilder* b, int32_t whole, int64_t first, int64_t columns) {
  TensorRecord part = (*b)[whole];
  const auto element = static_cast<int64_t>(SizeOf(part.dtype));
  part.name = Cat("part", b->image.tensors.size());
  part.pitch = static_cast<uint32_t>(part.row_bytes());
  part.offset += static_cast<uint64_t>(first * element);
  part.shape.back() = columns;
  b->image.tensors.push_back(part);
  return static_cast<int32_t>(b->image.tensors.size()) - 1;
}

// Tensors of Concat(): in [4, 8] -> table -> left, left -> table -> right; whole = left | right.
enum : int32_t { kIn, kWhole, kOut, kTable, kLeft, kRight };

ProgramBuilder Concat() {
  ProgramBuilder b;
  b.Input({DType::kU8, {4, 8}});
  b.Arena({DType::kU8, {4, 16}});
  b.Output({DType::kU8, {4, 16}});
  b.Const(DType::kBytes, {256}, Bytes(256));
  Part(&b, kWhole, 0, 8);
  Part(&b, kWhole, 8, 8);
  b.Add(Opcode::kTable, kLeft, kIn).Set(Field::kTable, kTable);
  b.Add(Opcode::kTable, kRight, kLeft).Set(Field::kTable, kTable);
  b.Add(Opcode::kExpand, kOut, kWhole);
  return b;
}

TEST(VerifyViews, TogetherTheyAreTheWhole) {
  ExpectRefused(Concat(), "src 't1' (u8 4x16): some of its bytes were never written",
                [](auto* b) { b->image.commands.erase(b->image.commands.begin() + 1); });
  ExpectRefused(Concat(), "never written", [](auto* b) {
    (*b)[kRight].shape = (*b)[kLeft].shape = (*b)[kIn].shape = {4, 7};
  });
  for (const bool moved : {true, false}) {
    ExpectRefused(Concat(), "never written", [=](auto* b) {
      b->image.commands[1].Set(Field::kSrc, kIn);
      (*b)[kRight].offset += moved ? 1 : 0;
      (*b)[kRight].pitch += moved ? 0 : 1;
    });
  }
  ExpectRefused(Concat(), "never written", [](auto* b) {
    (*b)[kRight].shape = (*b)[kLeft].shape = (*b)[kIn].shape = {3, 8};  // the last row
  });
}

TEST(VerifyViews, AReaderOfOnePartNeedsOnlyThat) {
  ProgramBuilder b = Concat();
  b.image.commands.pop_back();
  b.image.outputs = {{"out", kIn}};
  EXPECT_EQ(LoadError(b), kNoError);
  std::swap(b.image.commands[0], b.image.commands[1]);
  EXPECT_THAT(LoadError(b), HasSubstr("(u8 4x8): some of its bytes were never written"));
}

TEST(VerifyViews, DestinationsAndOperandsShareNoBytes) {
  ExpectRefused(Concat(), "overlaps dst", [](auto* b) { (*b)[kRight].offset -= 1; });
  ExpectRefused(Concat(), "overlaps dst", [](auto* b) {
    (*b)[kRight].pitch = 15;  // later rows reach into the left part
  });
  ExpectRefused(Concat(), "overlaps dst", [](auto* b) {
    (*b)[kLeft].offset = (*b)[kIn].offset;
    (*b)[kLeft].pitch = 9;
  });
  // In place is in place with a pitch as well, but not with another one.
  ProgramBuilder b = Concat();
  b[kRight] = b[kLeft];
  b[kRight].name = "in place";
  b.image.commands.pop_back();
  b.image.outputs = {{"out", kIn}};
  EXPECT_EQ(LoadError(b), kNoError);
  ExpectRefused(b, "overlaps dst", [](auto* p) { (*p)[kRight].pitch = 17; });
}

TEST(VerifyViews, ACopyWalksRowsWithOneDistance) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {2, 3, 4}}), whole = b.Arena({DType::kU8, {2, 5, 9}});
  const int32_t part = Part(&b, whole, 1, 4), out = b.Output({DType::kU8, {1}});
  b.image.outputs = {{"out", in}};
  (void)out;
  b.Add(Opcode::kCopyInto, part, in).Set(Field::kAxis, 1).Set(Field::kOffset, 2);
  EXPECT_THAT(LoadError(b), HasSubstr("axis is 1"));
  b[part].shape[0] = b[in].shape[0] = 1;
  EXPECT_EQ(LoadError(b), kNoError);
  b.image.commands[0].Set(Field::kOffset, 3);
  EXPECT_THAT(LoadError(b), HasSubstr("leave dst"));
}

TEST(VerifyViews, AnAddendOfAPostOperationLiesAsDstDoes) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, 3, 3, 4}});
  const int32_t old = b.Input({DType::kU8, {2, 3, 3, 5}});
  const int32_t whole = b.Arena({DType::kU8, {2, 3, 3, 9}}), dst = Part(&b, whole, 2, 5);
  const PackedShape packed{1, 5, 4, 1};
  const int32_t weights =
      b.Const(DType::kBytes, {packed.bytes()}, Bytes(static_cast<size_t>(packed.bytes())));
  const int32_t requant = b.Const(DType::kBytes, {60}, std::vector<ChannelRequant>(5));
  const int32_t list = b.Const(DType::kF32, {4}, std::vector<float>{0, 0, 0, 0.5f});
  b.Add(Opcode::kConv, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  b.image.commands[0].Set(Field::kClampHiQ, 255).Set(Field::kRounding, 3);
  b.image.outputs = {{"out", src}};
  EXPECT_EQ(LoadError(b), kNoError);
  b.image.commands[0].Set(Field::kList, list).Set(Field::kSrc2, old);
  EXPECT_THAT(LoadError(b), HasSubstr("has a pitch"));
  b[dst].pitch = 0;
  EXPECT_EQ(LoadError(b), kNoError);
}

}  // namespace
}  // namespace rshift::testing
