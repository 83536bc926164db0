// Weights of 4 bits are those of 8 as soon as the file is read: the same bytes come out of every
// kernel, and the verifier refuses the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

struct Case {
  Opcode opcode = Opcode::kConv;
  DType src = DType::kS8, dst = DType::kS8;
  int64_t channels = 0, outputs = 0, kernel = 1;
};

std::vector<int8_t> Numbers(Random& random, int64_t count) {
  std::vector<int8_t> numbers(static_cast<size_t>(count));
  for (int8_t& number : numbers) number = static_cast<int8_t>(random.Int(-8, 7));
  return numbers;
}

std::vector<int8_t> Packed(const Case& c, Random& random) {
  const int64_t taps = c.kernel * c.kernel;
  if (c.opcode == Opcode::kDepthwise)
    return PackDepthwiseWeights(c.channels, taps, Numbers(random, c.channels * taps));
  if (c.opcode == Opcode::kMatMul)
    return PackMatMulWeights(c.channels, c.outputs, Numbers(random, c.channels * c.outputs));
  return PackConvolution({.groups = 1,
                          .oc_per_group = c.outputs,
                          .ic_per_group = c.channels,
                          .kernel_h = c.kernel,
                          .kernel_w = c.kernel},
                         Numbers(random, c.outputs * c.channels * taps));
}

// 5x5 pixels, no pads, the requantization records before the weights.
ProgramBuilder Product(const Case& c, Random& random) {
  ProgramBuilder b;
  const int64_t size = 5 - c.kernel + 1;
  const int32_t src = b.Input({c.src, {1, 5, 5, c.channels}, 1, random.Zero(c.src) / 2}),
                dst = b.Output({c.dst, {1, size, size, c.outputs}, 1, random.Zero(c.dst) / 2});
  // Bytes without a sign have a mean, and so have weights in [-8, 7].
  const int64_t mean = c.src == DType::kU8 ? 64 * c.kernel * c.kernel * c.channels : 0;
  std::vector<ChannelRequant> records;
  for (int64_t o = 0; o < c.outputs; ++o)
    records.push_back({static_cast<int32_t>(mean + random.Int(-2000, 2000)),
                       static_cast<int32_t>(random.Int(1 << 30, INT32_MAX)), 35});
  const int32_t requant = b.Const(DType::kBytes, {12 * c.outputs}, records);
  const std::vector<int8_t> packed = Packed(c, random);
  const int32_t weights = b.Const(DType::kBytes, {static_cast<int64_t>(packed.size())}, packed);
  Command& command =
      b.Add(c.opcode, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  if (c.opcode != Opcode::kMatMul)
    command.Set(Field::kKernelH, c.kernel).Set(Field::kKernelW, c.kernel);
  command.Set(Field::kClampLoQ, Lowest(c.dst)).Set(Field::kClampHiQ, Highest(c.dst));
  return b;
}

TensorRecord& WeightsOf(ProgramBuilder& b) {
  return b[b.image.commands[0].Tensor(Field::kWeights)];
}

ProgramBuilder In4Bits(ProgramBuilder b) {
  b.image.constants_of_4_bits = WeightsOf(b).offset;
  return b;
}

TEST(WeightBits, EveryKernelGivesTheBytesOf8) {
  const Case cases[] = {
      {Opcode::kConv, DType::kS8, DType::kS8, 37, 70, 1},
      {Opcode::kConv, DType::kU8, DType::kS8, 64, 16, 1},
      {Opcode::kConv, DType::kS8, DType::kU8, 3, 20, 3},
      {Opcode::kConv, DType::kU8, DType::kU8, 18, 33, 3},
      {Opcode::kDepthwise, DType::kS8, DType::kS8, 70, 70, 3},
      {Opcode::kMatMul, DType::kU8, DType::kS8, 130, 65, 1},
  };
  unsigned seed = 60;
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << "case of seed " << ++seed);
    Random random(seed);
    const ProgramBuilder wide = Product(c, random), small = In4Bits(wide);
    const Program program = small.Build();
    EXPECT_EQ(program.unpacked_bytes(), program.constants().size());
    EXPECT_EQ(wide.Build().unpacked_bytes(), 0u);
    const std::vector<Bytes> inputs = {random.Data(25 * c.channels)};
    const Bytes expected = RunEverywhere(wide, inputs);
    EXPECT_GT(std::count_if(expected.begin(), expected.end(),
                            [&](uint8_t byte) { return byte != expected[0]; }),
              static_cast<int64_t>(expected.size() / 2));
    for (const Isa isa :
         {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot}) {
      if (!CpuSupports(isa)) continue;
      for (const int threads : {1, 2, 3})
        EXPECT_EQ(RunProgram(program, inputs, {threads, isa}), expected) << Name(isa);
    }
  }
}

TEST(WeightBits, TheVerifierRefusesWhatItRefusesOf8) {
  Random random(80);
  const ProgramBuilder valid =
      In4Bits(Product({Opcode::kConv, DType::kS8, DType::kS8, 6, 20, 1}, random));
  ASSERT_EQ(LoadError(valid), kNoError);
  const auto refused = [&](const char* part, const auto& spoil) {
    ProgramBuilder b = valid;
    spoil(b);
    EXPECT_THAT(LoadError(b), HasSubstr(part));
  };
  // K is 6 of 8, and there are 20 channels of 32.
  refused("padding is not zero",
          [](ProgramBuilder& b) { b.image.constants[WeightsOf(b).offset + 32 * 4 + 2] = 0xff; });
  refused("padding is not zero",
          [](ProgramBuilder& b) { b.image.constants[WeightsOf(b).offset + 20 * 4] = 1; });
  refused("channel 0: rshift is 63", [](ProgramBuilder& b) { b.image.constants[8] = 63; });
}

}  // namespace
}  // namespace rshift::testing
