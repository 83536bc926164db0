// Additions and products with a constant smaller than the tensor: the bytes of the constant spread
// out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "isa/functions.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

struct Constant {
  TensorSpec spec;
  Bytes bytes;
};

// Some of the last dimensions of `whole`, some of them 1.
Shape SmallerShape(Random& random, const Shape& whole) {
  Shape shape(whole.begin() + random.Int(0, static_cast<int64_t>(whole.size())), whole.end());
  for (int64_t& dim : shape) dim = random.Int(0, 2) == 0 ? 1 : dim;
  return shape;
}

Constant SpreadOut(const Constant& constant, const Shape& whole) {
  const Shape& from = constant.spec.shape;
  Constant spread{constant.spec, {}};
  spread.spec.shape = whole;
  for (int64_t i = 0; i < NumElements(whole); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (size_t back = 1; back <= from.size(); ++back) {
      const int64_t dim = from[from.size() - back], of = whole[whole.size() - back];
      at += dim == 1 ? 0 : rest % of * stride;
      rest /= of;
      stride *= dim;
    }
    spread.bytes.push_back(constant.bytes[static_cast<size_t>(at)]);
  }
  return spread;
}

// What an opcode has besides its operands.
void SetNumbers(Random& random, Command& command) {
  const auto multiplier = [&] { return random.Int(1 << 30, INT32_MAX); };
  command.Set(Field::kClampLoQ, 0).Set(Field::kClampHiQ, 120);
  switch (command.opcode) {
    case Opcode::kAdd:
      command.Set(Field::kMultiplier, random.Int(-9999, 9999)).Set(Field::kRshift, 14);
      command.Set(Field::kMultiplier2, random.Int(-9999, 9999));
      return;
    case Opcode::kAddShifted:
      command.Set(Field::kRounding, static_cast<int64_t>(Rounding::kTwoStep));
      command.Set(Field::kMode, random.Int(0, 3)).Set(Field::kCount, 20);
      command.Set(Field::kMultiplier, multiplier()).Set(Field::kRshift, 31);
      command.Set(Field::kMultiplier2, multiplier()).Set(Field::kRshift2, 32);
      command.Set(Field::kMultiplier3, multiplier()).Set(Field::kRshift3, 50);
      return;
    case Opcode::kAddFma:
      command.SetFloat(Field::kScaleF, 0.4f).SetFloat(Field::kAlphaF, -0.3f);
      command.SetFloat(Field::kOffsetF, 20.5f);
      return;
    case Opcode::kMul:
      if (random.Int(0, 1) == 0) {
        command.Set(Field::kMultiplier, multiplier()).Set(Field::kRshift, 38);
      } else {
        command.Set(Field::kMultiplier, std::bit_cast<int32_t>(0.01f));
        command.Set(Field::kRounding, static_cast<int64_t>(Rounding::kFloatZeroEven));
      }
      return;
    default:
      return;
  }
}

TensorSpec RandomSpec(Random& random, const Shape& shape) {
  const DType type = random.Byte();
  return {type, shape, random.Float(0.01f, 0.2f), random.Zero(type)};
}

// y = x and the constant, either way round, behind a pool in whose pass it may run.
ProgramBuilder Program(uint32_t seed, Opcode opcode, const Shape& shape, const Constant& constant,
                       bool fuse_with_previous) {
  Random random(seed);
  ProgramBuilder b;
  const TensorSpec x = RandomSpec(random, shape), y = RandomSpec(random, shape);
  int32_t tensor = b.Input(x);
  const int32_t out = b.Output({x.dtype, shape, y.scale, x.zero_point});
  if (fuse_with_previous) {
    const int32_t pooled = b.Arena(x);
    b[pooled].offset = b[out].offset;
    b.Add(Opcode::kMaxPool, pooled, tensor);
    tensor = pooled;
  }
  const int32_t small = b.QuantizedConst(constant.spec, constant.bytes);
  const bool first = random.Int(0, 1) == 0;
  Command& command = b.Add(opcode, out, first ? small : tensor);
  command.Set(Field::kSrc2, first ? tensor : small)
      .Set(Field::kFuseWithPrevious, fuse_with_previous);
  SetNumbers(random, command);
  return b;
}

Shape RandomImage(Random& random) {
  return {random.Int(1, 2), random.Int(1, 12), random.Int(1, 12), random.Int(1, 90)};
}

TEST(Broadcast, GivesTheBytesOfTheConstantSpreadOut) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    for (const Opcode opcode :
         {Opcode::kAdd, Opcode::kAddFloat, Opcode::kAddShifted, Opcode::kAddFma, Opcode::kMul}) {
      SCOPED_TRACE(::testing::Message() << seed << " " << FindOp(opcode)->name);
      Random random(seed);
      const bool fuse_with_previous = random.Int(0, 1) == 0;
      Shape shape = RandomImage(random);
      if (!fuse_with_previous) shape.resize(static_cast<size_t>(random.Int(0, 4)));
      Constant constant{RandomSpec(random, SmallerShape(random, shape)), {}};
      constant.bytes = random.Data(NumElements(constant.spec.shape));
      const Bytes x = random.Data(NumElements(shape));
      const Bytes expected = RunProgram(
          Program(seed, opcode, shape, SpreadOut(constant, shape), fuse_with_previous).Build(),
          {x});
      ASSERT_EQ(RunEverywhere(Program(seed, opcode, shape, constant, fuse_with_previous), {x}),
                expected);
    }
  }
}

// Rows of several blocks, and no whole number of them.
TEST(Broadcast, LongRows) {
  for (const Shape& small : {Shape{}, Shape{7}, Shape{5000, 1}, Shape{3, 1, 7}, Shape{1, 7}}) {
    Random random(9);
    Constant constant{RandomSpec(random, small), random.Data(NumElements(small))};
    const Shape shape = {3, 5000, 7};
    const Bytes x = random.Data(NumElements(shape));
    const Bytes expected = RunProgram(
        Program(9, Opcode::kAddFloat, shape, SpreadOut(constant, shape), false).Build(), {x});
    EXPECT_EQ(RunEverywhere(Program(9, Opcode::kAddFloat, shape, constant, false), {x}), expected);
  }
}

// One byte of the constant meets many elements on end, as a channel's of an image in NCHW: looked
// up where the CPU has instructions for it.
TEST(Broadcast, ChannelsOfPlanes) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    for (const Opcode opcode :
         {Opcode::kAdd, Opcode::kAddFloat, Opcode::kAddShifted, Opcode::kAddFma, Opcode::kMul}) {
      SCOPED_TRACE(::testing::Message() << seed << " " << FindOp(opcode)->name);
      Random random(seed);
      const Shape shape = {random.Int(1, 2), random.Int(1, 9), random.Int(1, 40),
                           random.Int(100, 150)};
      const Shape small[] = {
          {shape[1], 1, 1}, {1, shape[1], shape[2], 1}, {shape[0], 1, 1, 1}, {1}};
      Constant constant{RandomSpec(random, small[seed % 4]), {}};
      constant.bytes = random.Data(NumElements(constant.spec.shape));
      const Bytes x = random.Data(NumElements(shape));
      const Bytes expected =
          RunProgram(Program(seed, opcode, shape, SpreadOut(constant, shape), false).Build(), {x});
      ASSERT_EQ(RunEverywhere(Program(seed, opcode, shape, constant, false), {x}), expected);
    }
  }
}

template <typename Spoil>
void ExpectRefused(const Spoil& spoil) {
  Random random(1);
  const Shape shape = {1, 4, 4, 8};
  ProgramBuilder b = Program(1, Opcode::kMul, shape, {RandomSpec(random, {8}), Bytes(8)}, false);
  ASSERT_EQ(LoadError(b), kNoError);
  Command& command = b.image.commands.back();
  const bool first = b[command.Tensor(Field::kSrc)].region == Region::kConst;
  spoil(&b, &command, first ? Field::kSrc : Field::kSrc2, first ? Field::kSrc2 : Field::kSrc);
  EXPECT_THAT(LoadError(b), HasSubstr("expected equal shapes"));
}

TEST(Broadcast, OnlyAConstantOneOperandAndToTheShapeOfTheResult) {
  ExpectRefused([](auto* b, auto* command, Field small, Field) {  // no constant
    (*b)[command->Tensor(small)].region = Region::kArena;
  });
  ExpectRefused([](auto*, auto* command, Field small, Field tensor) {  // both
    command->Set(tensor, command->Tensor(small));
  });
  for (const Shape& bad : {Shape{4}, Shape{8, 1}, Shape{1, 1, 1, 1, 8}, Shape{2, 4}}) {
    ExpectRefused([&](auto* b, auto* command, Field small, Field) {
      (*b)[command->Tensor(small)].shape = bad;
    });
  }
}

}  // namespace
}  // namespace rshift::testing
