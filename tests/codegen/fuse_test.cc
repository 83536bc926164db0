// Random networks compiled with fusion and shared memory give the bytes they give without, on every
// instruction set and with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/container/container.h"
#include "runtime/runtime.h"
#include "tests/codegen/random_net.h"

namespace rshift {
namespace {

using Outputs = std::vector<std::vector<std::byte>>;

Outputs RunProgram(const Program& program, uint64_t seed, int threads, Isa isa,
                   bool one_by_one = false) {
  Session session(program,
                  {.threads = threads, .isa = isa, .least_share_ns = 0, .one_by_one = one_by_one});
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < program.image().inputs.size(); ++i) {
    const std::span<std::byte> input = session.Input(static_cast<int>(i));
    if (program.image().tensors[program.image().inputs[i].tensor].dtype == DType::kF32) {
      for (size_t at = 0; at < input.size(); at += sizeof(float)) {
        const float value = static_cast<float>(random() % 20000) / 100.0f - 100.0f;
        std::memcpy(input.data() + at, &value, sizeof(value));
      }
    } else {
      for (std::byte& byte : input) byte = static_cast<std::byte>(random());
    }
  }
  session.Run();
  Outputs outputs;
  for (size_t i = 0; i < program.image().outputs.size(); ++i) {
    const std::span<const std::byte> output = session.Output(static_cast<int>(i));
    outputs.emplace_back(output.begin(), output.end());
  }
  return outputs;
}

int64_t Count(const ProgramImage& image, Opcode opcode) {
  return std::count_if(image.commands.begin(), image.commands.end(),
                       [&](const Command& command) { return command.opcode == opcode; });
}

int64_t CountFused(const ProgramImage& image) {
  return std::count_if(image.commands.begin(), image.commands.end(), [](const Command& command) {
    return command.Get(Field::kFuseWithPrevious) != 0;
  });
}

TEST(Fuse, RandomNetworksGiveTheSameBytes) {
  int64_t plain_copies = 0, copies = 0, fused_commands = 0;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(seed);
    const RandomNet net(seed);
    const Graph& graph = net.graph().graph;
    const ProgramImage plain = Compile(graph, {.observable = false, .fuse = false, .meta = {}});
    const ProgramImage fused = CompileChecked(net.graph());
    plain_copies += Count(plain, Opcode::kCopyInto);
    copies += Count(fused, Opcode::kCopyInto);
    ASSERT_EQ(CountFused(plain), 0);
    fused_commands += CountFused(fused);
    const Program reference = Program::FromBytes(WriteContainer(plain));
    const Program program = Program::FromBytes(WriteContainer(fused));
    const Outputs expected = RunProgram(reference, seed, 1, Isa::kScalar);
    for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni}) {
      if (!CpuSupports(isa)) continue;
      for (const int threads : {1, 2, 3}) {
        ASSERT_TRUE(RunProgram(program, seed, threads, isa) == expected)
            << Name(isa) << ", " << threads << " threads\n"
            << Disassemble(fused);
      }
    }
    ASSERT_TRUE(RunProgram(program, seed, 1, Isa::kScalar, true) == expected);
  }
  EXPECT_GT(plain_copies, 300);
  EXPECT_LT(copies, plain_copies / 2);
  EXPECT_GT(fused_commands, 300);
}

}  // namespace
}  // namespace rshift
