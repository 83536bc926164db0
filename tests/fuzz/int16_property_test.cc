// Every 16-bit command and fixed-point cell on 3,200 random shapes: the bytes of each instruction
// set, with one thread and with two or three, are those of the scalar reference with one. Commands
// are run by programs of 32, so that most of the time is theirs. RSHIFT_FUZZ_PROGRAMS=N takes N
// shapes, RSHIFT_FUZZ_SEED=S others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "isa/isa.h"
#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

constexpr Opcode kInt16Opcodes[] = {Opcode::kRequantizeS16,
                                    Opcode::kConvS16,
                                    Opcode::kMatMulS16,
                                    Opcode::kAddS16,
                                    Opcode::kMulS16,
                                    Opcode::kTableS16,
                                    Opcode::kAveragePoolS16,
                                    Opcode::kNormalizeS16,
                                    Opcode::kAddShiftedS16,
                                    Opcode::kSoftmaxS16,
                                    Opcode::kExtremumS16,
                                    Opcode::kBatchedMatMulS16,
                                    Opcode::kQuotientSoftmaxS16,
                                    Opcode::kChannelTablesS16,
                                    Opcode::kResizeS16,
                                    Opcode::kDivS16,
                                    Opcode::kCompareS16,
                                    Opcode::kModS16,
                                    Opcode::kPowS16,
                                    Opcode::kFixedLstmCell,
                                    Opcode::kFixedGatedOutput,
                                    Opcode::kProduct,
                                    Opcode::kReduceSquares};
constexpr int kCommands = 32;  // of a program

int64_t Environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Appends the command of a seed.
void Append(Opcode opcode, uint32_t seed, ProgramBuilder& b) {
  Random random(seed);
  Maker maker{b, random, std::max<int64_t>(1, random.Int(-1, 3))};
  ASSERT_TRUE(MakeInt16Command(opcode, maker) || MakeIntegerCommand(opcode, maker))
      << static_cast<int>(opcode);
}

// The makers now and then give one that the verifier refuses.
bool IsValid(Opcode opcode, uint32_t seed) {
  ProgramBuilder b;
  Append(opcode, seed, b);
  try {
    b.Build();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << error.what();
    return false;
  }
  return true;
}

// Bytes of any kind, now and then the ends of s16 alone.
std::vector<Bytes> InputsOf(const Program& program, Random& random) {
  std::vector<Bytes> inputs;
  for (const Binding& input : program.image().inputs) {
    const TensorRecord& record = program.image().tensors[static_cast<size_t>(input.tensor)];
    Bytes bytes = random.Data(static_cast<int64_t>(record.bytes()));
    if (record.dtype == DType::kS16 && random.Int(0, 3) == 0) {
      for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
        const bool low = (bytes[i] & 1) == 0;
        bytes[i] = low ? 0 : 0xff;
        bytes[i + 1] = low ? 0x80 : 0x7f;
      }
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

// Runs of one program that were compared: with one thread, and with `team` of them.
int64_t CompareEverywhere(const ProgramBuilder& b, int team, Random& random) {
  const Program program = b.Build();
  const std::vector<Bytes> inputs = InputsOf(program, random);
  const Bytes expected = RunProgram(program, inputs, {1, Isa::kScalar});
  int64_t runs = 0;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot}) {
    if (!CpuSupports(isa)) continue;
    for (const int threads : {1, team}) {
      if (isa == Isa::kScalar && threads == 1) continue;
      EXPECT_EQ(RunProgram(program, inputs, {threads, isa}), expected)
          << Name(isa) << ", " << threads << " threads";
      ++runs;
    }
  }
  return runs;
}

TEST(Int16Property, EveryInstructionSetAndNumberOfThreadsGivesTheScalarBytes) {
  const int64_t shapes = Environment("RSHIFT_FUZZ_PROGRAMS", 3200);
  const auto seed = static_cast<uint32_t>(Environment("RSHIFT_FUZZ_SEED", 1));
  for (const Opcode opcode : kInt16Opcodes) {
    uint32_t next = seed * 1'000'003;
    int64_t runs = 0;
    for (int64_t done = 0; done < shapes && !HasFailure();) {
      SCOPED_TRACE(Cat("opcode ", static_cast<int>(opcode), ", from seed ", next));
      ProgramBuilder b;
      for (int made = 0; made < kCommands && done < shapes; ++next) {
        if (!IsValid(opcode, next)) continue;
        Append(opcode, next, b);
        ++made, ++done;
      }
      Random random(next);
      runs += CompareEverywhere(b, 2 + static_cast<int>(done / kCommands % 2), random);
    }
    std::cout << "opcode " << static_cast<int>(opcode) << ": " << shapes << " shapes, seed " << seed
              << ", " << runs << " runs of up to " << kCommands << " commands compared\n";
  }
}

}  // namespace
}  // namespace rshift::testing
