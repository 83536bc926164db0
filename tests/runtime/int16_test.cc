// Commands on 16-bit integers against their formulas in wide arithmetic, on every instruction set
// and number of threads: random shapes, types and extremes.
#include "quantize/numerics/int16.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "quantize/numerics/int16_terms.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;
TEST(Int16, Requantize) {
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    DType from = AnyType(random), to = AnyType(random);
    if (from != DType::kS16) to = DType::kS16;
    const TensorSpec x = Spec(random, from, AnyShape(random)), y = Spec(random, to, x.shape);
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t multiplier = random.Int(0, 4) == 0 ? 0 : AnyMultiplier(random);
    const auto rshift =
        static_cast<int>(random.Int(0, 4) == 0 ? random.Int(0, 62) : random.Int(22, 40));
    Command& c = b.Add(Opcode::kRequantizeS16, dst, src);
    c.Set(Field::kMultiplier, multiplier).Set(Field::kRshift, rshift);
    const Limits limits = SetClamp(random, to, c);
    const auto numbers = Numbers(random, from, NumElements(x.shape));
    std::vector<int32_t> expected;
    for (const int32_t q : numbers) {
      const int32_t v = q - x.zero_point;
      expected.push_back(multiplier == 0
                             ? Held(v, 0, y.zero_point, limits)
                             : Held(Wide{v} * multiplier, rshift, y.zero_point, limits));
      ASSERT_EQ(numerics::RescaleInt16(v, {multiplier, rshift}, y.zero_point, limits.lo, limits.hi),
                expected.back());
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, from)}), to, expected);
  }
}

// over / (under 2^rshift) + 1/2, down, held.
int32_t Quotient(Wide over, Wide under, int rshift, int32_t zero, const Limits& limits) {
  if (under == 0) {
    if (over != 0) return over < 0 ? limits.lo : limits.hi;
    return Held(0, 0, zero, limits);
  }
  if (under < 0) over = -over, under = -under;
  under <<= rshift;
  over = 2 * over + under;
  under *= 2;
  const Wide whole = over / under;
  return Held(whole - (over % under < 0 ? 1 : 0), 0, zero, limits);
}

// Sums, products and quotients; the second operand may be a constant of the last dimensions.
void CheckPair(Opcode opcode, uint32_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  DType types[3] = {AnyType(random), AnyType(random), AnyType(random)};
  types[random.Int(0, 2)] = DType::kS16;
  const TensorSpec x = Spec(random, types[0], AnyShape(random));
  TensorSpec x2 = Spec(random, types[1], x.shape);
  const TensorSpec y = Spec(random, types[2], x.shape);
  const bool constant = random.Int(0, 2) == 0;
  if (constant) {
    const auto ones = static_cast<size_t>(random.Int(0, 3));
    for (size_t d = 0; d < ones; ++d) x2.shape[d] = 1;
  }
  const auto a = Numbers(random, x.dtype, NumElements(x.shape));
  auto other = Numbers(random, x2.dtype, NumElements(x2.shape));
  if (opcode == Opcode::kDivS16) {
    for (int32_t& number : other) number = random.Int(0, 9) == 0 ? x2.zero_point : number;
  }
  ProgramBuilder b;
  const int32_t src = b.Input(x), dst = b.Output(y);
  std::vector<Bytes> inputs = {Stored(a, x.dtype)};
  int32_t src2;
  if (constant) {
    src2 = b.QuantizedConst(x2, Stored(other, x2.dtype));
  } else {
    src2 = b.Input(x2);
    inputs.push_back(Stored(other, x2.dtype));
  }
  Command& c = b.Add(opcode, dst, src).Set(Field::kSrc2, src2);
  const Limits limits = SetClamp(random, y.dtype, c);
  const bool sum = opcode == Opcode::kAddS16;
  const bool small = opcode == Opcode::kDivS16 && random.Int(0, 1) == 0;
  const auto m = static_cast<int32_t>(sum     ? random.Int(INT32_MIN, INT32_MAX)
                                      : small ? random.Int(0, 1 << 20)
                                              : random.Int(1 << 30, INT32_MAX));
  const auto m2 = static_cast<int32_t>(random.Int(INT32_MIN, INT32_MAX));
  const bool quotient = opcode == Opcode::kDivS16;
  const auto rshift = static_cast<int>(sum || quotient ? random.Int(0, 46) : random.Int(0, 62));
  c.Set(Field::kMultiplier, m).Set(Field::kRshift, rshift);
  if (sum) c.Set(Field::kMultiplier2, m2);
  std::vector<int32_t> expected;
  for (size_t i = 0; i < a.size(); ++i) {
    const int32_t u = a[i] - x.zero_point, t = other[i % other.size()] - x2.zero_point;
    const Wide v = u, w = t;
    const int32_t zero = y.zero_point, lo = limits.lo, hi = limits.hi;
    expected.push_back(quotient ? Quotient(v * m, w, rshift, zero, limits)
                       : sum    ? Held(v * m + w * m2, rshift, zero, limits)
                                : Held(v * w * m, rshift, zero, limits));
    ASSERT_EQ(quotient ? numerics::QuotientInt16(u, t, {m, rshift}, zero, lo, hi)
              : sum    ? numerics::SumInt16(u, t, m, m2, rshift, zero, lo, hi)
                       : numerics::ProductInt16(u, t, {m, rshift}, zero, lo, hi),
              expected.back());
  }
  ExpectNumbers(RunEverywhere(b, inputs), y.dtype, expected);
}

TEST(Int16, Add) {
  for (uint32_t seed = 1; seed <= 120; ++seed) CheckPair(Opcode::kAddS16, seed);
}
TEST(Int16, Mul) {
  for (uint32_t seed = 1; seed <= 120; ++seed) CheckPair(Opcode::kMulS16, seed);
}

TEST(Int16, Div) {
  for (uint32_t seed = 1; seed <= 240; ++seed) CheckPair(Opcode::kDivS16, seed);
}

TEST(Int16, DivByShiftsBeyondItsBoundIsRefused) {
  for (const int64_t rshift : {46, 47}) {
    ProgramBuilder b;
    const TensorSpec x{DType::kS16, {2, 3}, 0.1f};
    const int32_t src = b.Input(x), src2 = b.Input(x), dst = b.Output(x);
    b.Add(Opcode::kDivS16, dst, src).Set(Field::kSrc2, src2).Set(Field::kRshift, rshift);
    const std::string error = LoadError(b);
    if (rshift == 46) {
      EXPECT_EQ(error, kNoError);
    } else {
      EXPECT_THAT(error, HasSubstr("rshift is 47, expected at most 46"));
    }
  }
}

TEST(Int16, Tables) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorSpec x = Spec(random, DType::kS16, AnyShape(random));
    const TensorSpec y = Spec(random, AnyType(random), x.shape);
    const bool whole = random.Int(0, 1) == 0;
    std::vector<int32_t> entries;
    const int32_t bits = random.Int(3, 7), step = 1 << bits;
    const int32_t count = whole ? 65536 : 65536 / step + 1;
    entries.reserve(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) {
      entries.push_back(static_cast<int32_t>(whole ? random.Int(-32768, 32767)
                                                   : random.Int(-(1 << 24) + 1, (1 << 24) - 1)));
    }
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t table = whole ? b.Const(DType::kBytes, {131072},
                                          std::vector<int16_t>(entries.begin(), entries.end()))
                                : b.Const(DType::kBytes, {int64_t{4} * count}, entries);
    Command& c = b.Add(Opcode::kTableS16, dst, src).Set(Field::kTable, table);
    const Limits limits = SetClamp(random, y.dtype, c);
    const auto numbers = Numbers(random, DType::kS16, NumElements(x.shape));
    std::vector<int32_t> expected;
    for (const int32_t q : numbers) {
      const auto width = static_cast<size_t>(step);
      const auto at = static_cast<size_t>(q) + 32768, i = at / width, part = at % width;
      const Wide line = whole ? Wide{0}
                              : Wide{entries[i]} * static_cast<int64_t>(width - part) +
                                    Wide{entries[i + 1]} * static_cast<int64_t>(part);
      expected.push_back(whole ? Held(entries[at], 0, y.zero_point, limits)
                               : Held(line, bits + 8, y.zero_point, limits));
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), y.dtype, expected);
  }
}

TEST(Int16, TablesOfChannels) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorSpec x = Spec(random, DType::kS16, AnyShape(random));
    const TensorSpec y = Spec(random, AnyType(random), x.shape);
    const auto count = random.Int(1, 5);
    std::vector<int32_t> entries;
    for (int64_t i = 0; i < 513 * count; ++i)
      entries.push_back(static_cast<int32_t>(random.Int(-(1 << 24) + 1, (1 << 24) - 1)));
    std::vector<uint8_t> table_of;
    for (int64_t c = 0; c < x.shape.back(); ++c)
      table_of.push_back(static_cast<uint8_t>(random.Int(0, count - 1)));
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t table = b.Const(DType::kBytes, {2052 * count}, entries);
    const int32_t numbers_of = b.Const(DType::kU8, {x.shape.back()}, table_of);
    Command& c = b.Add(Opcode::kChannelTablesS16, dst, src);
    c.Set(Field::kTable, table).Set(Field::kSrc2, numbers_of);
    const Limits limits = SetClamp(random, y.dtype, c);
    const auto numbers = Numbers(random, DType::kS16, NumElements(x.shape));
    std::vector<int32_t> expected;
    for (size_t n = 0; n < numbers.size(); ++n) {
      const size_t first = size_t{513} * table_of[n % table_of.size()];
      const auto at = static_cast<size_t>(numbers[n]) + 32768, i = first + at / 128;
      const auto part = static_cast<int64_t>(at % 128);
      expected.push_back(Held(Wide{entries[i]} * (128 - part) + Wide{entries[i + 1]} * part, 15,
                              y.zero_point, limits));
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), y.dtype, expected);
  }
}

TEST(Int16, TablesOfChannelsThatTheVerifierRefuses) {
  const auto error = [](std::vector<uint8_t> table_of, int32_t entry) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {4, 3}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {4, 3}, 0.1f});
    std::vector<int32_t> entries(2 * 513, 5);
    entries[700] = entry;
    const int32_t table = b.Const(DType::kBytes, {2 * 2052}, entries);
    const auto channels = static_cast<int64_t>(table_of.size());
    const int32_t numbers_of = b.Const(DType::kU8, {channels}, table_of);
    b.Add(Opcode::kChannelTablesS16, dst, src)
        .Set(Field::kTable, table)
        .Set(Field::kSrc2, numbers_of)
        .Set(Field::kClampLoQ, -32768)
        .Set(Field::kClampHiQ, 32767);
    return LoadError(b);
  };
  EXPECT_EQ(error({0, 1, 1}, 5), kNoError);
  EXPECT_THAT(error({0, 2, 1}, 5), HasSubstr("channel 1 has table 2, there are 2"));
  EXPECT_THAT(error({0, 1}, 5), HasSubstr("expected the number of a table for each channel"));
  EXPECT_THAT(error({0, 1, 1}, 1 << 24), HasSubstr("entry 700 is 16777216"));
}

struct Records {
  std::vector<ChannelRequant> records;
  std::vector<int8_t> weights;
};

Records AnyRecords(Random& random, int64_t channels, int64_t products) {
  Records r;
  const bool ends = random.Int(0, 3) == 0;
  // Half of the layers have accumulators of 32 bits and factors below 1/2.
  const bool small = random.Int(0, 1) == 0;
  for (int64_t i = 0; i < channels * products; ++i) {
    const auto any = static_cast<int8_t>(random.Int(-128, 127));
    r.weights.push_back(ends ? static_cast<int8_t>(random.Int(0, 1) == 0 ? -128 : 127) : any);
  }
  for (int64_t c = 0; c < channels; ++c) {
    const auto bias = static_cast<int32_t>(random.Int(-(1 << 24), 1 << 24));
    if (random.Int(0, 9) == 0) {
      r.records.push_back(
          {small ? bias : static_cast<int32_t>(random.Int(INT32_MIN, INT32_MAX)), 0, 0});
      continue;
    }
    const auto rshift =
        static_cast<int32_t>(random.Int(small ? 32 : 30, random.Int(0, 1) == 0 ? 45 : 69));
    r.records.push_back({bias, AnyMultiplier(random) & ~127, rshift});
  }
  return r;
}

// Where x is of bytes, every accumulator fits 32 bits.
Records RecordsFor(Random& random, DType x, int64_t channels, int64_t products) {
  Records r = AnyRecords(random, channels, products);
  if (x == DType::kS16) return r;
  for (ChannelRequant& record : r.records) record.bias %= 1 << 24;
  return r;
}

// s16, or bytes, of which results are s16.
DType AnySource(Random& random) { return random.Int(0, 1) == 0 ? DType::kS16 : AnyType(random); }
DType AnyResult(Random& random, DType x) {
  return x == DType::kS16 ? AnyType(random) : DType::kS16;
}

int32_t Requantized(Wide acc, const ChannelRequant& record, int32_t zero, const Limits& limits) {
  const int32_t y = Held((acc + record.bias) * record.multiplier, record.rshift, zero, limits);
  const RequantWords words = {record.multiplier, record.rshift};
  EXPECT_EQ(numerics::RequantizeWideBy(Rounding::kHalfUp, static_cast<int64_t>(acc + record.bias),
                                       words, zero, limits.lo, limits.hi),
            y);
  return y;
}

TEST(Int16, MatMul) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    // Beyond 512 products a sum leaves 32 bits where the weights are large.
    const int64_t k = random.Int(0, 4) == 0 ? random.Int(500, 2100) : random.Int(1, 90);
    const int64_t rows = random.Int(1, 30), n = random.Int(1, 70);
    const TensorSpec x = Spec(random, AnySource(random), {rows, k});
    const TensorSpec y = Spec(random, AnyResult(random, x.dtype), {rows, n});
    const Records r = RecordsFor(random, x.dtype, n, k);
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t weights = b.Const(DType::kBytes, {n * k}, r.weights);
    const int32_t requant = b.Const(DType::kBytes, {n * 12}, r.records);
    Command& c = b.Add(Opcode::kMatMulS16, dst, src);
    c.Set(Field::kWeights, weights).Set(Field::kRequant, requant);
    const Limits limits = SetClamp(random, y.dtype, c);
    const auto numbers = Numbers(random, x.dtype, rows * k);
    std::vector<int32_t> expected;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Wide acc = 0;
        for (int64_t t = 0; t < k; ++t)
          acc += Wide{numbers[static_cast<size_t>(i * k + t)]} *
                 r.weights[static_cast<size_t>(j * k + t)];
        expected.push_back(
            Requantized(acc, r.records[static_cast<size_t>(j)], y.zero_point, limits));
      }
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, x.dtype)}), y.dtype, expected);
  }
}

// dst s32: the sums themselves, up to the ends of 32 bits.
TEST(Int16, MatMulSums) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t k = random.Int(0, 4) == 0 ? random.Int(500, 2100) : random.Int(1, 90);
    const int64_t rows = random.Int(1, 30), n = random.Int(1, 150);
    const TensorSpec x = Spec(random, DType::kS16, {rows, k});
    std::vector<int8_t> weights(static_cast<size_t>(n * k), 0);
    for (int64_t j = 0; j < n; ++j) {
      int64_t left = 65535;  // of |w|
      for (int64_t t = 0; t < k && left > 0; ++t) {
        const int64_t most = std::min<int64_t>(left, random.Int(0, 1) == 0 ? 128 : 20);
        const int64_t w = random.Int(-most, std::min<int64_t>(most, 127));
        weights[static_cast<size_t>(j * k + t)] = static_cast<int8_t>(w);
        left -= std::abs(w);
      }
    }
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output({DType::kS32, {rows, n}});
    b.Add(Opcode::kMatMulS16, dst, src)
        .Set(Field::kWeights, b.Const(DType::kBytes, {n * k}, weights))
        .Set(Field::kRequant,
             b.Const(DType::kBytes, {n * 12}, std::vector<ChannelRequant>(static_cast<size_t>(n))));
    const auto numbers = Numbers(random, DType::kS16, rows * k);
    std::vector<int32_t> expected;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        int64_t acc = 0;
        for (int64_t t = 0; t < k; ++t)
          acc += int64_t{numbers[static_cast<size_t>(i * k + t)]} *
                 weights[static_cast<size_t>(j * k + t)];
        expected.push_back(static_cast<int32_t>(acc));
      }
    }
    EXPECT_EQ(RunEverywhere(b, {Stored(numbers, DType::kS16)}), AsBytes(expected));
  }
}

// The steps of a recurrent layer multiply by one constant.
TEST(Int16, WeightsOfOneConstantAreHeldOnce) {
  const auto memory = [](int commands) {
    Random random(5);
    ProgramBuilder b;
    const int64_t k = 128, n = 512;
    const int32_t src = b.Input({DType::kS16, {1, k}, 0.1f});
    const int32_t weights = b.Const(DType::kBytes, {n * k}, random.Data(n * k));
    const int32_t requant =
        b.Const(DType::kBytes, {n * 12}, std::vector<ChannelRequant>(static_cast<size_t>(n)));
    for (int i = 0; i < commands; ++i) {
      b.Add(Opcode::kMatMulS16, b.Output({DType::kS32, {1, n}}), src)
          .Set(Field::kWeights, weights)
          .Set(Field::kRequant, requant);
    }
    const Program program = b.Build();
    return Session(program, {.threads = 1}).memory().steps;
  };
  const size_t once = memory(1), widened = 2 * 128 * 512;
  EXPECT_GE(once, widened);
  EXPECT_LE(memory(10), once + 9 * (once - widened));
}

TEST(Int16, MatMulSumsThatAreNotPlainAreRefused) {
  struct {
    DType src;
    int64_t clamp;
    ChannelRequant record;
    int8_t weight;
    const char* message;
  } cases[] = {
      {DType::kS16, 0, {}, 127, kNoError},
      {DType::kS8, 0, {}, 1, "s8"},
      {DType::kS16, 5, {}, 1, "clamp is 0..5, expected none of s32"},
      {DType::kS16, 0, {1, 0, 0}, 1, "requant of channel 0 is not zero"},
      {DType::kS16, 0, {0, 1 << 30, 7}, 1, "requant of channel 0 is not zero"},
      {DType::kS16, 0, {}, -128, "the accumulator may reach 2176843776"},
  };
  for (const auto& each : cases) {
    ProgramBuilder b;
    const int64_t k = each.weight == -128 ? 519 : 516;
    const int32_t src = b.Input({each.src, {1, k}, 0.1f}), dst = b.Output({DType::kS32, {1, 1}});
    const std::vector<int8_t> weights(static_cast<size_t>(k), each.weight);
    b.Add(Opcode::kMatMulS16, dst, src)
        .Set(Field::kClampHiQ, each.clamp)
        .Set(Field::kWeights, b.Const(DType::kBytes, {k}, weights))
        .Set(Field::kRequant,
             b.Const(DType::kBytes, {12}, std::vector<ChannelRequant>{each.record}));
    EXPECT_THAT(LoadError(b), HasSubstr(each.message));
  }
}

struct Geometry {
  int64_t kernel[2], stride[2], dilation[2], before[2], after[2], in[2], out[2];
  explicit Geometry(Random& random) {
    for (int d = 0; d < 2; ++d) {
      kernel[d] = random.Int(1, 4), stride[d] = random.Int(1, 3), dilation[d] = random.Int(1, 2);
      before[d] = random.Int(0, kernel[d] - 1), after[d] = random.Int(0, kernel[d] - 1);
      const int64_t reach = (kernel[d] - 1) * dilation[d] + 1;
      in[d] = std::max<int64_t>(random.Int(1, 9), reach - before[d] - after[d]);
      in[d] = std::max<int64_t>(in[d], dilation[d] * kernel[d]);
      out[d] = (in[d] + before[d] + after[d] - reach) / stride[d] + 1;
    }
  }
  void Set(Command& c) const {
    c.Set(Field::kKernelH, kernel[0]).Set(Field::kKernelW, kernel[1]);
    c.Set(Field::kStrideH, stride[0]).Set(Field::kStrideW, stride[1]);
    c.Set(Field::kDilationH, dilation[0]).Set(Field::kDilationW, dilation[1]);
    c.Set(Field::kPadTop, before[0]).Set(Field::kPadLeft, before[1]);
    c.Set(Field::kPadBottom, after[0]).Set(Field::kPadRight, after[1]);
  }
  // The pixel under a tap; -1: a pad.
  int64_t At(int64_t oy, int64_t ox, int64_t ky, int64_t kx) const {
    const int64_t y = oy * stride[0] - before[0] + ky * dilation[0];
    const int64_t x = ox * stride[1] - before[1] + kx * dilation[1];
    return y < 0 || y >= in[0] || x < 0 || x >= in[1] ? -1 : y * in[1] + x;
  }
};

struct Channels {
  int64_t groups, of_group_in, of_group_out;
};

void CheckConv(Random& random, const Channels& channels) {
  const Geometry g(random);
  const auto [groups, gi, go] = channels;
  const int64_t ic = groups * gi, oc = groups * go, taps = g.kernel[0] * g.kernel[1];
  const TensorSpec x = Spec(random, AnySource(random), {1, g.in[0], g.in[1], ic});
  const TensorSpec y = Spec(random, AnyResult(random, x.dtype), {1, g.out[0], g.out[1], oc});
  const Records r = RecordsFor(random, x.dtype, oc, taps * gi);
  ProgramBuilder b;
  const int32_t src = b.Input(x), dst = b.Output(y);
  const int32_t weights = b.Const(DType::kBytes, {oc * taps * gi}, r.weights);
  const int32_t requant = b.Const(DType::kBytes, {oc * 12}, r.records);
  Command& c = b.Add(Opcode::kConvS16, dst, src);
  c.Set(Field::kWeights, weights).Set(Field::kRequant, requant).Set(Field::kGroups, groups);
  g.Set(c);
  const Limits limits = SetClamp(random, y.dtype, c);
  const auto numbers = Numbers(random, x.dtype, NumElements(x.shape));
  std::vector<int32_t> expected;
  for (int64_t m = 0; m < g.out[0] * g.out[1]; ++m) {
    for (int64_t o = 0; o < oc; ++o) {
      Wide acc = 0;  // pads hold the zero point
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t at = g.At(m / g.out[1], m % g.out[1], tap / g.kernel[1], tap % g.kernel[1]);
        for (int64_t i = 0; i < gi; ++i) {
          const int32_t number =
              at < 0 ? x.zero_point : numbers[static_cast<size_t>(at * ic + o / go * gi + i)];
          acc += Wide{number} * r.weights[static_cast<size_t>((o * taps + tap) * gi + i)];
        }
      }
      expected.push_back(Requantized(acc, r.records[static_cast<size_t>(o)], y.zero_point, limits));
    }
  }
  ExpectNumbers(RunEverywhere(b, {Stored(numbers, x.dtype)}), y.dtype, expected);
}

TEST(Int16, Convolution) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    CheckConv(random, {random.Int(1, 3), random.Int(1, 20), random.Int(1, 40)});
  }
}
// Megabytes of weights, of which each panel meets a block of tiles.
TEST(Int16, ConvolutionOfManyWeights) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    CheckConv(random, {random.Int(1, 2), random.Int(100, 200), random.Int(150, 260)});
  }
}
TEST(Int16, Depthwise) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    CheckConv(random, {random.Int(2, 300), 1, 1});
  }
}

TEST(Int16, Pools) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Geometry g(random);
    const bool max = random.Int(0, 3) == 0, pads = random.Int(0, 1) == 0;
    const int64_t channels = random.Int(1, 300);
    const TensorSpec x = Spec(random, DType::kS16, {1, g.in[0], g.in[1], channels});
    const TensorSpec y =
        Spec(random, max ? DType::kS16 : AnyType(random), {1, g.out[0], g.out[1], channels});
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    Command& c = b.Add(max ? Opcode::kMaxPool : Opcode::kAveragePoolS16, dst, src);
    g.Set(c);
    Limits limits = LimitsOf(y.dtype);
    const auto multiplier = random.Int(0, (1 << 24) - 1);
    const auto rshift = static_cast<int>(random.Int(0, 41));
    if (!max) {
      c.Set(Field::kMultiplier, multiplier).Set(Field::kRshift, rshift).Set(Field::kFlags, pads);
      limits = SetClamp(random, y.dtype, c);
    }
    const auto numbers = Numbers(random, DType::kS16, NumElements(x.shape));
    std::vector<int32_t> expected;
    for (int64_t m = 0; m < g.out[0] * g.out[1]; ++m) {
      for (int64_t ch = 0; ch < channels; ++ch) {
        Wide sum = 0, n = 0;
        int32_t highest = -32768;
        for (int64_t tap = 0; tap < g.kernel[0] * g.kernel[1]; ++tap) {
          const int64_t at = g.At(m / g.out[1], m % g.out[1], tap / g.kernel[1], tap % g.kernel[1]);
          if (at < 0) continue;
          const int32_t v = numbers[static_cast<size_t>(at * channels + ch)];
          sum += v, n += 1, highest = std::max(highest, v);
        }
        if (pads) n = g.kernel[0] * g.kernel[1];
        // floor(sum M / (n 2^rshift) + 1/2)
        const Wide over = 2 * sum * multiplier + (n << rshift), under = n << (rshift + 1);
        const Wide floor = over / under - (over % under < 0 ? 1 : 0);
        expected.push_back(max ? highest : Held(floor, 0, y.zero_point, limits));
      }
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), y.dtype, expected);
  }
}

// Rows [rows, n], or channels [images, n, channels]; every fifth of so many elements that their
// differences are halved.
TEST(Int16, NormalizeIsTheRealThing) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool many = seed % 5 == 0, channels = random.Int(0, 1) > 0;
    const int64_t n = many ? random.Int(16'000, 140'000) : random.Int(2, 400);
    const int64_t images = random.Int(1, 2);
    const int64_t rows = channels ? random.Int(1, many ? 5 : 150) : random.Int(1, many ? 3 : 9);
    const Shape shape = channels ? Shape{images, n, rows} : Shape{rows, n};
    const TensorSpec x = Spec(random, DType::kS16, shape);
    TensorSpec y = Spec(random, AnyType(random), shape);
    y.zero_point = 0;
    const bool center = random.Int(0, 2) > 0;
    const double epsilon = 10, unit = y.dtype == DType::kS16 ? 4096 : 16;
    const numerics::VarianceTerms terms = numerics::MakeVarianceTerms(
        n, numerics::kInt16Magnitude, epsilon, numerics::NormalizeHalvings(n));
    const int64_t count = channels ? rows : n;
    const int32_t rshift = numerics::FactorShift(3 * unit);
    std::vector<double> scales, biases;
    std::vector<int32_t> factors;
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < count; ++i) {
      scales.push_back(random.Float(-3, 3) * unit);
      biases.push_back(random.Float(-1, 1) * unit);
      factors.push_back(numerics::NormalizeFactor(scales.back(), rshift));
      offsets.push_back(numerics::NormalizeOffset(biases.back(), rshift));
    }
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t f = b.Const(DType::kS32, {count}, factors);
    const int32_t o = b.Const(DType::kS64, {count}, offsets);
    Command& c = b.Add(Opcode::kNormalizeS16, dst, src).Set(Field::kSrc2, f).Set(Field::kList, o);
    c.Set(Field::kAxis, 1).Set(Field::kFlags, (center ? 1 : 0) | (channels ? 2 : 0));
    c.Set(Field::kOffset, terms.epsilon);
    c.Set(Field::kRshift, terms.shift).Set(Field::kRshift2, rshift);
    const Limits limits = SetClamp(random, y.dtype, c);
    const auto numbers = Numbers(random, DType::kS16, NumElements(shape));
    const Bytes bytes = RunEverywhere(b, {Stored(numbers, DType::kS16)});
    for (int64_t group = 0; group < (channels ? images * rows : rows); ++group) {
      const int64_t first = channels ? group / rows * n * rows + group % rows : group * n;
      const int64_t step = channels ? rows : 1;
      const auto at = [&](int64_t i) { return static_cast<size_t>(first + i * step); };
      long double sum = 0, squares = 0;
      for (int64_t i = 0; i < n; ++i) {
        const long double v = numbers[at(i)];
        sum += v, squares += v * v;
      }
      const auto exact_sum = static_cast<int64_t>(sum),
                 exact_squares = static_cast<int64_t>(squares);
      const numerics::InverseDeviation by = numerics::InvertInt16(
          n, center ? exact_sum : 0, exact_squares, terms.epsilon, terms.shift);
      const auto together = static_cast<long double>(n);
      const long double mean = center ? sum / together : 0;
      const long double deviation =
          std::sqrt(squares / together - mean * mean + static_cast<long double>(epsilon));
      for (int64_t i = 0; i < n; ++i) {
        const auto j = static_cast<size_t>(channels ? group % rows : i);
        const long double real =
            (numbers[at(i)] - mean) / deviation * static_cast<long double>(scales[j]) +
            static_cast<long double>(biases[j]);
        const long double held = std::clamp<long double>(real, limits.lo, limits.hi);
        // The scalar arithmetic, to the last bit.
        const int64_t whole = n * numbers[at(i)] - (center ? exact_sum : 0);
        const int32_t normal = numerics::Normalized(
            numerics::DifferenceInt16(whole, numerics::NormalizeHalvings(n)), by);
        ASSERT_EQ(NumberAt(bytes, at(i), y.dtype),
                  numerics::ScaleNormalized(normal, factors[j], offsets[j], rshift,
                                            static_cast<int32_t>(limits.lo),
                                            static_cast<int32_t>(limits.hi)))
            << at(i);
        // 19 fraction bits of a normalized element, times a factor of up to 3 * 4096.
        ASSERT_LE(std::fabs(NumberAt(bytes, at(i), y.dtype) - held), 0.53L) << at(i);
      }
    }
  }
}

TEST(Int16, WhatTheVerifierRefuses) {
  Random random(1);
  const auto error = [&](auto spoil) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {4, 600}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {4, 3}, 0.1f});
    std::vector<int8_t> w(1800, 1);
    std::vector<ChannelRequant> records(3, {0, 1 << 30, 40});
    spoil(b, w, records);
    const int32_t weights = b.Const(DType::kBytes, {1800}, w);
    const int32_t requant = b.Const(DType::kBytes, {36}, records);
    b.Add(Opcode::kMatMulS16, dst, src)
        .Set(Field::kWeights, weights)
        .Set(Field::kRequant, requant)
        .Set(Field::kClampLoQ, -32768)
        .Set(Field::kClampHiQ, 32767);
    return LoadError(b);
  };
  using Weights = std::vector<int8_t>;
  using All = std::vector<ChannelRequant>;
  EXPECT_EQ(error([](ProgramBuilder&, Weights&, All&) {}), kNoError);
  EXPECT_THAT(error([](ProgramBuilder&, Weights&, All& r) { r[1].multiplier |= 1; }),
              HasSubstr("expected 24 bits and 7 zeros behind them"));
  EXPECT_THAT(error([](ProgramBuilder&, Weights&, All& r) { r[2].rshift = 6; }),
              HasSubstr("rshift is 6, expected 7..69"));
  EXPECT_THAT(error([](ProgramBuilder& b, Weights&, All&) {
                b[0].dtype = DType::kS8;
                b[1].dtype = DType::kS8;
              }),
              HasSubstr("expected s16"));
  EXPECT_EQ(error([](ProgramBuilder& b, Weights&, All&) { b[0].dtype = DType::kU8; }), kNoError);
  EXPECT_THAT(error([](ProgramBuilder& b, Weights&, All& r) {
                b[0].dtype = DType::kU8;
                r[1].bias = INT32_MAX - 600 * 255 + 1;
              }),
              HasSubstr("the accumulator may reach 2147483648, expected at most 2147483647"));
}

}  // namespace
}  // namespace rshift::testing
