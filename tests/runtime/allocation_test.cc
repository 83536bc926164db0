// A run of integer commands allocates nothing: operator new is counted, and must stand still. Every
// opcode by itself: RunProgram of program_builder.h counts in all tests of this folder.
#include <gtest/gtest.h>

#include "base/aligned.h"
#include "isa/attributes.h"
#include "tests/runtime/allocations.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

TEST(Allocations, PlainAndAlignedOnesCount) {
  const int64_t before = Allocations();
  { const std::vector<int> plain(3); }
  const int64_t between = Allocations();
  { const AlignedBuffer aligned(64); }
  EXPECT_GT(between, before);
  EXPECT_GT(Allocations(), between);
}

TEST(Session, RunAllocatesNothing) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {1, 8, 8, 4}}), q = b.Arena({DType::kU8, {1, 8, 8, 4}});
  const int32_t sum = b.Arena({DType::kU8, {1, 8, 8, 4}}),
                pool = b.Arena({DType::kU8, {1, 4, 4, 4}});
  const int32_t conv = b.Arena({DType::kU8, {1, 4, 4, 16}}),
                padded = b.Arena({DType::kU8, {1, 6, 6, 16}});
  const int32_t turned = b.Arena({DType::kU8, {1, 16, 6, 6}}),
                out = b.Output({DType::kF32, {1, 16, 6, 6}});
  b.Add(Opcode::kQuantize, q, in);
  b.Add(Opcode::kAdd, sum, q)
      .Set(Field::kSrc2, q)
      .Set(Field::kMultiplier, 3)
      .Set(Field::kClampHiQ, 255);
  Command& p = b.Add(Opcode::kMaxPool, pool, sum).Set(Field::kKernelH, 2).Set(Field::kKernelW, 2);
  p.Set(Field::kStrideH, 2).Set(Field::kStrideW, 2);
  const int32_t weights = b.Const(DType::kBytes, {64}, Bytes(64, 1));
  const int32_t requant = b.Const(DType::kBytes, {192}, std::vector<ChannelRequant>(16));
  Command& c =
      b.Add(Opcode::kConv, conv, pool).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  c.Set(Field::kClampHiQ, 255);
  const int32_t pads = b.List({0, 1, 1, 0}), perm = b.List({0, 3, 1, 2});
  b.Add(Opcode::kPad, padded, conv).Set(Field::kList, pads).Set(Field::kList2, pads);
  b.Add(Opcode::kTranspose, turned, padded).Set(Field::kList, perm);
  b.Add(Opcode::kDequantize, out, turned);
  const Program program = b.Build();
  for (const int threads : {1, 2}) {
    Session session(program, {.threads = threads, .least_share_ns = 0});
    session.Run();  // the thread pool starts
    const int64_t before = Allocations();
    for (int i = 0; i < 3; ++i) session.Run();
    EXPECT_EQ(Allocations(), before) << threads << " threads";
  }
}

}  // namespace
}  // namespace rshift::testing
