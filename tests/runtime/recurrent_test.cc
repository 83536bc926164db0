// Cells of LSTM and GRU, and states from and to f32, against the scalar reference: on every
// instruction set, on random shapes and at the ends of every range.
#include "quantize/numerics/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "quantize/numerics/quantize.h"
#include "quantize/numerics/recurrent_terms.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

namespace nm = numerics;

std::vector<int32_t> Table() {
  const auto table = nm::MakeTanhTable();
  return {table.begin(), table.end()};
}

// What a case is made of: [batch, hidden], products of `gates` gates, rows of the first from `row`.
struct Cell {
  int64_t batch, hidden, gates, row, rows;
  bool has_second, has_state;
  int32_t rshift, bits;
  std::vector<int32_t> a, b, factors;
  std::vector<int64_t> offsets;
  std::vector<int16_t> state;

  Cell(Random& random, int64_t gate_count, int64_t offset_gates)
      : batch(random.Int(1, 4)),
        hidden(random.Int(0, 1) == 0 ? random.Int(1, 20) : random.Int(50, 200)),
        gates(gate_count),
        row(random.Int(0, 3)),
        rows(row + batch + random.Int(0, 2)),
        has_second(random.Int(0, 3) != 0),
        has_state(random.Int(0, 3) != 0),
        rshift(
            static_cast<int32_t>(random.Int(0, 1) == 0 ? random.Int(14, 30) : random.Int(0, 32))),
        bits(static_cast<int32_t>(random.Int(0, 15))) {
    const bool wild = random.Int(0, 4) == 0;
    const int64_t most = wild ? INT32_MAX : 100000, factor = wild ? nm::kLargestGateFactor : 100000;
    for (int64_t i = 0; i < rows * gates * hidden; ++i) a.push_back(Number(random, most, wild));
    for (int64_t i = 0; i < batch * gates * hidden; ++i) b.push_back(Number(random, most, wild));
    for (int64_t i = 0; i < 2 * gates * hidden; ++i)
      factors.push_back(static_cast<int32_t>(random.Int(-factor, factor)));
    const int64_t offset = wild ? nm::kLargestGateOffset : int64_t{1} << (rshift + 17);
    for (int64_t i = 0; i < offset_gates * hidden; ++i)
      offsets.push_back(random.Int(0, 9) == 0 ? -offset : random.Int(-offset, offset));
    for (int64_t i = 0; i < batch * hidden; ++i)
      state.push_back(
          static_cast<int16_t>(random.Int(0, 9) == 0 ? -32768 : random.Int(-32768, 32767)));
  }
  static int32_t Number(Random& random, int64_t most, bool wild) {
    if (wild && random.Int(0, 9) == 0) return INT32_MIN;
    return static_cast<int32_t>(random.Int(-most, most));
  }

  size_t Column(int64_t gate, int64_t j) const { return static_cast<size_t>(gate * hidden + j); }
  // Of both products, or of one.
  int32_t Gate(int64_t n, int64_t gate, int64_t j, int32_t most = nm::kMostGate, bool first = true,
               bool second = true) const {
    const size_t column = Column(gate, j), width = static_cast<size_t>(gates * hidden);
    const size_t at = static_cast<size_t>(n) * width + column;
    const size_t offset = first ? column : Column(3, j);
    second = second && has_second;
    return nm::GateSum(first ? a[static_cast<size_t>(row) * width + at] : 0,
                       first ? factors[column] : 0, second ? b[at] : 0,
                       second ? factors[width + column] : 0, offsets[offset], rshift, most);
  }
  int32_t Sigmoid(int64_t n, int64_t gate, int64_t j) const {
    static const std::vector<int32_t> table = Table();
    return nm::LogisticOfTanh(nm::TableTanh(table.data(), Gate(n, gate, j)));
  }
  int32_t Tanh(int32_t t) const {
    static const std::vector<int32_t> table = Table();
    return nm::TableTanh(table.data(), t);
  }
  int16_t State(int64_t n, int64_t j) const { return state[static_cast<size_t>(n * hidden + j)]; }

  TensorSpec Wide(int64_t count) const { return {DType::kS32, {count, gates * hidden}}; }
  TensorSpec StateSpec() const { return {DType::kS16, {batch, hidden}}; }
  void SetConstants(ProgramBuilder& builder, Command& command) const {
    const auto count = [](const auto& v) { return static_cast<int64_t>(v.size()); };
    command.Set(Field::kList, builder.Const(DType::kS64, {count(offsets)}, offsets));
    command.Set(Field::kList2, builder.Const(DType::kS32, {count(factors)}, factors));
    command.Set(Field::kTable, builder.Const(DType::kBytes, {nm::kTanhBytes}, Table()));
    command.Set(Field::kOffset, row).Set(Field::kRshift, rshift).Set(Field::kRshift2, bits);
  }
  std::vector<Bytes> Run(ProgramBuilder& builder, Opcode opcode, int64_t flags) const {
    std::vector<Bytes> inputs = {AsBytes(a)};
    const int32_t src = builder.Input(Wide(rows));
    int32_t src2 = -1, src3 = -1;
    if (has_second) src2 = builder.Input(Wide(batch)), inputs.push_back(AsBytes(b));
    if (has_state) src3 = builder.Input(StateSpec()), inputs.push_back(AsBytes(state));
    const int32_t dst = builder.Output(StateSpec());
    Command command = builder.Add(opcode, dst, src).Set(Field::kSrc2, src2).Set(Field::kSrc3, src3);
    SetConstants(builder, command);
    command.Set(Field::kFlags, flags);
    builder.image.commands.back() = command;
    return inputs;
  }
};

std::vector<int16_t> Shorts(const Bytes& bytes) {
  std::vector<int16_t> values(bytes.size() / 2);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(RecurrentStep, LstmCellsAreTheReference) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Cell c(random, 4, 4);
    ProgramBuilder builder;
    const std::vector<Bytes> inputs = c.Run(builder, Opcode::kLstmCell, 0);
    const std::vector<int16_t> next = Shorts(RunEverywhere(builder, inputs));
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t j = 0; j < c.hidden; ++j) {
        const int32_t keep = c.has_state ? c.Sigmoid(n, 1, j) : 0;
        const int32_t expected = nm::NextState(keep, c.has_state ? c.State(n, j) : 0,
                                               c.Sigmoid(n, 0, j), c.Tanh(c.Gate(n, 2, j)), c.bits);
        ASSERT_EQ(next[static_cast<size_t>(n * c.hidden + j)], expected) << n << "," << j;
      }
    }
  }
}

TEST(RecurrentStep, GruCellsAreTheReference) {
  for (uint32_t seed = 100; seed <= 180; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool resets = random.Int(0, 1) == 0;
    const Cell c(random, 3, 4);
    ProgramBuilder builder;
    const std::vector<Bytes> inputs = c.Run(builder, Opcode::kGruCell, resets ? 1 : 0);
    const std::vector<int16_t> next = Shorts(RunEverywhere(builder, inputs));
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t j = 0; j < c.hidden; ++j) {
        const int32_t z = c.Sigmoid(n, 0, j);
        int32_t memory = c.Gate(n, 2, j);
        if (resets) {
          const int32_t part = c.Gate(n, 2, j, nm::kMostGatePart, true, false);
          const int32_t recurrent = c.Gate(n, 2, j, nm::kMostGatePart, false, true);
          memory = nm::ResetSum(part, c.Sigmoid(n, 1, j), recurrent);
        }
        const int32_t expected = nm::NextState(c.has_state ? z : 0, c.has_state ? c.State(n, j) : 0,
                                               32768 - z, c.Tanh(memory), c.bits);
        ASSERT_EQ(next[static_cast<size_t>(n * c.hidden + j)], expected) << n << "," << j;
      }
    }
  }
}

TEST(RecurrentStep, OutputsAreTheReference) {
  for (uint32_t seed = 200; seed <= 280; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t gates = random.Int(3, 4), gate = random.Int(0, gates - 1);
    const bool gated = random.Int(0, 2) != 0, tanh = random.Int(0, 1) == 0;
    Cell c(random, gates, 4);
    const bool wide = seed % 3 == 0;
    TensorSpec y{wide ? DType::kS16 : random.Byte(), {c.batch, c.hidden}, 0.01f};
    y.zero_point = wide ? 0 : random.Zero(y.dtype);
    const int32_t multiplier = static_cast<int32_t>(random.Int(1 << 30, INT32_MAX));
    const int32_t fewer = wide ? 8 : 0;
    const auto rshift = static_cast<int32_t>(random.Int(gated ? 48 : 34, gated ? 54 : 40)) - fewer;
    const int32_t lo = Lowest(y.dtype) + 3, hi = Highest(y.dtype) - 2;
    ProgramBuilder builder;
    std::vector<Bytes> inputs = {AsBytes(c.state)};
    const int32_t src = builder.Input(c.StateSpec());
    int32_t src2 = -1, src3 = -1;
    if (gated) src2 = builder.Input(c.Wide(c.rows)), inputs.push_back(AsBytes(c.a));
    if (gated && c.has_second)
      src3 = builder.Input(c.Wide(c.batch)), inputs.push_back(AsBytes(c.b));
    const int32_t dst = builder.Output(y);
    Command command =
        builder.Add(Opcode::kGatedOutput, dst, src).Set(Field::kSrc2, src2).Set(Field::kSrc3, src3);
    c.SetConstants(builder, command);
    if (!gated) command.Set(Field::kOffset, 0).Set(Field::kRshift, 0);
    command.Set(Field::kMode, gated ? gate : 0).Set(Field::kFlags, tanh ? 1 : 0);
    command.Set(Field::kMultiplier3, multiplier).Set(Field::kRshift3, rshift);
    command.Set(Field::kClampLoQ, lo).Set(Field::kClampHiQ, hi);
    builder.image.commands.back() = command;
    const Bytes bytes = RunEverywhere(builder, inputs);
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t j = 0; j < c.hidden; ++j) {
        int32_t v = c.State(n, j);
        if (tanh) v = c.Tanh(nm::GateOfState(v, c.bits));
        if (gated) v *= c.Sigmoid(n, gate, j);
        const int32_t expected =
            Saturate(ShiftedProduct(v, multiplier, rshift) + y.zero_point, lo, hi);
        ASSERT_EQ(NumberAt(bytes, static_cast<size_t>(n * c.hidden + j), y.dtype), expected);
      }
    }
  }
}

TEST(RecurrentStep, StatesComeFromAndGoToF32) {
  Random random(7);
  const float scale = 1.0f / 4096;
  std::vector<float> x = {0, 1, -1, 7.9999f, 8, -8, 1e30f, -1e30f, scale / 2, scale * 1.5f, NAN};
  for (int i = 0; i < 300; ++i) x.push_back(random.Float(-9, 9));
  const Shape shape = {static_cast<int64_t>(x.size())};
  ProgramBuilder quantize;
  const int32_t in = quantize.Input({DType::kF32, shape});
  const int32_t q = quantize.Output({DType::kS16, shape, scale});
  quantize[q].quantized = true;
  quantize[q].scale = scale;
  quantize.Add(Opcode::kQuantize, q, in);
  const Bytes states = RunEverywhere(quantize, {AsBytes(x)});
  ProgramBuilder dequantize;
  const int32_t s = dequantize.Input({DType::kS16, shape, scale});
  dequantize[s].quantized = true;
  dequantize[s].scale = scale;
  dequantize.Add(Opcode::kDequantize, dequantize.Output({DType::kF32, shape}), s);
  const Bytes reals = RunEverywhere(dequantize, {states});
  std::vector<float> back(x.size());
  std::memcpy(back.data(), reals.data(), reals.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int32_t expected = nm::QuantizeValue(x[i], scale, 0, -32768, 32767);
    EXPECT_EQ(Shorts(states)[i], expected) << x[i];
    EXPECT_EQ(back[i], static_cast<float>(expected) * scale);
  }
  quantize[q].scale = 0;
  EXPECT_NE(LoadError(quantize), kNoError);
}

TEST(RecurrentStep, DamagedCellsAreRefused) {
  Random random(9);
  const Cell c(random, 4, 4);
  const auto error = [&](const auto& spoil) {
    ProgramBuilder builder;
    c.Run(builder, Opcode::kLstmCell, 0);
    spoil(builder, builder.image.commands.back());
    return LoadError(builder);
  };
  EXPECT_EQ(error([](auto&, auto&) {}), kNoError);
  EXPECT_NE(error([&](auto&, Command& cmd) {
              cmd.Set(Field::kOffset, c.rows - c.batch + 1);
            }).find("rows, expected"),
            std::string::npos);
  EXPECT_NE(error([](auto&, Command& cmd) { cmd.Set(Field::kTable, -1); }).find("has no table"),
            std::string::npos);
  EXPECT_NE(error([](auto&, Command& cmd) { cmd.Set(Field::kList2, -1); }).find("no factors"),
            std::string::npos);
  EXPECT_NE(error([&](ProgramBuilder& b, Command& cmd) {
              std::vector<int32_t> table = Table();
              table[500] = (1 << 20) + 1;
              cmd.Set(Field::kTable, b.Const(DType::kBytes, {nm::kTanhBytes}, table));
            }).find("entry 500"),
            std::string::npos);
  EXPECT_NE(error([&](ProgramBuilder& b, Command& cmd) {
              std::vector<int32_t> factors = c.factors;
              factors[1] = 1 << 29;
              cmd.Set(Field::kList2, b.Const(DType::kS32, {2 * 4 * c.hidden}, factors));
            }).find("expected less than 2^29"),
            std::string::npos);
}

}  // namespace
}  // namespace rshift::testing
