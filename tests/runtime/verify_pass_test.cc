// Fused commands (Field::kFuseWithPrevious): what may be one, and that they give the bytes of the
// commands one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSide = 5, kChannels = 70;

// Tensors of Pass(): out = table(pool(in)) + in, of which the pool's, the table's and the sum's
// results are one place.
enum : int32_t { kIn, kOther, kPooled, kOut, kTable, kMapped };

ProgramBuilder Pass() {
  ProgramBuilder b;
  const TensorSpec image{DType::kU8, {1, kSide, kSide, kChannels}};
  b.Input(image);
  b.Input(image);
  b.Arena(image);
  b.Output(image);
  Random random(1);
  b.Const(DType::kBytes, {256}, random.Data(256));
  b.Arena(image);
  b[kPooled].offset = b[kMapped].offset = b[kOut].offset;
  Command& pool = b.Add(Opcode::kMaxPool, kPooled, kIn);
  pool.Set(Field::kKernelH, 3).Set(Field::kKernelW, 3);
  for (const Field pad : {Field::kPadTop, Field::kPadLeft, Field::kPadBottom, Field::kPadRight})
    pool.Set(pad, 1);
  b.Add(Opcode::kTable, kMapped, kPooled)
      .Set(Field::kTable, kTable)
      .Set(Field::kFuseWithPrevious, 1);
  Command& add = b.Add(Opcode::kAdd, kOut, kMapped).Set(Field::kSrc2, kOther);
  add.Set(Field::kMultiplier, 3).Set(Field::kMultiplier2, 5).Set(Field::kRshift, 3);
  add.Set(Field::kClampLoQ, 0).Set(Field::kClampHiQ, 255).Set(Field::kFuseWithPrevious, 1);
  return b;
}

template <typename Spoil>
void ExpectRefused(const std::string& part, const Spoil& spoil) {
  ProgramBuilder b = Pass();
  spoil(&b);
  EXPECT_THAT(LoadError(b), HasSubstr(part));
}

Command& Of(ProgramBuilder* b, int command) { return b->image.commands[command]; }

TEST(VerifyPass, FusedEpiloguesGiveTheBytesOfCommandsOfTheirOwn) {
  Random random(2);
  const int64_t bytes = kSide * kSide * kChannels;
  const std::vector<Bytes> inputs = {random.Data(bytes), random.Data(bytes)};
  ProgramBuilder b = Pass();
  const Bytes actual = RunEverywhere(b, inputs);
  Of(&b, 1).Set(Field::kFuseWithPrevious, 0);
  Of(&b, 2).Set(Field::kFuseWithPrevious, 0);
  EXPECT_EQ(RunEverywhere(b, inputs), actual);
  Of(&b, 2).Set(Field::kFuseWithPrevious, 1);  // behind a command that leads no pass
  EXPECT_THAT(LoadError(b), HasSubstr("expected a convolution, matrix product, pool"));
}

TEST(VerifyPass, OnlyBehindACommandThatLeads) {
  ExpectRefused("fuse_with_previous without a command before it",
                [](auto* b) { b->image.commands.erase(b->image.commands.begin()); });
  ExpectRefused("fuse_with_previous behind a table",
                [](auto* b) { Of(b, 1).Set(Field::kFuseWithPrevious, 0); });
}

TEST(VerifyPass, OnlyInPlace) {
  ExpectRefused("is not in place of what the command before it stores", [](auto* b) {
    const int32_t own = b->Arena({DType::kU8, {1, kSide, kSide, kChannels}});
    (*b)[kMapped].offset = (*b)[own].offset;
  });
  ExpectRefused("no operand is what the command before it stores",
                [](auto* b) { Of(b, 2).Set(Field::kSrc, kIn); });
}

// Other threads are still writing them.
TEST(VerifyPass, AnOperandSharesAllBytesOrNone) {
  ProgramBuilder b = Pass();
  Of(&b, 2).Set(Field::kSrc2, kMapped);
  EXPECT_EQ(LoadError(b), kNoError);
  ExpectRefused("src2 't6' (u8 1x5x5x70) overlaps dst", [](auto* spoilt) {
    const int32_t row_below = spoilt->Arena({DType::kU8, {1, kSide, kSide, kChannels}});
    (*spoilt)[row_below].offset = (*spoilt)[kOut].offset + 64;
    spoilt->Add(Opcode::kTable, row_below, kIn).Set(Field::kTable, kTable);
    std::rotate(spoilt->image.commands.begin(), spoilt->image.commands.end() - 1,
                spoilt->image.commands.end());
    Of(spoilt, 3).Set(Field::kSrc2, row_below);
  });
}

// Observers: one call a command either way, and one_by_one shows what lies between.
TEST(VerifyPass, OneByOneShowsWhatLiesBetween) {
  const Program program = Pass().Build();
  Random random(3);
  const Bytes x = random.Data(kSide * kSide * kChannels);
  std::vector<Bytes> seen[2];
  for (const bool one_by_one : {false, true}) {
    Session session(program, {.threads = 1, .one_by_one = one_by_one});
    for (int i = 0; i < 2; ++i) std::memcpy(session.Input(i).data(), x.data(), x.size());
    session.RunObserved([&](int command) {
      const auto bytes = session.Tensor(program.image().commands[command].Tensor(Field::kDst));
      Bytes& copy = seen[one_by_one].emplace_back(bytes.size());
      std::memcpy(copy.data(), bytes.data(), bytes.size());
    });
  }
  ASSERT_EQ(seen[0].size(), 3u);
  ASSERT_EQ(seen[1].size(), 3u);
  EXPECT_EQ(seen[0][0], seen[0][2]);
  EXPECT_NE(seen[1][0], seen[1][1]);
  EXPECT_NE(seen[1][1], seen[1][2]);
  EXPECT_EQ(seen[1][2], seen[0][2]);
}

}  // namespace
}  // namespace rshift::testing
