// Random and mutated programs of every opcode: refused with an Error, or they run to their end
// within their tensors and limits, with the same bytes on every instruction set. Seeds are printed
// with a failure. RSHIFT_FUZZ_PROGRAMS=N makes N programs of each opcode, RSHIFT_FUZZ_SEED=S
// others; RSHIFT_FUZZ_KEEP=FILE leaves the last program there, for a crash.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "base/error.h"
#include "codegen/container/container.h"
#include "codegen/container/strided_bytes.h"
#include "runtime/onednn/float_library.h"
#include "tests/fuzz/program_maker.h"
#include "tests/fuzz/program_mutator.h"

namespace rshift::testing {
namespace {

// So much that every program of the makers passes, and little enough for thousands of runs.
constexpr Limits kSmall = {{.macs = 4'000'000,
                            .elements = 4'000'000,
                            .buffers = uint64_t{32} << 20,
                            .arena = uint64_t{32} << 20,
                            .nanoseconds = 200'000'000}};
constexpr double kMostSeconds = 20;  // of the processor, for one program under a sanitizer

int64_t Environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

int64_t ProgramsOfEachOpcode() {
#ifdef RSHIFT_SANITIZED
  return Environment("RSHIFT_FUZZ_PROGRAMS", 5);
#else
  return Environment("RSHIFT_FUZZ_PROGRAMS", 20);
#endif
}

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Counts {
  int64_t refused = 0, ran = 0;
};

// Bytes of any kind as inputs. Those that are booleans are so.
void FillInputs(const Program& program, Session& session, Random random) {
  const ProgramImage& image = program.image();
  for (size_t i = 0; i < image.inputs.size(); ++i) {
    const std::span<std::byte> input = session.Input(static_cast<int>(i));
    const TensorRecord& record = image.tensors[static_cast<size_t>(image.inputs[i].tensor)];
    for (std::byte& byte : input) {
      const auto value = static_cast<uint8_t>(random.engine());
      byte = static_cast<std::byte>(record.dtype == DType::kBool ? value & 1 : value);
    }
    if (record.dtype != DType::kF32) continue;
    for (size_t at = 0; at + 4 <= input.size(); at += 4) {  // mostly numbers
      const float value = random.Float(-8, 8);
      if (random.Int(0, 9) != 0) std::memcpy(input.data() + at, &value, sizeof value);
    }
  }
}

bool IsOverwritten(const ProgramImage& image, const TensorRecord& input) {
  for (const Command& command : image.commands) {
    if (Overlap(image.tensors[static_cast<size_t>(command.Tensor(Field::kDst))], input))
      return true;
  }
  return false;
}

bool UsesLibrary(const ProgramImage& image) {
  for (const Command& command : image.commands) {
    if (FindOp(command.opcode)->op_class == OpClass::kFloatLibrary) return true;
  }
  return false;
}

// All outputs of one run; inputs that no command writes must stay as they were.
Bytes Run(const Program& program, const Random& random, Isa isa, int threads) {
  Session session(program, {.threads = threads, .isa = isa, .least_share_ns = 0});
  const ProgramImage& image = program.image();
  if (!UsesLibrary(image)) {
    EXPECT_LE(session.memory().steps, static_cast<uint64_t>(threads) * program.work().buffers);
  }
  FillInputs(program, session, random);
  std::vector<Bytes> before;
  const auto bytes = [](std::span<const std::byte> span) {
    const auto* data = reinterpret_cast<const uint8_t*>(span.data());
    return Bytes(data, data + span.size());
  };
  for (size_t i = 0; i < image.inputs.size(); ++i)
    before.push_back(bytes(session.Input(static_cast<int>(i))));
  session.Run();
  for (size_t i = 0; i < image.inputs.size(); ++i) {
    const TensorRecord& record = image.tensors[static_cast<size_t>(image.inputs[i].tensor)];
    if (IsOverwritten(image, record)) continue;
    EXPECT_EQ(bytes(session.Input(static_cast<int>(i))), before[i])
        << image.inputs[i].name << " was written";
  }
  Bytes outputs;
  for (size_t i = 0; i < image.outputs.size(); ++i) {
    const Bytes output = bytes(session.Output(static_cast<int>(i)));
    outputs.insert(outputs.end(), output.begin(), output.end());
  }
  return outputs;
}

// What a crash leaves behind.
void Keep(const Bytes& file) {
  const char* path = std::getenv("RSHIFT_FUZZ_KEEP");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

void LoadAndRun(const Bytes& file, Random& random, Counts* counts) {
  Keep(file);
  const double start = ProcessorSeconds();
  try {
    Program::FromBytes(file, "mutant", Limits::None());  // any size: the proof alone
  } catch (const Error&) {
  }
  try {
    const Program program = Program::FromBytes(file, "mutant", kSmall);
    const Random data = random;
    const Bytes expected = Run(program, data, Isa::kScalar, 1);
    const int threads = random.Int(0, 15) == 0 ? 2 : 1;
    const Bytes found = Run(program, data, BestIsa(), threads);
    if (!UsesLibrary(program.image())) {
      EXPECT_EQ(found, expected) << Disassemble(program.image());
    }
    ++counts->ran;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    ++counts->refused;
  }
  EXPECT_LT(ProcessorSeconds() - start, kMostSeconds);
}

Bytes Written(const ProgramImage& image) {
  try {
    return WriteContainer(image);
  } catch (const Error&) {  // the encoder refuses what the reader would
    return {};
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const OpSpec& op : IsaTable()) names.emplace_back(op.name);
  return names;
}

const OpSpec& SpecOf(const std::string& name) {
  const std::span<const OpSpec> table = IsaTable();
  return *std::find_if(table.begin(), table.end(),
                       [&](const OpSpec& op) { return op.name == name; });
}

class EveryOpcode : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { RegisterFloatLibrary(); }
  Opcode opcode() const { return SpecOf(GetParam()).opcode; }
  int64_t Programs() const {
    const bool slow =
        SpecOf(GetParam()).op_class == OpClass::kFloatLibrary;  // oneDNN compiles its loops
    return std::max<int64_t>(ProgramsOfEachOpcode() / (slow ? 10 : 1), 4);
  }
  // Of program i.
  uint32_t Seed(int64_t i) const {
    const int64_t base = Environment("RSHIFT_FUZZ_SEED", 1);
    return static_cast<uint32_t>(base * 1'000'003 + i * 257 + static_cast<int>(opcode()));
  }
};

TEST_P(EveryOpcode, RandomProgramsRunTheSameOnEveryInstructionSetOrAreRefused) {
  Counts counts;
  for (int64_t i = 0; i < Programs() && !HasFailure(); ++i) {
    SCOPED_TRACE(Seed(i));
    Random random(Seed(i));
    LoadAndRun(MakeProgram(opcode(), random).File(), random, &counts);
  }
  EXPECT_GE(8 * counts.ran + 8, counts.ran + counts.refused) << "the maker's programs are refused";
}

TEST_P(EveryOpcode, MutatedProgramsAreRefusedOrSafe) {
  constexpr int64_t kMutants = 16;
  Counts counts;
  for (int64_t i = 0; i < Programs() && !HasFailure(); ++i) {
    Random random(Seed(i));
    const ProgramImage image = MakeProgram(opcode(), random).image;
    for (int64_t mutant = 0; mutant < kMutants && !HasFailure(); ++mutant) {
      SCOPED_TRACE(Cat("seed ", Seed(i), ", mutant ", mutant));
      Random own(Seed(i) ^ static_cast<uint32_t>(mutant << 20));
      ProgramImage changed = image;
      const bool in_file = mutant % 8 == 0;
      if (!in_file) MutateImage(changed, own);
      Bytes file = Written(changed);
      if (file.empty()) {
        ++counts.refused;
        continue;
      }
      if (in_file) MutateFile(file, own);
      LoadAndRun(file, own, &counts);
    }
  }
  EXPECT_GT(counts.refused, 0);
  EXPECT_GT(counts.ran, 0);
  RecordProperty("ran", static_cast<int>(counts.ran));
  RecordProperty("refused", static_cast<int>(counts.refused));
}

INSTANTIATE_TEST_SUITE_P(Isa, EveryOpcode, ::testing::ValuesIn(Names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace rshift::testing
