// What the verifier refuses in roundings, their words and the commands of the frameworks' forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "isa/functions.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Command& First(ProgramBuilder* b) { return b->image.commands[0]; }
TensorRecord& Of(ProgramBuilder* b, Field f) { return (*b)[First(b).Tensor(f)]; }

template <typename Change>
void ExpectAccepted(ProgramBuilder b, const Change& change) {
  change(&b);
  EXPECT_EQ(LoadError(b), kNoError);
}

void SetRecord(ProgramBuilder* b, int64_t channel, const ChannelRequant& record) {
  std::memcpy(b->image.constants.data() + Of(b, Field::kRequant).offset +
                  static_cast<size_t>(channel) * sizeof(record),
              &record, sizeof(record));
}

ChannelRequant FloatRecord(float scale, float bias) {
  return {0, std::bit_cast<int32_t>(scale), std::bit_cast<int32_t>(bias)};
}

void SetRounding(ProgramBuilder* b, Rounding rounding) {
  First(b).Set(Field::kRounding, static_cast<int64_t>(rounding));
}

// [2, 7] x [7, 10]
ProgramBuilder MatMul(Rounding rounding) {
  ProgramBuilder b;
  const PackedShape packed{1, 10, 7, 1};
  const int32_t src = b.Input({DType::kU8, {2, 7}}), old = b.Input({DType::kS8, {2, 10}});
  const int32_t dst = b.Output({DType::kS8, {2, 10}});
  const int32_t weights =
      b.Const(DType::kBytes, {packed.bytes()}, Bytes(static_cast<size_t>(packed.bytes())));
  const bool integer = rounding == Rounding::kHalfUp || rounding == Rounding::kTwoStep ||
                       rounding == Rounding::kHalfAway || rounding == Rounding::kTwoStepUp;
  const ChannelRequant record = integer ? ChannelRequant{3, 1 << 30, 40} : ChannelRequant{3, 0, 0};
  const int32_t requant = b.Const(DType::kBytes, {120}, std::vector<ChannelRequant>(10, record));
  b.Add(Opcode::kMatMul, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  First(&b).Set(Field::kClampHiQ, 127).Set(Field::kSrc2, -1);
  SetRounding(&b, rounding);
  if (rounding == Rounding::kHalfFloat) First(&b).SetFloat(Field::kScaleF, 1.0f);
  (void)old;
  return b;
}

TEST(VerifyRounding, RecordsOfIntegerRoundings) {
  for (const Rounding rounding :
       {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kHalfAway, Rounding::kTwoStepUp}) {
    const ProgramBuilder b = MatMul(rounding);
    ExpectRefused(b, "channel 4: multiplier", [](auto* p) {
      SetRecord(p, 4, {0, (1 << 30) - 1, 40});
    });
    ExpectRefused(b, "channel 4: multiplier", [](auto* p) { SetRecord(p, 4, {0, -5, 40}); });
    ExpectRefused(b, "channel 9: rshift is -1", [](auto* p) { SetRecord(p, 9, {0, 1 << 30, -1}); });
    ExpectRefused(b, "channel 9: rshift is 63", [](auto* p) { SetRecord(p, 9, {0, 1 << 30, 63}); });
    const auto marked = [](auto* p) { SetRecord(p, 9, {0, 1 << 30, 126}); };
    if (rounding == Rounding::kTwoStepUp) {
      ExpectAccepted(b, marked);
      ExpectRefused(b, "rshift is 127", [](auto* p) { SetRecord(p, 9, {0, 1 << 30, 127}); });
    } else {
      ExpectRefused(b, "rshift is 126", marked);
    }
  }
}

// As many records again are those of accumulators below 0.
TEST(VerifyRounding, RecordsBelowZero) {
  const auto twice = [](ProgramBuilder b) {
    std::vector<ChannelRequant> records(10, {3, 1 << 30, 40});
    records.resize(20, {0, 1 << 30, 43});
    First(&b).Set(Field::kRequant, b.Const(DType::kBytes, {240}, records));
    return b;
  };
  const ProgramBuilder b = twice(MatMul(Rounding::kHalfUp));
  ExpectAccepted(b, [](auto* p) { SetRecord(p, 14, {0, 0, 0}); });
  ExpectRefused(b, "requant below 0 of channel 4: bias is 7, expected 0", [](auto* p) {
    SetRecord(p, 14, {7, 1 << 30, 40});
  });
  ExpectRefused(b, "requant below 0 of channel 9: multiplier is 12", [](auto* p) {
    SetRecord(p, 19, {0, 12, 40});
  });
  ExpectRefused(b, "requant below 0 of channel 0: rshift is 63", [](auto* p) {
    SetRecord(p, 10, {0, 1 << 30, 63});
  });
  ExpectRefused(b, "requant of channel 4: multiplier", [](auto* p) {
    SetRecord(p, 4, {0, 12, 40});
  });
  for (const Rounding rounding : {Rounding::kTwoStep, Rounding::kHalfAway, Rounding::kTwoStepUp})
    EXPECT_THAT(LoadError(twice(MatMul(rounding))), HasSubstr("expected 120 bytes"));
}

TEST(VerifyRounding, RecordsOfFloatRoundings) {
  for (const Rounding rounding :
       {Rounding::kFloatEven, Rounding::kFloatZeroEven, Rounding::kHalfFloat}) {
    const ProgramBuilder b = MatMul(rounding);
    ExpectAccepted(b, [](auto* p) { SetRecord(p, 4, FloatRecord(3e38f, 0)); });
    for (const float scale : {-0.5f, kNan, kInfinity, -0.0f}) {
      ExpectRefused(b, "channel 4: scale is",
                    [&](auto* p) { SetRecord(p, 4, FloatRecord(scale, 0)); });
    }
    if (rounding == Rounding::kFloatEven) {
      ExpectRefused(b, "expected 0 under rounding 2",
                    [](auto* p) { SetRecord(p, 4, FloatRecord(1, 1)); });
      continue;
    }
    ExpectAccepted(b, [](auto* p) { SetRecord(p, 4, FloatRecord(1, -2.5f)); });
    for (const float bias : {kNan, kInfinity, -kInfinity}) {
      ExpectRefused(b, "channel 4: bias_f is",
                    [&](auto* p) { SetRecord(p, 4, FloatRecord(1, bias)); });
    }
  }
}

TEST(VerifyRounding, RecordsOfDoubles) {
  const auto set = [](ProgramBuilder* p, double scale) {
    const auto bits = std::bit_cast<uint64_t>(scale);
    SetRecord(p, 2, {0, static_cast<int32_t>(bits >> 32), static_cast<int32_t>(bits)});
  };
  const ProgramBuilder b = MatMul(Rounding::kDoubleAway);
  ExpectAccepted(b, [&](auto* p) { set(p, 0.123); });
  for (const double scale : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    ExpectRefused(b, "channel 2: scale is", [&](auto* p) { set(p, scale); });
  }
}

TEST(VerifyRounding, WeightZeroPointsBelongToTheBound) {
  // Seven weights of 0 less a zero point of 100: |bias| + 255 * 700 < 2^31.
  ProgramBuilder b = MatMul(Rounding::kHalfUp);
  First(&b).Set(Field::kZeroW, b.Const(DType::kS32, {10}, std::vector<int32_t>(10, 100)));
  ExpectAccepted(b, [](auto* p) {
    SetRecord(p, 1, {static_cast<int32_t>((int64_t{1} << 31) - 178501), 1 << 30, 40});
  });
  ExpectRefused(b, "the accumulator may reach 2147483648", [](auto* p) {
    SetRecord(p, 1, {static_cast<int32_t>((int64_t{1} << 31) - 178500), 1 << 30, 40});
  });
}

int32_t PostOps(ProgramBuilder* b, const std::vector<float>& list) {
  return b->Const(DType::kF32, {static_cast<int64_t>(list.size())}, list);
}

TEST(VerifyRounding, PostOperations) {
  const auto set = [](ProgramBuilder* p, const std::vector<float>& list) {
    const int32_t constant = PostOps(p, list);
    First(p).Set(Field::kList, constant);
  };
  const ProgramBuilder b = MatMul(Rounding::kFloatZeroEven);
  ExpectAccepted(b, [&](auto* p) { set(p, {1, 0.5f, 0, 1, 4, -kInfinity, kInfinity, 2}); });
  const std::string no_kind = std::to_string(kPostOpKindCount);
  ExpectRefused(b, "post-operation 1: kind is " + no_kind, [&](auto* p) {
    set(p, {1, 0, 0, 1, static_cast<float>(kPostOpKindCount), 0, 0, 1});
  });
  ExpectRefused(b, "kind is 1.5", [&](auto* p) { set(p, {1.5f, 0, 0, 1}); });
  ExpectRefused(b, "kind is -1", [&](auto* p) { set(p, {-1, 0, 0, 1}); });
  ExpectRefused(b, "kind is", [&](auto* p) { set(p, {kNan, 0, 0, 1}); });
  ExpectRefused(b, "number 1 is", [&](auto* p) { set(p, {1, kNan, 0, 1}); });
  ExpectRefused(b, "number 3 is", [&](auto* p) { set(p, {4, 0, 0, kInfinity}); });
  ExpectRefused(b, "number 1 is", [&](auto* p) { set(p, {3, kInfinity, 0, 1}); });
  ExpectRefused(b, "four numbers", [&](auto* p) { set(p, {1, 0, 0}); });
  ExpectRefused(b, "at most 32", [&](auto* p) { set(p, std::vector<float>(4 * 33, 7)); });
  ExpectRefused(b, "adds src2, which is absent", [&](auto* p) { set(p, {0, 0, 0, 1}); });
  ExpectRefused(b, "no post-operation adds it", [](auto* p) { First(p).Set(Field::kSrc2, 1); });
  ExpectRefused(MatMul(Rounding::kFloatEven), "post-operations under rounding 2", [&](auto* p) {
    set(p, {1, 0, 0, 1});
  });
}

// Of 10 channels: 12 numbers in each list.
TEST(VerifyRounding, NumbersOfChannelsFollowTheirPostOperation) {
  const auto list = [](float kind, size_t numbers, float last) {
    std::vector<float> made = {kind, 0, 0, 1};
    made.resize(4 + numbers, 0.5f);
    made.back() = last;
    return made;
  };
  const ProgramBuilder b = MatMul(Rounding::kFloatZeroEven);
  const auto set = [&](float kind, size_t numbers, float last) {
    return [=](ProgramBuilder* p) {
      First(p).Set(Field::kList, PostOps(p, list(kind, numbers, last)));
    };
  };
  ExpectAccepted(b, set(12, 24, 0));
  ExpectAccepted(b, set(13, 12, 0));
  ExpectRefused(b, "20 numbers follow, expected 2 for each of 10 channels", set(12, 20, 0));
  ExpectRefused(b, "8 numbers follow, expected 1 for each of 10 channels", set(13, 8, 0));
  ExpectRefused(b, "the number of a channel is", set(12, 24, kInfinity));
  ExpectRefused(b, "post-operation 1: kind is 0.5", set(13, 16, 0));
}

TEST(VerifyRounding, TheAddendHasBytesOfTheDestinationsShape) {
  ProgramBuilder b = MatMul(Rounding::kFloatZeroEven);
  const int32_t list = PostOps(&b, {7, 0, 0, 1, 0, 0, 0, 0.5f});
  First(&b).Set(Field::kList, list).Set(Field::kSrc2, 1);
  ExpectAccepted(b, [](auto* p) { Of(p, Field::kSrc2).dtype = DType::kU8; });
  ExpectRefused(b, "equal shapes", [](auto* p) { Of(p, Field::kSrc2).shape = {10, 2}; });
  ExpectRefused(b, "overlaps dst", [](auto* p) {
    const int32_t middle = p->Arena({DType::kS8, {2, 10}});
    p->Add(Opcode::kExpand, middle, 1);
    std::swap(p->image.commands[0], p->image.commands[1]);
    p->image.commands[1].Set(Field::kSrc2, middle);
    (*p)[middle].offset = (*p)[p->image.commands[1].Tensor(Field::kDst)].offset;
  });
}

TEST(VerifyRounding, RealResultsAreNeitherRoundedNorClamped) {
  ProgramBuilder b = MatMul(Rounding::kFloatZeroEven);
  const int32_t real = b.Output({DType::kF32, {2, 10}});
  First(&b).Set(Field::kDst, real).Set(Field::kClampLoQ, 0).Set(Field::kClampHiQ, 0);
  b.Add(Opcode::kExpand, 2, 1);  // the output that the product wrote
  ExpectAccepted(b, [](auto*) {});
  ExpectRefused(b, "expected f32 under 3", [](auto* p) { SetRounding(p, Rounding::kFloatEven); });
  ExpectRefused(b, "clamp_hi is 127", [](auto* p) { First(p).Set(Field::kClampHiQ, 127); });
  ExpectRefused(b, "expected s8 or u8", [](auto* p) { Of(p, Field::kDst).dtype = DType::kS32; });
}

TEST(VerifyRounding, WhatARoundingDoesNotUseIsAtItsDefault) {
  for (const Rounding rounding : {Rounding::kHalfUp, Rounding::kFloatZeroEven}) {
    const ProgramBuilder b = MatMul(rounding);
    ExpectRefused(b, "flags is 1", [](auto* p) { First(p).Set(Field::kFlags, 1); });
    ExpectRefused(b, "mode is 1", [](auto* p) { First(p).Set(Field::kMode, 1); });
    ExpectRefused(b, "expected 0 where nothing",
                  [](auto* p) { First(p).SetFloat(Field::kScaleF, 1); });
    ExpectRefused(b, "expected 0 where nothing",
                  [](auto* p) { First(p).SetFloat(Field::kOffsetF, 1); });
  }
  const ProgramBuilder b = MatMul(Rounding::kHalfFloat);
  ExpectAccepted(b, [](auto* p) { First(p).Set(Field::kFlags, 7).Set(Field::kMode, 4); });
  for (const float scale : {0.0f, -1.0f, kInfinity}) {
    ExpectRefused(b, "scale is", [&](auto* p) { First(p).SetFloat(Field::kScaleF, scale); });
  }
  ExpectRefused(b, "offset_f is", [](auto* p) { First(p).SetFloat(Field::kOffsetF, kInfinity); });
}

ProgramBuilder Eltwise(Opcode opcode) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, 8}}), src2 = b.Input({DType::kU8, {2, 8}});
  const int32_t dst = b.Output({DType::kS8, {2, 8}});
  b.Add(opcode, dst, src).Set(Field::kSrc2, src2);
  First(&b).Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  for (const Field f : {Field::kMultiplier, Field::kMultiplier2, Field::kMultiplier3})
    First(&b).Set(f, 1 << 30);
  for (const Field f : {Field::kRshift, Field::kRshift2, Field::kRshift3}) First(&b).Set(f, 40);
  if (opcode == Opcode::kAdd)
    First(&b).Set(Field::kMultiplier, 9).Set(Field::kMultiplier2, 9).Set(Field::kRshift, 4);
  return b;
}

TEST(VerifyRounding, RoundingsThatACommandDoesNotHave) {
  struct Allowed {
    Opcode opcode;
    std::vector<int> roundings;
  };
  for (const Allowed& allowed :
       {Allowed{Opcode::kAdd, {0, 5}}, Allowed{Opcode::kAddShifted, {0, 1, 6}},
        Allowed{Opcode::kMul, {0, 1, 2, 3, 5, 6}}}) {
    for (int rounding = 0; rounding < kRoundingCount; ++rounding) {
      ProgramBuilder b = Eltwise(allowed.opcode);
      SetRounding(&b, static_cast<Rounding>(rounding));
      if (rounding == 2 || rounding == 3) First(&b).Set(Field::kRshift, 0);
      const bool ok = std::count(allowed.roundings.begin(), allowed.roundings.end(), rounding) > 0;
      SCOPED_TRACE(rounding);
      const std::string message = LoadError(b);
      if (ok)
        EXPECT_EQ(message, kNoError);
      else
        EXPECT_THAT(message, HasSubstr("rounding is"));
    }
  }
}

TEST(VerifyRounding, AdditionsAndProducts) {
  const ProgramBuilder shifted = Eltwise(Opcode::kAddShifted), mul = Eltwise(Opcode::kMul),
                       fma = Eltwise(Opcode::kAddFma), add = Eltwise(Opcode::kAdd);
  ExpectRefused(shifted, "first operand: multiplier",
                [](auto* b) { First(b).Set(Field::kMultiplier, 5); });
  ExpectRefused(shifted, "second operand: multiplier",
                [](auto* b) { First(b).Set(Field::kMultiplier2, 5); });
  ExpectRefused(shifted, "sum: multiplier", [](auto* b) { First(b).Set(Field::kMultiplier3, 5); });
  ExpectRefused(shifted, "rshift is 30", [](auto* b) { First(b).Set(Field::kRshift, 30); });
  ExpectRefused(shifted, "rshift2 is 30", [](auto* b) { First(b).Set(Field::kRshift2, 30); });
  ExpectAccepted(shifted, [](auto* b) { First(b).Set(Field::kRshift3, 0); });
  ExpectRefused(shifted, "mode is 1", [](auto* b) { First(b).Set(Field::kMode, 1); });
  ExpectAccepted(shifted, [](auto* b) { First(b).Set(Field::kMode, 2).Set(Field::kRounding, 1); });
  ExpectRefused(mul, "product: multiplier", [](auto* b) { First(b).Set(Field::kMultiplier, 5); });
  ExpectRefused(mul, "product: rshift is 40", [](auto* b) { First(b).Set(Field::kRounding, 3); });
  ExpectRefused(mul, "product: scale is inf", [](auto* b) {
    First(b).Set(Field::kRounding, 2).Set(Field::kRshift, 0).Set(Field::kMultiplier, 0x7f800000);
  });
  ExpectRefused(mul, "equal shapes", [](auto* b) { Of(b, Field::kSrc2).shape = {8, 2}; });
  for (const Field f : {Field::kScaleF, Field::kAlphaF, Field::kOffsetF}) {
    ExpectRefused(fma, "expected a finite number",
                  [&](auto* b) { First(b).SetFloat(f, -kInfinity); });
  }
  // In 64 bits any sum fits.
  ExpectRefused(add, "the sum may reach",
                [](auto* b) { First(b).Set(Field::kMultiplier, INT32_MAX); });
  ExpectAccepted(add, [](auto* b) {
    First(b).Set(Field::kMultiplier, INT32_MIN).Set(Field::kRshift, 62).Set(Field::kRounding, 5);
  });
}

ProgramBuilder Pool(int64_t mode) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kU8, {1, 6, 6, 3}}),
                dst = b.Output({DType::kU8, {1, 3, 3, 3}});
  Command& c =
      b.Add(Opcode::kAveragePool, dst, src).Set(Field::kKernelH, 2).Set(Field::kKernelW, 2);
  c.Set(Field::kStrideH, 2).Set(Field::kStrideW, 2).Set(Field::kClampHiQ, 255);
  c.Set(Field::kMode, mode);
  if (mode == 5) c.Set(Field::kRounding, 6);
  return b;
}

TEST(VerifyRounding, AveragePools) {
  for (int64_t mode = 0; mode <= 5; ++mode) {
    SCOPED_TRACE(mode);
    const ProgramBuilder b = Pool(mode);
    if (mode != 0 && mode != 4)
      ExpectRefused(b, "scale_f is", [](auto* p) { First(p).SetFloat(Field::kScaleF, 1); });
    if (mode != 0 && mode != 5)
      ExpectRefused(b, "offset_f is", [](auto* p) { First(p).SetFloat(Field::kOffsetF, 1); });
    if (mode == 3 || mode == 5) {
      ExpectRefused(b, "rounding is 4", [](auto* p) { First(p).Set(Field::kRounding, 4); });
      ExpectRefused(b, "flags is 1", [](auto* p) { First(p).Set(Field::kFlags, 1); });
      ExpectRefused(b, "last window reaches 7 of 6", [](auto* p) {
        First(p).Set(Field::kKernelH, 3);
        Of(p, Field::kDst).shape = {1, 3, 3, 3};
      });
      ExpectRefused(b, "pad_left is 1", [](auto* p) {
        First(p).Set(Field::kPadLeft, 1).Set(Field::kPadRight, 1).Set(Field::kKernelW, 4);
      });
      ExpectRefused(b, "average: scale is inf", [](auto* p) {
        First(p).Set(Field::kRounding, 3).Set(Field::kMultiplier, 0x7f800000);
      });
    } else {
      ExpectRefused(b, "rounding is 1", [](auto* p) { First(p).Set(Field::kRounding, 1); });
      ExpectRefused(b, "rshift is 1", [](auto* p) { First(p).Set(Field::kRshift, 1); });
      ExpectRefused(b, "multiplier is 1", [](auto* p) { First(p).Set(Field::kMultiplier, 1); });
    }
  }
  ExpectRefused(Pool(1), "flags is 1", [](auto* p) { First(p).Set(Field::kFlags, 1); });
  ExpectRefused(Pool(2), "scale is 0", [](auto* p) { Of(p, Field::kSrc).scale = 0; });
  ExpectRefused(Pool(4), "scale_f is inf",
                [](auto* p) { First(p).SetFloat(Field::kScaleF, kInfinity); });
  ExpectRefused(Pool(5), "offset is 0.5",
                [](auto* p) { First(p).SetFloat(Field::kOffsetF, 0.5f); });
  ExpectAccepted(
      Pool(5), [](auto* p) { First(p).SetFloat(Field::kOffsetF, 0.5f).Set(Field::kRounding, 3); });
  ExpectRefused(Pool(5), "offset is", [](auto* p) {
    First(p).SetFloat(Field::kOffsetF, kInfinity).Set(Field::kRounding, 3);
  });
}

TEST(VerifyRounding, OneRoundingOnly) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {8}}), dst = b.Output({DType::kS8, {8}});
  b.Add(Opcode::kLeakyRelu, dst, src).Set(Field::kClampHiQ, 127);
  ExpectRefused(b, "rounding is 1, expected 0", [](auto* p) { First(p).Set(Field::kRounding, 1); });
  b.image.commands.clear();
  b.Add(Opcode::kRequantize, dst, src).Set(Field::kClampHiQ, 127);
  ExpectRefused(b, "rounding is 2", [](auto* p) { First(p).Set(Field::kRounding, 2); });
  ExpectAccepted(b, [](auto* p) { First(p).Set(Field::kRounding, 6); });
}

// Modes 3 and 4 are in Q2.30, the others of floats or in Q0.31.
ProgramBuilder Softmax(int64_t mode, int64_t columns) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, columns}});
  const int32_t dst = b.Output({DType::kS8, {2, columns}, 1.0f / 256, -128});
  const int32_t entry = mode == 0 ? INT32_MAX : mode >= 3 ? 1 << 30 : std::bit_cast<int32_t>(1.0f);
  const int32_t table = b.Const(DType::kBytes, {1024}, std::vector<int32_t>(256, entry));
  b.Add(Opcode::kSoftmax, dst, src).Set(Field::kTable, table).Set(Field::kMode, mode);
  First(&b).Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  return b;
}

TEST(VerifyRounding, SoftmaxTables) {
  const auto set = [](ProgramBuilder* p, int index, int32_t word) {
    std::memcpy(p->image.constants.data() + Of(p, Field::kTable).offset + 4 * index, &word, 4);
  };
  const auto bits = [](float value) { return std::bit_cast<int32_t>(value); };
  EXPECT_EQ(LoadError(Softmax(0, 4095)), kNoError);
  EXPECT_THAT(LoadError(Softmax(0, 4096)), HasSubstr("rows of 4096"));
  ExpectRefused(Softmax(0, 10), "an entry is -1", [&](auto* p) { set(p, 255, -1); });
  ExpectRefused(Softmax(0, 10), "first entry is 2047", [&](auto* p) { set(p, 0, 2047); });
  ExpectRefused(Softmax(0, 10), "expected 1024 bytes", [](auto* p) {
    const int32_t table = p->Const(DType::kBytes, {256}, Bytes(256));
    First(p).Set(Field::kTable, table);
  });
  for (const int64_t mode : {3, 4}) {
    ExpectRefused(Softmax(mode, 10), "an entry is -1", [&](auto* p) { set(p, 255, -1); });
    ExpectRefused(Softmax(mode, 10), "an entry is", [&](auto* p) { set(p, 9, (1 << 30) + 1); });
    ExpectRefused(Softmax(mode, 10), "first entry is", [&](auto* p) { set(p, 0, (1 << 30) - 1); });
    ExpectRefused(Softmax(mode, 10), "scale is", [](auto* p) { Of(p, Field::kDst).scale = kNan; });
    EXPECT_EQ(LoadError(Softmax(mode, 1 << 20)), kNoError);
    EXPECT_THAT(LoadError(Softmax(mode, (1 << 20) + 1)), HasSubstr("expected at most 1048576"));
  }
  // A difference of logarithms is in units of x; a quotient is not.
  const auto unscale = [](auto* p) {
    TensorRecord& src = Of(p, Field::kSrc);
    src.quantized = false, src.scale = 0, src.zero_point = 0;
  };
  ExpectAccepted(Softmax(3, 10), unscale);
  ExpectRefused(Softmax(4, 10), "expected a positive finite number", unscale);
  for (const int64_t mode : {1, 2}) {
    ExpectRefused(Softmax(mode, 10), "an entry is", [&](auto* p) { set(p, 3, bits(-1.0f)); });
    ExpectRefused(Softmax(mode, 10), "an entry is", [&](auto* p) { set(p, 3, bits(kNan)); });
    ExpectRefused(Softmax(mode, 10), "an entry is", [&](auto* p) { set(p, 3, bits(kInfinity)); });
    ExpectRefused(Softmax(mode, 10), "first entry", [&](auto* p) { set(p, 0, 0); });
    ExpectRefused(Softmax(mode, 10), "may overflow", [&](auto* p) { set(p, 9, bits(2e37f)); });
    ExpectRefused(Softmax(mode, 10), "scale is", [](auto* p) { Of(p, Field::kDst).scale = 0; });
  }
}

}  // namespace
}  // namespace rshift::testing
