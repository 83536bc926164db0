// Every byte of a small program changed: the file is refused, or it is safe to run (the address
// sanitizer watches). Twice: on the file itself, where the checksums catch it, and on the image
// before it is written, where they do not.
#include <gtest/gtest.h>

#include <bit>

#include "base/error.h"
#include "codegen/container/container.h"
#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

// quantize -> conv -> leaky_relu -> max_pool -> copy_into twice -> transpose -> dequantize
ProgramBuilder SmallNet() {
  ProgramBuilder b;
  Random random(5);
  const int32_t in = b.Input({DType::kF32, {1, 6, 6, 3}});
  const int32_t q = b.Arena({DType::kS8, {1, 6, 6, 3}, 0.1f, 3}),
                conv = b.Arena({DType::kS8, {1, 6, 6, 5}});
  const int32_t leaky = b.Arena({DType::kS8, {1, 6, 6, 5}}),
                pool = b.Arena({DType::kS8, {1, 3, 3, 5}});
  const int32_t cat = b.Arena({DType::kS8, {1, 3, 3, 10}}),
                turned = b.Arena({DType::kS8, {1, 10, 3, 3}});
  const int32_t out = b.Output({DType::kF32, {1, 10, 3, 3}});
  b.Add(Opcode::kQuantize, q, in);
  const PackedShape packed = ConvPackedShape({1, 5, 3, 3, 3, 1});
  Bytes weights(static_cast<size_t>(packed.bytes()));
  for (int64_t oc = 0; oc < 5; ++oc) {
    for (int64_t i = 0; i < 27; ++i)
      weights[packed.Offset(oc, 0, i)] = static_cast<uint8_t>(random.Int(0, 255));
  }
  Command& c = b.Add(Opcode::kConv, conv, q);
  c.Set(Field::kWeights, b.Const(DType::kBytes, {packed.bytes()}, weights));
  c.Set(Field::kRequant,
        b.Const(DType::kBytes, {60}, std::vector<ChannelRequant>(5, {9, 1 << 30, 38})));
  c.Set(Field::kKernelH, 3)
      .Set(Field::kKernelW, 3)
      .Set(Field::kClampLoQ, -128)
      .Set(Field::kClampHiQ, 127);
  for (const Field pad : {Field::kPadTop, Field::kPadLeft, Field::kPadBottom, Field::kPadRight})
    c.Set(pad, 1);
  Command& l =
      b.Add(Opcode::kLeakyRelu, leaky, conv).Set(Field::kMultiplier, 13).Set(Field::kRshift, 7);
  l.Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  Command& p = b.Add(Opcode::kMaxPool, pool, leaky).Set(Field::kKernelH, 2).Set(Field::kKernelW, 2);
  p.Set(Field::kStrideH, 2).Set(Field::kStrideW, 2);
  b.Add(Opcode::kCopyInto, cat, pool).Set(Field::kAxis, 3);
  b.Add(Opcode::kCopyInto, cat, pool).Set(Field::kAxis, 3).Set(Field::kOffset, 5);
  const int32_t perm = b.List({0, 3, 1, 2});
  b.Add(Opcode::kTranspose, turned, cat).Set(Field::kList, perm);
  b.Add(Opcode::kDequantize, out, turned);
  return b;
}

// conv with post-operations and weight zero points -> add_shifted -> mul -> average_pool -> softmax
ProgramBuilder FrameworkNet() {
  ProgramBuilder b;
  Random random(6);
  const int32_t in = b.Input({DType::kS8, {1, 4, 4, 3}, 0.1f, 3});
  const int32_t old = b.Input({DType::kU8, {1, 4, 4, 5}, 0.1f, 9});
  const int32_t conv = b.Arena({DType::kU8, {1, 4, 4, 5}, 0.1f, 7});
  const int32_t sum = b.Arena({DType::kS8, {1, 4, 4, 5}, 0.1f, 7});
  const int32_t product = b.Arena({DType::kS8, {1, 4, 4, 5}, 0.1f, -7});
  const int32_t pool = b.Arena({DType::kS8, {1, 2, 2, 5}, 0.1f, -7});
  const int32_t out = b.Output({DType::kS8, {1, 2, 2, 5}, 1.0f / 256, -128});
  const PackedShape packed{1, 5, 3, 1};
  Bytes weights(static_cast<size_t>(packed.bytes()));
  for (int64_t oc = 0; oc < 5; ++oc) {
    for (int64_t i = 0; i < 3; ++i)
      weights[packed.Offset(oc, 0, i)] = static_cast<uint8_t>(random.Int(0, 255));
  }
  const auto bits = [](float value) { return std::bit_cast<int32_t>(value); };
  const int32_t packed_weights = b.Const(DType::kBytes, {packed.bytes()}, weights);
  const int32_t records =
      b.Const(DType::kBytes, {60}, std::vector<ChannelRequant>(5, {9, bits(0.01f), bits(-2.5f)}));
  const int32_t zeros = b.Const(DType::kS32, {5}, std::vector<int32_t>{1, -128, 127, 0, 5});
  const int32_t list =
      b.Const(DType::kF32, {12}, std::vector<float>{0, 0, 0, 0.5f, 8, 0, 0, 2, 6, 1.5f, 0, 1});
  const int32_t table = b.Const(DType::kBytes, {1024}, std::vector<int32_t>(256, int32_t{1} << 30));
  const auto add = [&](Opcode opcode, int32_t dst, int32_t src, bool is_signed) -> Command& {
    return b.Add(opcode, dst, src)
        .Set(Field::kClampLoQ, is_signed ? -128 : 0)
        .Set(Field::kClampHiQ, is_signed ? 127 : 255);
  };
  add(Opcode::kConv, conv, in, false)
      .Set(Field::kWeights, packed_weights)
      .Set(Field::kRequant, records)
      .Set(Field::kZeroW, zeros)
      .Set(Field::kList, list)
      .Set(Field::kSrc2, old)
      .Set(Field::kRounding, 3);
  Command& a = add(Opcode::kAddShifted, sum, conv, true).Set(Field::kSrc2, old);
  a.Set(Field::kMultiplier, 1 << 30).Set(Field::kMultiplier2, 1 << 30).Set(Field::kRshift, 32);
  a.Set(Field::kMultiplier3, 1 << 30).Set(Field::kRshift2, 31).Set(Field::kRshift3, 48);
  a.Set(Field::kCount, 20).Set(Field::kRounding, 1).Set(Field::kMode, 1);
  add(Opcode::kMul, product, sum, true)
      .Set(Field::kSrc2, conv)
      .Set(Field::kMultiplier, bits(0.02f))
      .Set(Field::kRounding, 2);
  Command& p = add(Opcode::kAveragePool, pool, product, true).Set(Field::kKernelH, 2);
  p.Set(Field::kKernelW, 2).Set(Field::kStrideH, 2).Set(Field::kStrideW, 2).Set(Field::kMode, 5);
  p.Set(Field::kRounding, 6).Set(Field::kMultiplier, 1 << 30).Set(Field::kRshift, 32);
  p.SetFloat(Field::kOffsetF, -20.0f);
  add(Opcode::kSoftmax, out, pool, true).Set(Field::kTable, table);
  return b;
}

// quantize -> max_pool and table into the two parts of a Concat, the right one read by a second
// table; the Concat -> average_pool
ProgramBuilder PartsNet() {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {1, 4, 4, 3}});
  const int32_t q = b.Arena({DType::kS8, {1, 4, 4, 3}, 0.1f, 3});
  const int32_t whole = b.Arena({DType::kS8, {1, 2, 2, 6}});
  const int32_t out = b.Output({DType::kS8, {1, 1, 1, 6}});
  const int32_t other = b.Output({DType::kS8, {1, 2, 2, 3}});
  const int32_t table = b.Const(DType::kBytes, {256}, Random(7).Data(256));
  int32_t parts[2];
  for (int i = 0; i < 2; ++i) {
    TensorRecord part = b[whole];
    part.name = Cat("part", i);
    part.shape.back() = 3;
    part.offset += static_cast<uint64_t>(3 * i);
    part.pitch = 6;
    b.image.tensors.push_back(part);
    parts[i] = static_cast<int32_t>(b.image.tensors.size()) - 1;
  }
  b.Add(Opcode::kQuantize, q, in);
  const auto half = [](Command& c) -> Command& {
    c.Set(Field::kKernelH, 2).Set(Field::kKernelW, 2).Set(Field::kStrideH, 2);
    return c.Set(Field::kStrideW, 2);
  };
  half(b.Add(Opcode::kMaxPool, parts[0], q));
  b.Add(Opcode::kTable, parts[1], parts[0]).Set(Field::kTable, table);
  b.Add(Opcode::kTable, other, parts[1]).Set(Field::kTable, table);
  half(b.Add(Opcode::kAveragePool, out, whole)).SetFloat(Field::kScaleF, 1.0f);
  b.image.commands.back().Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  return b;
}

// Two passes: conv, the sum with an input and a leaky_relu in its place; max_pool into the left
// part of a Concat and a table in its place. The right part is quantized.
ProgramBuilder PassNet() {
  ProgramBuilder b;
  Random random(8);
  const TensorSpec image{DType::kS8, {1, 4, 4, 5}};
  const int32_t in = b.Input({DType::kS8, {1, 4, 4, 3}}), other = b.Input(image);
  const int32_t floats = b.Input({DType::kF32, {1, 4, 4, 3}});
  const int32_t conv = b.Arena(image), sum = b.Arena(image), leaky = b.Arena(image);
  b[conv].offset = b[sum].offset = b[leaky].offset;
  const int32_t whole = b.Output({DType::kS8, {1, 4, 4, 8}});
  const auto part = [&](int64_t channels, uint64_t first) {
    TensorRecord record = b[whole];
    record.name = Cat("part", b.image.tensors.size());
    record.shape.back() = channels;
    record.offset += first;
    record.pitch = 8;
    b.image.tensors.push_back(record);
    return static_cast<int32_t>(b.image.tensors.size()) - 1;
  };
  const int32_t pooled = part(5, 0), mapped = part(5, 0), right = part(3, 5);
  const PackedShape packed{1, 5, 3, 1};
  Bytes weights(static_cast<size_t>(packed.bytes()));
  for (int64_t i = 0; i < 15; ++i)
    weights[packed.Offset(i / 3, 0, i % 3)] = static_cast<uint8_t>(random.Int(0, 255));
  const int32_t packed_weights = b.Const(DType::kBytes, {packed.bytes()}, weights);
  const int32_t records =
      b.Const(DType::kBytes, {60}, std::vector<ChannelRequant>(5, {9, 1 << 30, 38}));
  const int32_t table = b.Const(DType::kBytes, {256}, random.Data(256));
  const auto add = [&](Opcode opcode, int32_t dst, int32_t src) -> Command& {
    return b.Add(opcode, dst, src).Set(Field::kClampLoQ, -128).Set(Field::kClampHiQ, 127);
  };
  add(Opcode::kConv, conv, in).Set(Field::kWeights, packed_weights).Set(Field::kRequant, records);
  Command& a =
      add(Opcode::kAdd, sum, conv).Set(Field::kSrc2, other).Set(Field::kFuseWithPrevious, 1);
  a.Set(Field::kMultiplier, 3).Set(Field::kMultiplier2, 5).Set(Field::kRshift, 3);
  Command& l = add(Opcode::kLeakyRelu, leaky, sum).Set(Field::kFuseWithPrevious, 1);
  l.Set(Field::kMultiplier, 13).Set(Field::kRshift, 7);
  b.Add(Opcode::kMaxPool, pooled, leaky).Set(Field::kKernelH, 1).Set(Field::kKernelW, 1);
  b.Add(Opcode::kTable, mapped, pooled).Set(Field::kTable, table).Set(Field::kFuseWithPrevious, 1);
  b.Add(Opcode::kQuantize, right, floats);
  return b;
}

using MakeNet = ProgramBuilder (*)();
class Mutation : public ::testing::TestWithParam<MakeNet> {};

struct Count {
  int refused = 0, ran = 0;
};

// All outputs of a run with all-ones inputs.
Bytes RunOnOnes(const Program& program, bool one_by_one) {
  Session session(program, {.threads = 1, .one_by_one = one_by_one});
  for (size_t i = 0; i < program.image().inputs.size(); ++i) {
    const std::span<std::byte> input = session.Input(static_cast<int>(i));
    std::fill(input.begin(), input.end(), std::byte{0xff});
  }
  session.Run();
  Bytes outputs;
  for (size_t i = 0; i < program.image().outputs.size(); ++i) {
    for (const std::byte value : session.Output(static_cast<int>(i)))
      outputs.push_back(static_cast<uint8_t>(value));
  }
  return outputs;
}

// An Error, or a run; fused commands must be worth the commands one after the other.
void LoadAndRun(std::span<const uint8_t> file, Count* count) {
  try {
    const Program program = Program::FromBytes(file, "mutant");
    EXPECT_EQ(RunOnOnes(program, false), RunOnOnes(program, true));
    ++count->ran;
  } catch (const Error&) {
    ++count->refused;
  }
}

TEST_P(Mutation, EveryChangedByteOfTheFileIsRefused) {
  Bytes file = GetParam()().File();
  Count count;
  for (size_t i = 0; i < file.size(); ++i) {
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      file[i] ^= flip;
      LoadAndRun(file, &count);
      file[i] ^= flip;
    }
  }
  EXPECT_EQ(count.ran, 0);
}

TEST_P(Mutation, EveryTruncationIsRefused) {
  const Bytes file = GetParam()().File();
  Count count;
  for (size_t size = 0; size < file.size(); ++size) LoadAndRun(std::span(file).first(size), &count);
  EXPECT_EQ(count.ran, 0);
}

void WriteLoadAndRun(const ProgramImage& image, Count* count) {
  Bytes file;
  try {
    file = WriteContainer(image);
  } catch (const Error&) {  // the encoder refuses fields outside the ISA table's ranges
    ++count->refused;
    return;
  }
  LoadAndRun(file, count);
}

TEST_P(Mutation, AChangedConstantIsRefusedOrSafe) {
  ProgramBuilder b = GetParam()();
  Count count;
  for (size_t i = 0; i < b.image.constants.size(); ++i) {
    for (const uint8_t flip : {0x01, 0x10, 0x80, 0xff}) {
      b.image.constants[i] ^= flip;
      WriteLoadAndRun(b.image, &count);
      b.image.constants[i] ^= flip;
    }
  }
  EXPECT_GT(count.refused, 100);
  EXPECT_GT(count.ran, 100);  // weights and biases may be anything
}

TEST_P(Mutation, AChangedFieldIsRefusedOrSafe) {
  ProgramBuilder b = GetParam()();
  Count count;
  const int64_t kDeltas[] = {1, -1, 2, -2, 3, 7, 64, 1 << 20, -(1 << 20), int64_t{1} << 40};
  for (Command& command : b.image.commands) {
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      const int64_t value = command.Get(field.field);
      for (const int64_t delta : kDeltas) {
        command.Set(field.field, value + delta);
        WriteLoadAndRun(b.image, &count);
      }
      command.Set(field.field, value);
    }
  }
  EXPECT_GT(count.refused, 100);
  EXPECT_GT(count.ran, 10);
}

TEST_P(Mutation, AChangedTensorIsRefusedOrSafe) {
  ProgramBuilder b = GetParam()();
  Count count;
  for (TensorRecord& tensor : b.image.tensors) {
    const TensorRecord original = tensor;
    const auto attempt = [&] {
      WriteLoadAndRun(b.image, &count);
      tensor = original;
    };
    for (int type = 1; type < kDTypeCount; ++type) {
      tensor.dtype = static_cast<DType>(type);
      attempt();
    }
    for (size_t d = 0; d < original.shape.size(); ++d) {
      for (const int64_t dim :
           {int64_t{0}, original.shape[d] - 1, original.shape[d] + 1, int64_t{1} << 39}) {
        tensor.shape[d] = dim;
        attempt();
      }
      tensor.shape.erase(tensor.shape.begin() + static_cast<int64_t>(d));
      attempt();
    }
    for (uint64_t offset = 0; offset < b.image.arena_size; offset += 64) {
      tensor.offset = offset;
      attempt();
    }
    for (const int64_t shift : {-3, -1, 1, 3, 6}) {
      tensor.offset = original.offset + static_cast<uint64_t>(shift);
      attempt();
    }
    for (const uint32_t pitch : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 12u, 64u, 1u << 20, ~0u}) {
      tensor.pitch = pitch;
      attempt();
    }
    for (const int32_t zero : {-129, -128, 127, 128, 255, 256, INT32_MAX}) {
      tensor.zero_point = zero;
      attempt();
    }
    tensor.region = tensor.region == Region::kArena ? Region::kConst : Region::kArena;
    attempt();
  }
  EXPECT_GT(count.refused, 100);
  EXPECT_GT(count.ran, 10);
}

INSTANTIATE_TEST_SUITE_P(Nets, Mutation,
                         ::testing::Values(SmallNet, FrameworkNet, PartsNet, PassNet));

}  // namespace
}  // namespace rshift::testing
