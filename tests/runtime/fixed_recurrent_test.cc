// Cells of an LSTM in 16-bit fixed point against the scalar reference: on every instruction set, on
// random shapes and at the ends of every range.
#include "runtime/kernels/fixed_recurrent.h"

#include <gtest/gtest.h>

#include "quantize/numerics/fixed_lstm.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

namespace nm = numerics;

// What a case is made of: [batch, hidden], products of 3 or 4 gates, rows of the first from `row`.
struct FixedCell {
  int64_t batch, hidden, gates, row, rows;
  bool has_second, has_state;
  int32_t bits;
  std::vector<int32_t> a, b, biases, words;
  std::vector<int16_t> state;

  explicit FixedCell(Random& random)
      : batch(random.Int(1, 4)),
        hidden(random.Int(0, 1) == 0 ? random.Int(1, 20) : random.Int(50, 200)),
        gates(random.Int(3, 4)),
        row(random.Int(0, 3)),
        rows(row + batch + random.Int(0, 2)),
        has_second(random.Int(0, 3) != 0),
        has_state(random.Int(0, 3) != 0),
        bits(static_cast<int32_t>(random.Int(9, 15))) {
    const bool wild = random.Int(0, 4) == 0;
    for (int64_t i = 0; i < rows * width(); ++i) a.push_back(Number(random, wild));
    for (int64_t i = 0; i < batch * width(); ++i) b.push_back(Number(random, wild));
    for (int64_t i = 0; i < width(); ++i) biases.push_back(Number(random, wild));
    for (int64_t i = 0; i < 2 * gates; ++i) {
      const bool none = random.Int(0, 9) == 0;
      words.push_back(none ? 0 : static_cast<int32_t>(random.Int(1 << 30, INT32_MAX)));
      words.push_back(static_cast<int32_t>(wild ? random.Int(0, 62) : random.Int(31, 36)));
    }
    for (int64_t i = 0; i < batch * hidden; ++i)
      state.push_back(
          static_cast<int16_t>(random.Int(0, 9) == 0 ? -32768 : random.Int(-32768, 32767)));
  }
  static int32_t Number(Random& random, bool wild) {
    if (wild && random.Int(0, 9) == 0) return random.Int(0, 1) == 0 ? INT32_MIN : INT32_MAX;
    const int64_t most = wild ? INT32_MAX : 60000;
    return static_cast<int32_t>(random.Int(-most, most));
  }

  int64_t width() const { return gates * hidden; }
  int32_t Gate(int64_t n, int64_t gate, int64_t j) const {
    const auto column = static_cast<size_t>(gate * hidden + j);
    const auto at = static_cast<size_t>(n * width()) + column;
    const auto words_of = [&](int64_t product) {
      const auto first = static_cast<size_t>(4 * gate + 2 * product);
      return RequantWords{words[first], words[first + 1]};
    };
    const int32_t sum = nm::SumModulo(a[static_cast<size_t>(row * width()) + at], biases[column]);
    const int32_t part = nm::FixedGate(sum, words_of(0), 0);
    return has_second ? nm::FixedGate(b[at], words_of(1), part) : part;
  }
  int32_t Sigmoid(int64_t n, int64_t gate, int64_t j) const {
    return nm::fixed16::Logistic(Gate(n, gate, j));
  }
  int32_t State(int64_t n, int64_t j) const { return state[static_cast<size_t>(n * hidden + j)]; }

  TensorSpec Products(int64_t count) const { return {DType::kS32, {count, width()}}; }
  TensorSpec StateSpec() const { return {DType::kS16, {batch, hidden}}; }
  void SetConstants(ProgramBuilder& builder, Command& command) const {
    command.Set(Field::kList, builder.Const(DType::kS32, {width()}, biases));
    command.Set(Field::kList2, builder.Const(DType::kS32, {4 * gates}, words));
    command.Set(Field::kOffset, row).Set(Field::kRshift2, bits);
  }
  std::vector<Bytes> AddCell(ProgramBuilder& builder, int32_t lo, int32_t hi) const {
    std::vector<Bytes> inputs = {AsBytes(a)};
    const int32_t src = builder.Input(Products(rows));
    int32_t src2 = -1, src3 = -1;
    if (has_second) src2 = builder.Input(Products(batch)), inputs.push_back(AsBytes(b));
    if (has_state) src3 = builder.Input(StateSpec()), inputs.push_back(AsBytes(state));
    const int32_t dst = builder.Output(StateSpec());
    Command command = builder.Add(Opcode::kFixedLstmCell, dst, src)
                          .Set(Field::kSrc2, src2)
                          .Set(Field::kSrc3, src3);
    SetConstants(builder, command);
    command.Set(Field::kClampLoQ, lo).Set(Field::kClampHiQ, hi);
    builder.image.commands.back() = command;
    return inputs;
  }
  std::vector<Bytes> AddOutput(ProgramBuilder& builder, const TensorSpec& y, RequantWords to,
                               const ClampQ& clamp) const {
    std::vector<Bytes> inputs = {AsBytes(state), AsBytes(a)};
    const int32_t src = builder.Input(StateSpec()), src2 = builder.Input(Products(rows));
    int32_t src3 = -1;
    if (has_second) src3 = builder.Input(Products(batch)), inputs.push_back(AsBytes(b));
    const int32_t dst = builder.Output(y);
    Command command = builder.Add(Opcode::kFixedGatedOutput, dst, src)
                          .Set(Field::kSrc2, src2)
                          .Set(Field::kSrc3, src3);
    SetConstants(builder, command);
    command.Set(Field::kMultiplier3, to.multiplier).Set(Field::kRshift3, to.rshift);
    command.Set(Field::kClampLoQ, clamp.lo).Set(Field::kClampHiQ, clamp.hi);
    builder.image.commands.back() = command;
    return inputs;
  }
};

TEST(FixedRecurrentStep, CellsAreTheReference) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const FixedCell c(random);
    const int32_t most = static_cast<int32_t>(random.Int(1, 32767));
    const ClampQ clamp = seed % 2 == 0 ? ClampQ{-32768, 32767} : ClampQ{-most, most};
    ProgramBuilder builder;
    const std::vector<Bytes> inputs = c.AddCell(builder, clamp.lo, clamp.hi);
    const Bytes next = RunEverywhere(builder, inputs);
    const int64_t forget = c.gates - 3;
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t j = 0; j < c.hidden; ++j) {
        const int32_t keep = c.Sigmoid(n, forget, j);
        const int32_t take = forget == 0 ? 32767 - keep : c.Sigmoid(n, 0, j);
        const int32_t fresh = nm::fixed16::Tanh(c.Gate(n, forget + 1, j));
        const int32_t expected =
            nm::FixedNextState(keep, c.has_state ? c.State(n, j) : 0, take, fresh, c.bits, clamp);
        ASSERT_EQ(NumberAt(next, static_cast<size_t>(n * c.hidden + j), DType::kS16), expected)
            << n << "," << j;
      }
    }
  }
}

TEST(FixedRecurrentStep, OutputsAreTheReference) {
  for (uint32_t seed = 200; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const FixedCell c(random);
    TensorSpec y{random.Byte(), {c.batch, c.hidden}, 0.01f};
    y.zero_point = random.Zero(y.dtype);
    const RequantWords words = {static_cast<int32_t>(random.Int(1 << 30, INT32_MAX)),
                                static_cast<int32_t>(random.Int(50, 56))};
    const ClampQ clamp = {Lowest(y.dtype) + 3, Highest(y.dtype) - 2};
    ProgramBuilder builder;
    const std::vector<Bytes> inputs = c.AddOutput(builder, y, words, clamp);
    const Bytes bytes = RunEverywhere(builder, inputs);
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t j = 0; j < c.hidden; ++j) {
        const int32_t tanh = nm::fixed16::Tanh(c.State(n, j), 15 - c.bits);
        const int32_t expected =
            nm::FixedOutput(c.Sigmoid(n, c.gates - 1, j), tanh, words, y.zero_point, clamp);
        ASSERT_EQ(NumberAt(bytes, static_cast<size_t>(n * c.hidden + j), y.dtype), expected);
      }
    }
  }
}

// Every number of 16 bits in every format, on every instruction set.
TEST(FixedRecurrentStep, FunctionsAreTheReferenceForEveryNumber) {
  std::vector<int32_t> all;
  for (int32_t q = -32768; q <= 32767; ++q) all.push_back(q);
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512Vnni}) {
    if (!CpuSupports(isa)) continue;
    SCOPED_TRACE(static_cast<int>(isa));
    const FixedCellLoops& loops = FixedCellLoopsFor(isa);
    for (int32_t bits = -1; bits <= 6; ++bits) {
      for (size_t at = 0; at < all.size(); at += kFixedCellBlock) {
        alignas(64) int32_t t[kFixedCellBlock];
        std::copy_n(all.begin() + static_cast<int64_t>(at), kFixedCellBlock, t);
        bits < 0 ? loops.logistic(kFixedCellBlock, t) : loops.tanh(kFixedCellBlock, bits, t);
        for (size_t i = 0; i < static_cast<size_t>(kFixedCellBlock); ++i) {
          const int32_t q = all[at + i];
          ASSERT_EQ(t[i], bits < 0 ? nm::fixed16::Logistic(q) : nm::fixed16::Tanh(q, bits))
              << q << " of " << bits;
        }
      }
    }
  }
}

TEST(FixedRecurrentStep, DamagedCellsAreRefused) {
  Random random(9);
  const FixedCell c(random);
  const auto expect_error = [&](const char* part, const auto& spoil) {
    ProgramBuilder builder;
    c.AddCell(builder, -32768, 32767);
    spoil(builder, builder.image.commands.back());
    EXPECT_NE(LoadError(builder).find(part), std::string::npos) << LoadError(builder);
  };
  ProgramBuilder whole;
  c.AddCell(whole, -32768, 32767);
  EXPECT_EQ(LoadError(whole), kNoError);
  expect_error("rows, expected",
               [&](auto&, Command& cmd) { cmd.Set(Field::kOffset, c.rows - c.batch + 1); });
  expect_error("clamp is",
               [](auto&, Command& cmd) { cmd.Set(Field::kClampLoQ, 5).Set(Field::kClampHiQ, 4); });
  expect_error("expected", [&](ProgramBuilder& b, Command& cmd) {
    std::vector<int32_t> fewer = c.biases;
    fewer.pop_back();
    cmd.Set(Field::kList, b.Const(DType::kS32, {c.width() - 1}, fewer));
  });
  expect_error("gate product 1", [&](ProgramBuilder& b, Command& cmd) {
    std::vector<int32_t> words = c.words;
    words[2] = 1 << 29;
    cmd.Set(Field::kList2, b.Const(DType::kS32, {4 * c.gates}, words));
  });
}

TEST(FixedRecurrentStep, DamagedOutputsAreRefused) {
  Random random(10);
  const FixedCell c(random);
  const auto error = [&](const TensorSpec& y, int32_t rshift) {
    ProgramBuilder builder;
    c.AddOutput(builder, y, {1 << 30, rshift}, {0, 127});
    return LoadError(builder);
  };
  EXPECT_EQ(error({DType::kS8, {c.batch, c.hidden}, 0.01f}, 31), kNoError);
  EXPECT_NE(error({DType::kS8, {c.batch, c.hidden}, 0.01f}, 30).find("31 or more"),
            std::string::npos);
  EXPECT_NE(error({DType::kS16, {c.batch, c.hidden}, 0.01f}, 50), kNoError);
  EXPECT_NE(error({DType::kS8, {c.batch, c.hidden + 1}, 0.01f}, 50), kNoError);
}

}  // namespace
}  // namespace rshift::testing
