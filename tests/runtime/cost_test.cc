#include "runtime/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "isa/attributes.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// Constants whose shares of a sum cannot be mistaken for each other.
CostModel Model() {
  CostModel model;
  model.conv_macs_per_ns = 2;
  model.l2_kib = 1;
  model.l3_kib = 4;
  model.l2_bytes_per_ns = 8;
  model.l3_bytes_per_ns = 4;
  model.dram_bytes_per_ns = 1;
  model.requant_ns = 1000;
  model.f32_element_ns = 16;
  model.command_ns = 1e6;
  return model;
}

// A 1x1 convolution of [1, 2, 2, ic] to 16 channels, its weights as a constant.
ProgramBuilder Conv(int64_t ic) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {1, 2, 2, ic}}),
                out = b.Output({DType::kU8, {1, 2, 2, 16}});
  const int32_t weights = b.Const(DType::kBytes, {16 * ic}, Bytes(static_cast<size_t>(16 * ic), 1));
  const int32_t requant = b.Const(DType::kBytes, {192}, std::vector<ChannelRequant>(16));
  b.Add(Opcode::kConv, out, in)
      .Set(Field::kWeights, weights)
      .Set(Field::kRequant, requant)
      .Set(Field::kClampHiQ, 255);
  return b;
}

TEST(Cost, WorkOfAConvolution) {
  const ProgramBuilder b = Conv(8);
  const Work work = WorkOf(b.image, b.image.commands[0]);
  EXPECT_EQ(work.macs, 4 * 16 * 8);
  EXPECT_EQ(work.constants, 16u * 8 + 192);
  EXPECT_EQ(work.bytes, 4u * 8 + 4 * 16);
  EXPECT_EQ(work.requants, 4 * 16);
  EXPECT_EQ(work.f32_elements, 0);
  EXPECT_EQ(MacCount(b.image, b.image.commands[0]), work.macs);
  EXPECT_EQ(work.moved(), work.constants + work.bytes);
  EXPECT_EQ(ConstantBytes(b.image), work.constants);
}

TEST(Cost, TheLongerOfComputingAndMemoryCounts) {
  const ProgramBuilder b = Conv(8);
  CostModel model = Model();
  const double rest = 1e6 + 64 * 1000;
  EXPECT_DOUBLE_EQ(EstimateNanoseconds(b.image, model)[0], rest + 512 / 2.0);
  model.conv_macs_per_ns = 1e6;
  EXPECT_DOUBLE_EQ(EstimateNanoseconds(b.image, model)[0], rest + (320 + 96) / 8.0);
}

TEST(Cost, WeightsComeFromTheLevelThatHoldsThemAll) {
  CostModel model = Model();
  model.conv_macs_per_ns = 1e9;
  const auto memory = [&](int64_t ic) {
    return EstimateNanoseconds(Conv(ic).image, model)[0] - (1e6 + 64 * 1000);
  };
  EXPECT_NEAR(memory(52), (1024 + 272) / 8.0, 1e-6);  // 16 * 52 + 192 = 1 KiB: just in L2
  EXPECT_NEAR(memory(56), 1088 / 4.0 + 288 / 8.0, 1e-6);
  EXPECT_NEAR(memory(248), 4160 / 1.0 + 1056 / 4.0, 1e-6);  // memory, and the tensors from L3
}

TEST(Cost, F32ElementsAndMovedOnes) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {1, 10}}), middle = b.Arena({DType::kF32, {1, 10}});
  const int32_t out = b.Output({DType::kF32, {1, 10}});
  b.Add(Opcode::kUnaryF32, middle, in);
  b.Add(Opcode::kExpand, out, middle);
  const std::vector<double> estimates = EstimateNanoseconds(b.image, Model());
  EXPECT_DOUBLE_EQ(estimates[0], 1e6 + 80 / 8.0 + 10 * 16);
  EXPECT_DOUBLE_EQ(estimates[1], 1e6 + 80 / 8.0);
}

// max_pool [1, 4, 4, 16] and, in its pass when `fuse_with_previous`, its sum with a second input.
ProgramBuilder PoolAndAdd(int64_t fuse_with_previous) {
  ProgramBuilder b;
  const TensorSpec image{DType::kU8, {1, 4, 4, 16}};
  const int32_t in = b.Input(image), other = b.Input(image), pooled = b.Arena(image);
  const int32_t out = b.Output(image);
  b[pooled].offset = b[out].offset;
  b.Add(Opcode::kMaxPool, pooled, in).Set(Field::kKernelH, 1).Set(Field::kKernelW, 1);
  Command& add = b.Add(Opcode::kAdd, out, pooled).Set(Field::kSrc2, other);
  add.Set(Field::kMultiplier, 1).Set(Field::kMultiplier2, 1).Set(Field::kRshift, 1);
  add.Set(Field::kClampHiQ, 255).Set(Field::kFuseWithPrevious, fuse_with_previous);
  return b;
}

TEST(Cost, AFusedEpilogueMovesOnlyWhatItsPassHasNot) {
  const ProgramBuilder own = PoolAndAdd(0), half = PoolAndAdd(1);
  EXPECT_EQ(WorkOf(own.image, own.image.commands[1]).bytes, 3u * 256);
  const Work work = WorkOf(half.image, half.image.commands[1]);
  EXPECT_EQ(work.bytes, 256u);  // of the other operand
  EXPECT_EQ(work.requants, 256);
  EXPECT_EQ(WorkOf(half.image, half.image.commands[1]).moved(), 256u);
  const std::vector<double> apart = EstimateNanoseconds(own.image, Model()),
                            together = EstimateNanoseconds(half.image, Model());
  EXPECT_EQ(apart[0], together[0]);
  EXPECT_DOUBLE_EQ(apart[1], 1e6 + 768 / 8.0 + 256 * 1000);
  EXPECT_DOUBLE_EQ(together[1], 256 / 8.0 + 256 * 1000);
}

TEST(Cost, APassIsPredictedWithItsFirstCommand) {
  ProgramBuilder b = PoolAndAdd(1);
  b.image.meta["cost"] = ToText(Model());
  const std::vector<double> ns = EstimateNanoseconds(b.image, Model());
  const Program program = b.Build();
  const std::vector<double> pass = Session(program, {.threads = 1}).PredictedMilliseconds();
  ASSERT_EQ(pass.size(), 2u);
  EXPECT_DOUBLE_EQ(pass[0], 1e-6 * (ns[0] + ns[1]));
  EXPECT_EQ(pass[1], 0);
}

TEST(Cost, TheProgramsOwnConstantsCount) {
  ProgramBuilder b = Conv(8);
  EXPECT_EQ(CostModelOf(b.image, ""), CostModel{});
  b.image.meta["cost"] = ToText(Model());
  EXPECT_EQ(CostModelOf(b.image, ""), Model());
  const Program program = b.Build();
  const Session session(program, {.threads = 2});
  // 1064256 ns are worth two threads; the time of the command itself is not divided.
  EXPECT_DOUBLE_EQ(session.PredictedMilliseconds().at(0), 1e-6 * (1e6 + (64 * 1000 + 256) / 2.0));
  b.image.meta["cost"] = "requant_ns=0";
  EXPECT_THAT(LoadError(b), HasSubstr("cost model: 'requant_ns=0'"));
}

TEST(Cost, ASmallProgramIsPredictedOnOneThread) {
  const Program program = Conv(8).Build();
  const double alone = Session(program, {.threads = 1}).PredictedMilliseconds().at(0);
  EXPECT_EQ(Session(program, {.threads = 4}).PredictedMilliseconds().at(0), alone);
  const Session all(program, {.threads = 4, .least_share_ns = 0});
  EXPECT_LT(all.PredictedMilliseconds().at(0), alone);
}

TEST(WorthwhileThreads, EachGetsAtLeastItsShare) {
  EXPECT_EQ(WorthwhileThreads(10, 4, 100), 1);
  EXPECT_EQ(WorthwhileThreads(250, 4, 100), 2);
  EXPECT_EQ(WorthwhileThreads(400, 4, 100), 4);
  EXPECT_EQ(WorthwhileThreads(1e12, 4, 100), 4);
}

TEST(WorthwhileThreads, NoShareAsksForEveryThread) { EXPECT_EQ(WorthwhileThreads(1, 3, 0), 3); }

}  // namespace
}  // namespace rshift::testing
