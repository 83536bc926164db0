// What a program may ask for: work and memory predicted, refused above the limits, raised by the
// caller; sizes that no arithmetic can overflow with.
#include "runtime/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "runtime/work_cost.h"
#include "tests/base/error_of.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kHuge = int64_t{1} << 39;

std::string LoadErrorUnder(const ProgramBuilder& b, const Limits& limits) {
  return ErrorOf([&] { Program::FromBytes(b.File(), "net", limits); });
}

// A 3x3 depthwise convolution whose dilation reaches over the pads.
ProgramBuilder Dilated(int64_t dilation) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kS8, {1, 1, 8, 64}}),
                out = b.Output({DType::kS8, {1, 1, 8, 64}});
  const Bytes weights(3 * 64, 1);
  Command& c = b.Add(Opcode::kDepthwise, out, in);
  c.Set(Field::kWeights, b.Const(DType::kBytes, {3 * 64}, weights));
  c.Set(Field::kRequant,
        b.Const(DType::kBytes, {64 * 12}, std::vector<ChannelRequant>(64, {0, 1 << 30, 31})));
  c.Set(Field::kKernelW, 3).Set(Field::kDilationW, dilation).Set(Field::kPadLeft, dilation);
  c.Set(Field::kPadRight, dilation).Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  return b;
}

TEST(Limits, APredictionCountsMacsElementsArenaAndBuffers) {
  const ProgramBuilder b = Dilated(1);
  const RunWork work = PredictWork(b.image);
  EXPECT_EQ(work.macs, 8u * 64 * 3);
  EXPECT_EQ(work.elements, 2u * 8 * 64 + 3 * 64 + 64 * 12);  // each tensor once
  EXPECT_EQ(work.arena, b.image.arena_size);
  EXPECT_EQ(b.Build().work(), work);
}

// A 1x1 convolution, or the function of a tensor in F32.
ProgramBuilder Pixels(Opcode opcode, int64_t pixels, int64_t channels) {
  ProgramBuilder b;
  const DType type = opcode == Opcode::kConv ? DType::kS8 : DType::kF32;
  const int32_t in = b.Arena({type, {1, 1, pixels, channels}});
  const int32_t out = b.Arena({type, {1, 1, pixels, channels}});
  Command& c = b.Add(opcode, out, in);
  c.Set(Field::kWeights, in).Set(Field::kRequant, in).Set(Field::kSrc2, in);
  return b;
}

double Seconds(const ProgramBuilder& b) {
  return 1e-9 * static_cast<double>(PredictWork(b.image, b.image.commands[0]).nanoseconds);
}

TEST(Limits, ThePredictedTimeKnowsWhatAnElementOfEachCommandTakes) {
  // 2.6e11 multiply-accumulates of the tiles: about a second.
  const double gemm = Seconds(Pixels(Opcode::kConv, 1'000'000, 512));
  EXPECT_GT(gemm, 0.5);
  EXPECT_LT(gemm, 3);
  // As many elements without a tile: a function of each, a power, a table of bytes.
  const double function = Seconds(Pixels(Opcode::kUnaryF32, 1'000'000, 512));
  EXPECT_GT(function, 3 * gemm);
  ProgramBuilder power = Pixels(Opcode::kBinaryF32, 1'000'000, 512);
  EXPECT_LT(Seconds(power), function);
  power.image.commands[0].Set(Field::kMode, 4);
  EXPECT_GT(Seconds(power), function);
  EXPECT_LT(Seconds(Pixels(Opcode::kTable, 1'000'000, 512)), 0.1 * function);
}

// A single channel takes a tile all the same.
TEST(Limits, ThePredictedTimeCountsTilesThatAreNotFull) {
  const ProgramBuilder thin = Pixels(Opcode::kConv, 100, 1), full = Pixels(Opcode::kConv, 100, 32);
  EXPECT_EQ(PaddedMacs(thin.image, thin.image.commands[0], 100), 100u * 4 * 16);
  EXPECT_EQ(PaddedMacs(full.image, full.image.commands[0], 100 * 32 * 32), 100u * 32 * 32);
}

TEST(Limits, AMinuteIsTheDefaultAndMoreIsRefusedInSeconds) {
  ProgramBuilder b = Pixels(Opcode::kUnaryF32, 20'000'000'000, 1);
  b.image.command_names = {"exp"};
  Limits limits;
  limits.most.arena = Limits::kAny;
  EXPECT_THAT(LoadErrorUnder(b, limits),
              AllOf(HasSubstr("net: one run takes about 200.001 seconds on one thread, of which "
                              "command 0 (unary_f32 'exp') 200.001"),
                    HasSubstr("expected at most 60; where that is meant, allow it: --limits "
                              "seconds=200.001")));
}

TEST(Limits, TablesOfPReluCountAsBuffers) {
  ProgramBuilder b;
  const int32_t x = b.Input({DType::kS8, {1, 70'000}}), y = b.Output({DType::kS8, {1, 70'000}});
  const int32_t slopes = b.Const(DType::kS8, {70'000}, std::vector<int8_t>(70'000, 1));
  b.Add(Opcode::kPRelu, y, x).Set(Field::kSrc2, slopes);
  EXPECT_GE(PredictWork(b.image).buffers, 70'000u * 256);
}

TEST(Limits, WhatAMessageSuggestsIsEnough) {
  Limits limits;
  limits.most = {Limits::kAny, Limits::kAny, Limits::kAny, Limits::kAny, 1};
  for (const int64_t pixels : {1'000L, 100'100'000L, 999'999'937L, 20'000'000'000L}) {
    const ProgramBuilder b = Pixels(Opcode::kUnaryF32, pixels, 1);
    const std::string error = LoadErrorUnder(b, limits);
    const size_t at = error.rfind("--limits ");
    ASSERT_NE(at, std::string::npos) << error;
    EXPECT_GE(ParseLimits(error.substr(at + 9)).most.nanoseconds, PredictWork(b.image).nanoseconds);
  }
  EXPECT_EQ(ParseLimits("seconds=1.001").most.nanoseconds, 1'001'000'000u);
  EXPECT_EQ(ParseLimits("none").most.macs, Limits::kAny);
}

TEST(Limits, TheDefaultsLetTheLargestNetworksPassManyTimesOver) {
  // ResNet-152 on 1024 x 1024 in F32, and 3840 x 2160 pixels to three times as many in INT8 with
  // 10^12 multiply-accumulates.
  const RunWork resnet = {240'000'000'000, 3'500'000'000, 250'000'000, 250'000'000, 5'000'000'000};
  const RunWork pixels = {1'000'000'000'000, 4'000'000'000, 0, 2'000'000'000, 5'000'000'000};
  const RunWork most = Limits{}.most;
  EXPECT_GT(most.nanoseconds, 10 * resnet.nanoseconds);
  EXPECT_GT(most.nanoseconds, 10 * pixels.nanoseconds);
  EXPECT_GT(most.macs, 1000 * pixels.macs);
  EXPECT_GT(most.arena, 5 * pixels.arena);
  EXPECT_GT(most.buffers, 10 * resnet.buffers);
  EXPECT_GT(most.arena, 20 * resnet.arena);
}

TEST(Limits, WhatIsTooMuchIsRefusedNamingTheCommandAndHowToAllowIt) {
  ProgramBuilder b = Dilated(1);
  b.image.command_names = {"dw1"};
  Limits limits;
  limits.most.macs = 1535;
  EXPECT_THAT(LoadErrorUnder(b, limits),
              AllOf(HasSubstr("net: one run takes 1536 multiply-accumulates, of which command 0 "
                              "(depthwise 'dw1') 1536, expected at most 1535"),
                    HasSubstr("--limits macs=1536")));
  limits.most.macs = 1536;
  EXPECT_EQ(LoadErrorUnder(b, limits), kNoError);
  limits.most.arena = 100;
  EXPECT_THAT(LoadErrorUnder(b, limits), HasSubstr("bytes of arena, expected at most 100"));
}

TEST(Limits, ScratchOfADilatedDepthwiseDoesNotGrowWithTheDilation) {
  const Bytes data = Random(3).Data(8 * 64);
  for (const int64_t dilation : {1, 3, 20, 84, 85, 200, 1 << 20}) {
    const Program program = Dilated(dilation).Build();
    EXPECT_LT(program.work().buffers, 1'000'000u) << dilation;
    const Bytes expected = RunProgram(program, {data});
    EXPECT_EQ(RunProgram(program, {data}, {.threads = 1, .isa = BestIsa()}), expected) << dilation;
  }
  Limits limits;
  limits.most.buffers = 1000;
  EXPECT_THAT(LoadErrorUnder(Dilated(3), limits),
              HasSubstr("bytes of buffers, of which command 0 (depthwise)"));
}

TEST(Limits, PredictionsSaturateInsteadOfWrapping) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {1}}), out = b.Output({DType::kF32, {1}});
  b[in].shape = {1, 1 << 19, 1 << 20, 1};
  b[out].shape = {1, 1 << 19, 1 << 20, 1};
  Command& c = b.Add(Opcode::kAveragePoolF32, out, in);
  c.Set(Field::kKernelH, 1 << 19).Set(Field::kKernelW, 1 << 20);
  EXPECT_EQ(PredictWork(b.image, c).elements, std::numeric_limits<uint64_t>::max());
}

TEST(Limits, TextsAreRead) {
  EXPECT_EQ(ParseLimits("").most, Limits{}.most);
  EXPECT_EQ(ParseLimits("none").most, Limits::None().most);
  const RunWork some = ParseLimits("macs=2e13,arena=8G").most;
  EXPECT_EQ(some.macs, 20'000'000'000'000u);
  EXPECT_EQ(some.arena, uint64_t{8} << 30);
  EXPECT_EQ(some.elements, Limits{}.most.elements);
  EXPECT_EQ(ParseLimits("seconds=0.5").most.nanoseconds, 500'000'000u);
  EXPECT_EQ(ParseLimits("none").most.nanoseconds, Limits::kAny);
  for (const char* bad :
       {"macs", "macs=", "macs=x", "mac=3", "macs=-1", "macs=1e30", "arena=8Q", "seconds=-1",
        "seconds=1e15", "macs=1,", ",", "macs=nan", "none,macs=1", "macs=1,arena=2,macs=1"}) {
    EXPECT_THROW(ParseLimits(bad), Error) << bad;
  }
}

TEST(Sizes, AZeroBesideHugeDimensionsIsRefusedWhereTheirProductIs) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {0, 1}}), out = b.Output({DType::kU8, {0, 1}});
  b.Add(Opcode::kSlice, out, in)
      .Set(Field::kList, b.List({0, 0}))
      .Set(Field::kList2, b.List({1, 1}));
  EXPECT_EQ(LoadErrorUnder(b, {}), kNoError);
  b[in].shape = b[out].shape = {0, kHuge};
  EXPECT_EQ(LoadErrorUnder(b, {}), kNoError);
  b[in].shape = b[out].shape = {0, kHuge, kHuge};
  EXPECT_THROW(b.File(), Error);
}

TEST(Sizes, StartsAndStepsOfOneElementOrNoneMayBeAny) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {0, 4}}), out = b.Output({DType::kF32, {0, 1}});
  const int32_t in2 = b.Input({DType::kF32, {4}}), out2 = b.Output({DType::kF32, {1}});
  b.Add(Opcode::kSlice, out, in)
      .Set(Field::kList, b.List({kMost, 3}))
      .Set(Field::kList2, b.List({-kMost, kMost}));
  b.Add(Opcode::kSlice, out2, in2)
      .Set(Field::kList, b.List({3}))
      .Set(Field::kList2, b.List({kMost}));
  Bytes fours(16);
  fours[12] = 7;
  EXPECT_EQ(RunProgram(b.Build(), {{}, fours}), Bytes({7, 0, 0, 0}));
}

TEST(Sizes, AReductionHasNoMoreAxesThanDimensions) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {4, 5}}), out = b.Output({DType::kF32, {}});
  b.Add(Opcode::kReduceF32, out, in).Set(Field::kList, b.List({0, -1}));
  EXPECT_EQ(LoadErrorUnder(b, {}), kNoError);
  // Read for each command, it would be as long as the file and more than the work.
  b.image.commands[0].Set(Field::kList, b.List({0, 1, 1}));
  EXPECT_THAT(LoadErrorUnder(b, {}), HasSubstr("expected at most 2 axes"));
}

TEST(Sizes, ScalesOfAResizeAreNumbersThatGiveCoordinates) {
  for (const float scale : {0.0f, -1.0f, 1e-30f, 1e30f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    ProgramBuilder b;
    const int32_t in = b.Input({DType::kF32, {4}}), out = b.Output({DType::kF32, {8}});
    b.Add(Opcode::kResizeF32, out, in)
        .Set(Field::kList, b.Const(DType::kF32, {1}, std::vector<float>{scale}))
        .Set(Field::kMode, 2);
    EXPECT_THAT(LoadErrorUnder(b, {}), HasSubstr("expected a positive number")) << scale;
  }
}

}  // namespace
}  // namespace rshift::testing
