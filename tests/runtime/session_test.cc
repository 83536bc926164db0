// Program and Session: loading, threads, observers, what survives a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "isa/attributes.h"
#include "runtime/step.h"
#include "tests/base/error_of.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// in -> requantize -> table -> out, then a MaxPool-free copy: three commands.
ProgramBuilder ThreeCommands() {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {1, 40}}), middle = b.Arena({DType::kU8, {1, 40}});
  const int32_t copy = b.Arena({DType::kU8, {1, 40}}), out = b.Output({DType::kU8, {1, 40}});
  Bytes table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
  const int32_t constant = b.Const(DType::kBytes, {256}, table);
  b.Add(Opcode::kTable, middle, in).Set(Field::kTable, constant);
  b.Add(Opcode::kExpand, copy, middle);
  b.Add(Opcode::kTable, out, copy).Set(Field::kTable, constant);
  return b;
}

TEST(Session, ObservesEveryCommandInOrderAndSeesItsResult) {
  const ProgramBuilder b = ThreeCommands();
  const Program program = b.Build();
  for (const int threads : {1, 3}) {
    Session session(program, {.threads = threads, .least_share_ns = 0});
    EXPECT_EQ(session.threads(), threads);
    session.Input(0)[0] = std::byte{7};
    std::vector<std::pair<int, int>> seen;
    session.RunObserved([&](int command) {
      const int32_t dst =
          program.image().commands[static_cast<size_t>(command)].Tensor(Field::kDst);
      seen.emplace_back(command, std::to_integer<int>(session.Tensor(dst)[0]));
    });
    EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{0, 248}, {1, 248}, {2, 7}}));
  }
}

// A convolution has buffers of its own, and scratch for every thread; a table has none.
TEST(Session, SaysWhatMemoryItHas) {
  const ProgramBuilder small = ThreeCommands();
  const Program tables = small.Build();
  EXPECT_EQ(Session(tables, {.threads = 1}).memory().arena, small.image.arena_size);
  EXPECT_EQ(Session(tables, {.threads = 1}).memory().steps, 0u);
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kU8, {1, 70}}), out = b.Output({DType::kU8, {1, 10}});
  const int32_t weights = b.Const(DType::kBytes, {16 * 72}, Bytes(16 * 72));
  const int32_t requant = b.Const(DType::kBytes, {120}, std::vector<ChannelRequant>(10));
  b.Add(Opcode::kMatMul, out, in)
      .Set(Field::kWeights, weights)
      .Set(Field::kRequant, requant)
      .Set(Field::kClampHiQ, 255);
  const Program product = b.Build();
  const uint64_t one = Session(product, {.threads = 1}).memory().steps;
  EXPECT_GT(one, 70u + 16 * sizeof(int32_t));  // at least the row of zero points and the biases
  EXPECT_GE(Session(product, {.threads = 3}).memory().steps, one);
}

TEST(Session, PassesOnWhatAnObserverThrows) {
  const Program program = ThreeCommands().Build();
  Session session(program, {.threads = 2, .least_share_ns = 0});
  EXPECT_THROW(session.RunObserved(
                   [](int command) { RSHIFT_REQUIRE(command < 1, ErrorCode::kInternal, "stop"); }),
               Error);
  session.Run();  // still usable
}

TEST(Session, TimesEveryCommand) {
  const Program program = ThreeCommands().Build();
  for (const int threads : {1, 2}) {
    Session session(program, {.threads = threads, .least_share_ns = 0});
    const std::vector<double> milliseconds = session.RunTimed();
    ASSERT_EQ(milliseconds.size(), 3u);
    for (const double ms : milliseconds) EXPECT_GT(ms, 0.0);
  }
}

TEST(Session, KeepsItsInputsAndCanBeMoved) {
  const Program program = ThreeCommands().Build();
  Session first(program, {.threads = 2, .least_share_ns = 0});
  for (size_t i = 0; i < 40; ++i) first.Input(0)[i] = std::byte(i);
  Session session = std::move(first);
  for (int run = 0; run < 2; ++run) {
    session.Run();
    for (size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(session.Input(0)[i], std::byte(i));
      EXPECT_EQ(session.Output(0)[i], std::byte(i));
    }
  }
}

TEST(Session, IsAlignedAndStartsWithZeros) {
  const Program program = ThreeCommands().Build();
  Session session(program);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(session.Input(0).data()) % 64, 0u);
  for (const std::byte byte : session.Output(0)) EXPECT_EQ(byte, std::byte{0});
  EXPECT_GE(session.threads(), 1);
}

TEST(Session, RejectsABadNumberOfThreadsAndAnAbsentInstructionSet) {
  const Program program = ThreeCommands().Build();
  EXPECT_THROW(Session(program, {.threads = -1}), Error);
  EXPECT_THROW(Session(program, {.threads = 5000}), Error);
  for (const Isa isa : {Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot}) {
    if (CpuSupports(isa)) {
      EXPECT_NO_THROW(Session(program, {.isa = isa}));
    } else {
      EXPECT_THROW(Session(program, {.isa = isa}), Error);
    }
  }
}

TEST(Session, NamesACommandThatNobodyImplements) {
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {2, 3}}), in2 = b.Input({DType::kF32, {3, 4}});
  const int32_t out = b.Output({DType::kF32, {2, 4}});
  b.Add(Opcode::kMatMulF32, out, in).Set(Field::kSrc2, in2);
  const Program program = b.Build();  // rshift_float is not registered in this program
  const std::string error = ErrorOf(ErrorCode::kUnsupported, [&] { Session session(program); });
  EXPECT_THAT(error, HasSubstr("matmul_f32"));
  EXPECT_THAT(error, HasSubstr("call RegisterFloatLibrary()"));
}

TEST(Isa, NamesAreReadBack) {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot}) {
    EXPECT_EQ(ParseIsa(Name(isa)), isa);
  }
  EXPECT_THROW(ParseIsa("sse9"), Error);
  EXPECT_TRUE(CpuSupports(Isa::kScalar));
  EXPECT_TRUE(CpuSupports(BestIsa()));
}

TEST(Program, LoadsFromAFileMappedOrCopied) {
  const std::string path = ::testing::TempDir() + "/rshift_session_test.rshift";
  WriteFileAtomic(path, ThreeCommands().File());
  const Program mapped = Program::Load(path), copied = Program::Load(path, {.copy = true});
  const std::vector<Bytes> input = {Bytes(40, 9)};
  EXPECT_EQ(RunProgram(mapped, input), Bytes(40, 9));
  EXPECT_EQ(RunProgram(copied, input), Bytes(40, 9));
  EXPECT_EQ(mapped.file_bytes(), std::filesystem::file_size(path));
  EXPECT_EQ(mapped.where(), path);
  std::filesystem::remove(path);
}

TEST(Program, NamesAFileThatIsMissingEmptyOrCutOff) {
  const std::string path = ::testing::TempDir() + "/rshift_session_bad.rshift";
  EXPECT_THROW(Program::Load(path + ".missing"), Error);
  const Bytes file = ThreeCommands().File();
  for (const size_t size : {size_t{0}, size_t{10}, file.size() / 2, file.size() - 1}) {
    WriteFileAtomic(path, std::span(file).first(size));
    EXPECT_THAT(ErrorOf([&] { Program::Load(path); }), HasSubstr(path)) << size << " bytes";
  }
  std::filesystem::remove(path);
}

TEST(Part, CoversEverythingOnceInMultiplesOfTheGrain) {
  for (const int64_t total : {0, 1, 5, 63, 64, 65, 1000}) {
    for (const int64_t grain : {1, 6, 64}) {
      for (const int count : {1, 2, 3, 7}) {
        int64_t next = 0;
        for (int index = 0; index < count; ++index) {
          const Range part = ThreadRange(total, grain, {index, count});
          EXPECT_EQ(part.begin, next);
          EXPECT_GE(part.end, part.begin);
          EXPECT_TRUE(part.begin % grain == 0 || part.begin == total);
          next = part.end;
        }
        EXPECT_EQ(next, total);
      }
    }
  }
}

}  // namespace
}  // namespace rshift::testing
