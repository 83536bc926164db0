// A valid program of each family, spoilt in one way at a time: each must be refused with a message
// that says what.
#include "runtime/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "runtime/kernels/weight_sums.h"
#include "tests/base/error_of.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

Command& First(ProgramBuilder* b) { return b->image.commands[0]; }
TensorRecord& Of(ProgramBuilder* b, Field f) { return (*b)[First(b).Tensor(f)]; }
uint8_t* Data(ProgramBuilder* b, Field f) { return b->image.constants.data() + Of(b, f).offset; }

// 1x5x5x6 -> 3x3, pads 1 -> 1x5x5x20, 2 groups.
ProgramBuilder Conv() {
  ProgramBuilder b;
  const PackedShape packed{2, 10, 3, 9};
  const int32_t src = b.Input({DType::kS8, {1, 5, 5, 6}}),
                dst = b.Output({DType::kS8, {1, 5, 5, 20}});
  const int32_t weights =
      b.Const(DType::kBytes, {packed.bytes()}, Bytes(static_cast<size_t>(packed.bytes())));
  const std::vector<ChannelRequant> records(20, {5, 1 << 30, 33});
  const int32_t requant = b.Const(DType::kBytes, {240}, records);
  Command& c =
      b.Add(Opcode::kConv, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  c.Set(Field::kKernelH, 3).Set(Field::kKernelW, 3).Set(Field::kGroups, 2);
  for (const Field pad : {Field::kPadTop, Field::kPadLeft, Field::kPadBottom, Field::kPadRight})
    c.Set(pad, 1);
  c.Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  return b;
}

TEST(Verify, ConvGeometry) {
  ExpectRefused(Conv(), "output height", [](auto* b) { First(b).Set(Field::kStrideH, 2); });
  ExpectRefused(Conv(), "output width", [](auto* b) { First(b).Set(Field::kPadRight, 2); });
  ExpectRefused(Conv(), "output height", [](auto* b) { First(b).Set(Field::kDilationH, 1 << 20); });
  ExpectRefused(Conv(), "groups do not divide", [](auto* b) { First(b).Set(Field::kGroups, 4); });
  ExpectRefused(Conv(), "[N, H, W, C]", [](auto* b) { Of(b, Field::kSrc).shape = {1, 25, 6}; });
  ExpectRefused(Conv(), "expected equal N", [](auto* b) {
    Of(b, Field::kDst).shape = {4, 5, 5, 5};
  });
  ExpectRefused(Conv(), "expected s8, u8, s16 or u16",
                [](auto* b) { Of(b, Field::kSrc).dtype = DType::kBool; });
}

TEST(Verify, ConvConstants) {
  ExpectRefused(Conv(), "expected 1152 bytes",
                [](auto* b) { Of(b, Field::kWeights).shape = {1088}; });
  ExpectRefused(Conv(), "padding is not zero", [](auto* b) { Data(b, Field::kWeights)[3] = 1; });
  ExpectRefused(Conv(), "padding is not zero", [](auto* b) { Data(b, Field::kWeights)[40] = 1; });
  ExpectRefused(Conv(), "expected 240 bytes",
                [](auto* b) { Of(b, Field::kRequant).shape = {252}; });
  ExpectRefused(Conv(), "channel 0: multiplier",
                [](auto* b) { Data(b, Field::kRequant)[7] = 0x20; });
  ExpectRefused(Conv(), "channel 1: multiplier",
                [](auto* b) { Data(b, Field::kRequant)[19] = 0xc0; });
  ExpectRefused(Conv(), "channel 0: rshift is 63",
                [](auto* b) { Data(b, Field::kRequant)[8] = 63; });
  ExpectRefused(Conv(), "channel 0: rshift is 289",
                [](auto* b) { Data(b, Field::kRequant)[9] = 1; });
  ExpectRefused(Conv(), "accumulator", [](auto* b) {
    const int32_t bias = std::numeric_limits<int32_t>::min();
    std::memcpy(Data(b, Field::kRequant), &bias, sizeof(bias));
  });
}

TEST(Verify, AccumulatorBoundIsExact) {
  // One weight of 1: |bias| + 255 < 2^31 allows 2^31 - 256 and not one more.
  for (const int64_t bias : {(int64_t{1} << 31) - 256, (int64_t{1} << 31) - 255}) {
    ProgramBuilder b = Conv();
    Data(&b, Field::kWeights)[0] = 1;
    const auto narrow = static_cast<int32_t>(-bias);
    std::memcpy(Data(&b, Field::kRequant), &narrow, sizeof(narrow));
    EXPECT_EQ(LoadError(b) == kNoError, bias == (int64_t{1} << 31) - 256) << bias;
  }
}

// What the proof learned is what a Session uses: equal to sums by hand, absent where no kernel of
// this architecture flips the source.
TEST(Verify, ProofHasTheSumsOfWeights) {
  for (const DType type : {DType::kS8, DType::kU8}) {
    ProgramBuilder b = Conv();
    Of(&b, Field::kSrc).dtype = type;
    const PackedShape packed{2, 10, 3, 9};
    Data(&b, Field::kWeights)[packed.Offset(4, 2, 1)] = 100;
    Data(&b, Field::kWeights)[packed.Offset(4, 8, 2)] = 0x80;
    Data(&b, Field::kWeights)[packed.group_bytes() + packed.Offset(9, 0, 0)] = 7;
    std::vector<uint32_t> expected(20);
    expected[4] = static_cast<uint32_t>(-28);
    expected[19] = 7;
    const Program program = b.Build();
    ASSERT_EQ(program.proof().weight_sums.size(), 1u);
    EXPECT_EQ(program.proof().weight_sums[0],
              (type == DType::kS8) == kFlippedSigned ? expected : std::vector<uint32_t>());
  }
}

// A program that is damaged is called damaged, whatever the verifier stumbles over first.
TEST(Verify, DamageComesBeforeMeaning) {
  ProgramBuilder b = Conv();
  Bytes file = b.File();
  const auto constants = file.size() - b.image.constants.size();
  for (const Field f : {Field::kWeights, Field::kRequant}) {
    const size_t at = constants + Of(&b, f).offset + 3;  // padding of the first quad; a bias
    file[at] ^= 0x80;
    EXPECT_THAT(ErrorOf([&] { Program::FromBytes(file); }), HasSubstr("checksum differs"));
    file[at] ^= 0x80;
  }
}

TEST(Verify, ConvQuantization) {
  ExpectRefused(Conv(), "clamp is", [](auto* b) { First(b).Set(Field::kClampHiQ, 128); });
  ExpectRefused(Conv(), "clamp is",
                [](auto* b) { First(b).Set(Field::kClampLoQ, 20).Set(Field::kClampHiQ, 10); });
  ExpectRefused(Conv(), "zero point is 200", [](auto* b) { Of(b, Field::kSrc).zero_point = 200; });
  ExpectRefused(Conv(), "weight zero point", [](auto* b) {
    const int32_t zero_w = b->Const(DType::kS32, {20}, std::vector<int32_t>(20, 128));
    First(b).Set(Field::kZeroW, zero_w);
  });
  ExpectRefused(Conv(), "expected shape 20", [](auto* b) {
    const int32_t zero_w = b->Const(DType::kS32, {19}, std::vector<int32_t>(19, 1));
    First(b).Set(Field::kZeroW, zero_w);
  });
}

ProgramBuilder MatMul() {
  ProgramBuilder b;
  const PackedShape packed{1, 10, 7, 1};
  const int32_t src = b.Input({DType::kU8, {2, 3, 7}}), dst = b.Output({DType::kU8, {2, 3, 10}});
  const int32_t weights =
      b.Const(DType::kBytes, {packed.bytes()}, Bytes(static_cast<size_t>(packed.bytes())));
  const int32_t requant = b.Const(DType::kBytes, {120}, std::vector<ChannelRequant>(10));
  b.Add(Opcode::kMatMul, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  First(&b).Set(Field::kClampHiQ, 255);
  return b;
}

TEST(Verify, MatMulShapes) {
  ExpectRefused(MatMul(), "expected shape 2x3x10", [](auto* b) {
    Of(b, Field::kDst).shape = {3, 2, 10};
  });
  ExpectRefused(MatMul(), "expected 192 bytes", [](auto* b) {
    Of(b, Field::kSrc).shape = {2, 2, 10};
    Of(b, Field::kDst).shape = {2, 2, 10};
    Of(b, Field::kWeights).shape = {128};
  });
}

ProgramBuilder Depthwise() {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kU8, {1, 4, 4, 5}}),
                dst = b.Output({DType::kU8, {1, 3, 3, 5}});
  const int32_t weights = b.Const(DType::kBytes, {256}, Bytes(256));
  const int32_t requant = b.Const(DType::kBytes, {60}, std::vector<ChannelRequant>(5));
  b.Add(Opcode::kDepthwise, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  First(&b).Set(Field::kKernelH, 2).Set(Field::kKernelW, 2).Set(Field::kClampHiQ, 255);
  return b;
}

TEST(Verify, DepthwiseShapesAndPadding) {
  ExpectRefused(Depthwise(), "expected 5 channels", [](auto* b) {
    Of(b, Field::kDst).shape = {1, 3, 3, 4};
  });
  ExpectRefused(Depthwise(), "expected 256 bytes",
                [](auto* b) { Of(b, Field::kWeights).shape = {192}; });
  ExpectRefused(Depthwise(), "padding is not zero",
                [](auto* b) { Data(b, Field::kWeights)[5] = 1; });
  const auto add_zeros = [](auto* b, DType type, int64_t count) {
    First(b).Set(Field::kZeroX, b->Const(type, {count}, Bytes(static_cast<size_t>(count))));
  };
  ExpectRefused(Depthwise(), "expected u8 5", [&](auto* b) { add_zeros(b, DType::kS8, 5); });
  ExpectRefused(Depthwise(), "expected u8 5", [&](auto* b) { add_zeros(b, DType::kU8, 4); });
}

ProgramBuilder Add(Opcode opcode) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, 8}}), src2 = b.Input({DType::kU8, {2, 8}});
  const int32_t dst = b.Output({DType::kS8, {2, 8}});
  b.Add(opcode, dst, src)
      .Set(Field::kSrc2, src2)
      .Set(Field::kClampLoQ, -128)
      .Set(Field::kClampHiQ, 127);
  if (opcode == Opcode::kAdd) First(&b).Set(Field::kMultiplier, 100).Set(Field::kMultiplier2, 100);
  return b;
}

TEST(Verify, Additions) {
  const ProgramBuilder add = Add(Opcode::kAdd), add_float = Add(Opcode::kAddFloat);
  ExpectRefused(add, "the sum may reach",
                [](auto* b) { First(b).Set(Field::kMultiplier, 1 << 24); });
  ExpectRefused(add, "the sum may reach",
                [](auto* b) { First(b).Set(Field::kMultiplier2, INT32_MIN); });
  ExpectRefused(add, "rshift is 31", [](auto* b) { First(b).Set(Field::kRshift, 31); });
  // (128 + 255) * 4800000 fits 32 bits, (255 + 255) * 4800000 with other zero points does not.
  ExpectRefused(add, "the sum may reach 2448000000", [](auto* b) {
    First(b).Set(Field::kMultiplier, 4800000).Set(Field::kMultiplier2, -4800000);
    Of(b, Field::kSrc).zero_point = 127;
    Of(b, Field::kSrc2).zero_point = 255;
  });
  ExpectRefused(add, "expected equal shapes", [](auto* b) { Of(b, Field::kSrc2).shape = {8, 2}; });
  ExpectRefused(add_float, "scale is 0", [](auto* b) { Of(b, Field::kDst).scale = 0.0f; });
  ExpectRefused(add_float, "scale is", [](auto* b) {
    Of(b, Field::kSrc).quantized = false;
    Of(b, Field::kSrc).scale = 0.0f;
  });
}

ProgramBuilder Pool(Opcode opcode) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kU8, {1, 6, 6, 3}}),
                dst = b.Output({DType::kU8, {1, 3, 3, 3}});
  Command& c = b.Add(opcode, dst, src).Set(Field::kKernelH, 2).Set(Field::kKernelW, 2);
  c.Set(Field::kStrideH, 2).Set(Field::kStrideW, 2);
  if (opcode == Opcode::kAveragePool) c.Set(Field::kClampHiQ, 255).SetFloat(Field::kScaleF, 1.0f);
  return b;
}

TEST(Verify, Pools) {
  for (const Opcode opcode : {Opcode::kMaxPool, Opcode::kAveragePool}) {
    const ProgramBuilder pool = Pool(opcode);
    ExpectRefused(pool, "output height", [](auto* b) { First(b).Set(Field::kStrideH, 1); });
    ExpectRefused(pool, "equal channels", [](auto* b) { Of(b, Field::kDst).shape = {1, 3, 3, 2}; });
    ExpectRefused(pool, "outside the image", [](auto* b) {
      First(b)
          .Set(Field::kPadTop, 2)
          .Set(Field::kKernelH, 4);  // a dilation of 3 steps over the image's 1 row
      Of(b, Field::kSrc).shape = {1, 1, 6, 3};
      Of(b, Field::kDst).shape = {1, 2, 3, 3};
      First(b).Set(Field::kDilationH, 3).Set(Field::kPadBottom, 9);
      Of(b, Field::kDst).shape = {1, 2, 3, 3};
    });
    ExpectRefused(pool, "outside the image", [](auto* b) {
      First(b).Set(Field::kPadBottom, 2);
      Of(b, Field::kDst).shape = {1, 4, 3, 3};
      b->image.arena_size += 64;
    });
  }
  ExpectRefused(Pool(Opcode::kMaxPool), "equal element types",
                [](auto* b) { Of(b, Field::kDst).dtype = DType::kS8; });
  ExpectRefused(Pool(Opcode::kAveragePool), "may reach", [](auto* b) {
    First(b).Set(Field::kFlags, 1).Set(Field::kKernelH, 4096).Set(Field::kKernelW, 4096);
    First(b).Set(Field::kPadTop, 4095).Set(Field::kPadLeft, 4095);
    First(b).Set(Field::kStrideH, 3).Set(Field::kStrideW, 3);
    Of(b, Field::kDst).shape = {1, 2, 2, 3};
  });
}

TEST(Verify, Activations) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, 8}}), dst = b.Output({DType::kS8, {2, 8}});
  const int32_t slopes = b.Const(DType::kS8, {8}, Bytes(8)),
                table = b.Const(DType::kBytes, {256}, Bytes(256));
  b.Add(Opcode::kPRelu, dst, src).Set(Field::kSrc2, slopes).Set(Field::kClampHiQ, 127);
  ExpectRefused(b, "expected 1 slope", [](auto* p) { Of(p, Field::kSrc2).shape = {7}; });
  b.image.commands.clear();
  b.Add(Opcode::kTable, dst, src).Set(Field::kTable, table);
  ExpectRefused(b, "expected 256 bytes", [](auto* p) { Of(p, Field::kTable).shape = {255}; });
  ExpectRefused(b, "expected equal shapes", [](auto* p) { Of(p, Field::kDst).shape = {8, 2}; });
}

TEST(Verify, TablesOfChannels) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {2, 3}}), dst = b.Output({DType::kU8, {2, 3}});
  const int32_t numbers = b.Const(DType::kU8, {3}, Bytes{1, 1, 0}),
                tables = b.Const(DType::kBytes, {512}, Bytes(512));
  b.Add(Opcode::kChannelTables, dst, src).Set(Field::kSrc2, numbers).Set(Field::kTable, tables);
  ASSERT_EQ(LoadError(b), kNoError);
  ExpectRefused(b, "expected the number of a table for each channel",
                [](auto* p) { Of(p, Field::kSrc2).shape = {2}; });
  ExpectRefused(b, "channel 0 has table 1, there are 1",
                [](auto* p) { Of(p, Field::kTable).shape = {256}; });
  ExpectRefused(b, "expected 256 bytes", [](auto* p) { Of(p, Field::kTable).shape = {511}; });
  ExpectRefused(b, "expected equal shapes", [](auto* p) { Of(p, Field::kDst).shape = {3, 2}; });
}

// One movement command on u8 [2, 6] -> dst.
ProgramBuilder Move(Opcode opcode, const Shape& dst_shape, const std::vector<int64_t>& list = {},
                    const std::vector<int64_t>& list2 = {}) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kU8, {2, 6}}), dst = b.Output({DType::kU8, dst_shape});
  b.Add(opcode, dst, src);
  if (!list.empty()) First(&b).Set(Field::kList, b.List(list));
  if (!list2.empty()) First(&b).Set(Field::kList2, b.List(list2));
  return b;
}

TEST(Verify, Movements) {
  ASSERT_EQ(LoadError(Move(Opcode::kTranspose, {6, 2}, {1, 0})), kNoError);
  ExpectRefused(Move(Opcode::kTranspose, {6, 2}, {1, 1}), "permutation");
  ExpectRefused(Move(Opcode::kTranspose, {6, 2}, {1, 2}), "permutation");
  ExpectRefused(Move(Opcode::kTranspose, {6, 2}, {1, 0, 2}), "list of 2 entries");
  ExpectRefused(Move(Opcode::kTranspose, {2, 6}, {1, 0}), "expected shape 6x2");
  ASSERT_EQ(LoadError(Move(Opcode::kSlice, {2, 3}, {1, 5}, {-1, -2})), kNoError);
  ExpectRefused(Move(Opcode::kSlice, {2, 3}, {1, 3}, {-1, -2}), "leave");
  ExpectRefused(Move(Opcode::kSlice, {2, 3}, {0, 2}, {1, 2}), "leave");
  ExpectRefused(Move(Opcode::kSlice, {2, 3}, {0, 0}, {1, 0}), "leave");
  ExpectRefused(Move(Opcode::kSlice, {2, 3}, {0, 1}, {1, INT64_MAX}), "leave");
  ASSERT_EQ(LoadError(Move(Opcode::kPad, {4, 6}, {1, 0}, {1, 0})), kNoError);
  ExpectRefused(Move(Opcode::kPad, {4, 6}, {3, 0}, {-1, 0}), "with pads");
  ExpectRefused(Move(Opcode::kPad, {4, 7}, {1, 0}, {1, 0}), "with pads");
  ProgramBuilder reflect = Move(Opcode::kPad, {4, 6}, {2, 0}, {0, 0});
  First(&reflect).Set(Field::kMode, 1);
  ExpectRefused(reflect, "reflecting pad");
  ExpectRefused(Move(Opcode::kExpand, {3, 6}), "broadcast");
  ExpectRefused(Move(Opcode::kExpand, {6}), "broadcast");
  ASSERT_EQ(LoadError(Move(Opcode::kTile, {4, 6}, {2, 1})), kNoError);
  ExpectRefused(Move(Opcode::kTile, {4, 6}, {1, 2}), "repeated");
  ExpectRefused(Move(Opcode::kTile, {2, 6}, {1, -1}), "repeated");
  ASSERT_EQ(LoadError(Move(Opcode::kResizeNearest, {1, 3}, {1, 0, 5, 2})), kNoError);
  ExpectRefused(Move(Opcode::kResizeNearest, {1, 3}, {1, 0, 6, 2}), "outside dimension 1");
  ExpectRefused(Move(Opcode::kResizeNearest, {1, 3}, {-1, 0, 0, 2}), "outside dimension 0");
  ExpectRefused(Move(Opcode::kResizeNearest, {1, 3}, {0, 0, 0}), "list of 4 entries");
  ProgramBuilder types = Move(Opcode::kExpand, {2, 6});
  Of(&types, Field::kDst).dtype = DType::kS8;
  ExpectRefused(types, "equal element types");
}

TEST(Verify, CopyIntoStaysInsideItsDestination) {
  ProgramBuilder b = Move(Opcode::kCopyInto, {2, 6});
  First(&b).Set(Field::kAxis, 1);
  ExpectRefused(b, "leave", [](auto* p) { First(p).Set(Field::kOffset, 1); });
  ExpectRefused(b, "axis is 2", [](auto* p) { First(p).Set(Field::kAxis, 2); });
  ExpectRefused(b, "never written", [](auto* p) { Of(p, Field::kDst).shape = {2, 7}; });
  ExpectRefused(b, "expected shape 3x7", [](auto* p) {
    Of(p, Field::kDst).shape = {2, 7};
    Of(p, Field::kSrc).shape = {3, 4};
  });
}

TEST(Verify, GatherChecksConstantIndices) {
  for (const int64_t index : {int64_t{-6}, int64_t{5}, int64_t{6}, int64_t{-7}}) {
    ProgramBuilder b = Move(Opcode::kGather, {2, 1});
    First(&b).Set(Field::kAxis, 1);
    First(&b).Set(Field::kSrc2, b.List({index}));
    if (index == 6 || index == -7) {
      ExpectRefused(b, "outside an axis of 6");
    } else {
      EXPECT_EQ(LoadError(b), kNoError);
    }
  }
}

TEST(Verify, BytesMustBeWrittenBeforeTheyAreRead) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {64}}), middle = b.Arena({DType::kU8, {64}});
  const int32_t out = b.Output({DType::kU8, {64}});
  b.Add(Opcode::kExpand, middle, in);
  b.Add(Opcode::kExpand, out, middle);
  ExpectRefused(b, "never written",
                [](auto* p) { std::swap(p->image.commands[0], p->image.commands[1]); });
  ExpectRefused(b, "output 'out0'", [](auto* p) { p->image.commands.pop_back(); });
  b[out].offset = b[in].offset;  // an input that nothing reads any more
  EXPECT_EQ(LoadError(b), kNoError);
}

TEST(Verify, ADestinationOverlapsNoOperandButInPlace) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {8, 64}}), middle = b.Arena({DType::kU8, {8, 64}});
  const int32_t out = b.Output({DType::kU8, {64, 8}});
  b.Add(Opcode::kExpand, middle, in);
  b.Add(Opcode::kTranspose, out, middle).Set(Field::kList, b.List({1, 0}));
  ExpectRefused(b, "overlaps dst", [&](auto* p) { (*p)[out].offset = (*p)[middle].offset; });
  ExpectRefused(b, "overlaps dst", [&](auto* p) { (*p)[out].offset = (*p)[middle].offset + 64; });
  // A Table may run in place, but not shifted.
  ProgramBuilder t;
  const int32_t src = t.Input({DType::kU8, {128}}), a = t.Arena({DType::kU8, {128}}),
                c = t.Output({DType::kU8, {128}});
  const int32_t table = t.Const(DType::kBytes, {256}, Bytes(256));
  t.Add(Opcode::kTable, a, src).Set(Field::kTable, table);
  t.Add(Opcode::kTable, c, a).Set(Field::kTable, table);
  t[c].offset = t[a].offset;
  EXPECT_EQ(LoadError(t), kNoError);
  t[c].offset = t[a].offset + 64;
  ExpectRefused(t, "overlaps dst");
}

TEST(Verify, AConcatCountsWhenAllItsPartsAreThere) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {4, 3}}), cat = b.Arena({DType::kU8, {4, 6}});
  const int32_t out = b.Output({DType::kU8, {4, 6}});
  b.Add(Opcode::kCopyInto, cat, in).Set(Field::kAxis, 1);
  b.Add(Opcode::kCopyInto, cat, in).Set(Field::kAxis, 1).Set(Field::kOffset, 3);
  b.Add(Opcode::kExpand, out, cat);
  ExpectRefused(b, "never written",
                [](auto* p) { p->image.commands.erase(p->image.commands.begin()); });
  ExpectRefused(b, "never written", [](auto* p) { p->image.commands[1].Set(Field::kOffset, 2); });
}

// dst and src f32 [2, 6]; src2 f32 [6].
ProgramBuilder Float(Opcode opcode) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kF32, {2, 6}}), src2 = b.Input({DType::kF32, {6}});
  const int32_t dst = b.Output({DType::kF32, {2, 6}});
  b.Add(opcode, dst, src).Set(Field::kSrc2, src2);
  return b;
}

TEST(Verify, FloatCommands) {
  const ProgramBuilder binary = Float(Opcode::kBinaryF32), prelu = Float(Opcode::kPReluF32);
  ExpectRefused(binary, "broadcast", [](auto* b) { Of(b, Field::kSrc2).shape = {5}; });
  ExpectRefused(binary, "expected bool", [](auto* b) { First(b).Set(Field::kMode, 8); });
  ExpectRefused(binary, "equal element types",
                [](auto* b) { Of(b, Field::kSrc2).dtype = DType::kS32; });
  ExpectRefused(prelu, "expected equal shapes", [](auto* b) { Of(b, Field::kDst).shape = {12}; });
  ExpectRefused(Float(Opcode::kSoftmaxF32), "axis is 2",
                [](auto* b) { First(b).Set(Field::kAxis, 2); });
  ProgramBuilder norm = Float(Opcode::kLayerNormF32);
  First(&norm).Set(Field::kAxis, 1);
  ExpectRefused(norm, "expected 6 elements", [](auto* b) { Of(b, Field::kSrc2).shape = {5}; });
  ProgramBuilder reduce = Float(Opcode::kReduceF32);
  First(&reduce).Set(Field::kList, reduce.List({-1}));
  Of(&reduce, Field::kDst).shape = {2, 1};
  ExpectRefused(reduce, "expected 2 elements", [](auto* b) { Of(b, Field::kDst).shape = {2, 2}; });
  ExpectRefused(reduce, "out of range", [](auto* b) { First(b).Set(Field::kList, b->List({2})); });
}

TEST(Verify, MatMulF32Shapes) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kF32, {4, 2, 3}}), src2 = b.Input({DType::kF32, {3, 5}});
  const int32_t dst = b.Output({DType::kF32, {4, 2, 5}});
  b.Add(Opcode::kMatMulF32, dst, src).Set(Field::kSrc2, src2);
  ExpectRefused(b, "equal K", [](auto* p) { Of(p, Field::kSrc2).shape = {5, 3}; });
  ExpectRefused(b, "expected shape 4x2x5", [](auto* p) { Of(p, Field::kDst).shape = {2, 4, 5}; });
}

TEST(Verify, MessagesNameFileAndCommand) {
  ProgramBuilder b = Conv();
  b.image.command_names = {"conv_12"};
  First(&b).Set(Field::kStrideH, 2);
  EXPECT_THAT(LoadError(b), ::testing::StartsWith("test: command 0 (conv 'conv_12'): "));
}

}  // namespace
}  // namespace rshift::testing
