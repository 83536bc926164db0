// Commands on two activations of 16-bit integers, and softmax by quotients, against their formulas
// in wide arithmetic on every instruction set and number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/quotient_softmax.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

TEST(Int16Activations, MaxAndMin) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorSpec x = Spec(random, DType::kS16, AnyShape(random));
    const bool min = random.Int(0, 1) == 0, repeats = random.Int(0, 2) == 0;
    const auto a = Numbers(random, DType::kS16, NumElements(x.shape));
    const int64_t own = repeats ? x.shape.back() : NumElements(x.shape);
    const auto other = Numbers(random, DType::kS16, own);
    ProgramBuilder b;
    const int32_t src = b.Input(x);
    const int32_t src2 = repeats ? b.Const(DType::kS16, {1, 1, own},
                                           std::vector<int16_t>(other.begin(), other.end()))
                                 : b.Input(x);
    b[src2].quantized = true;
    b[src2].scale = x.scale;
    const int32_t dst = b.Output(x);
    Command& c = b.Add(Opcode::kExtremumS16, dst, src);
    c.Set(Field::kSrc2, src2).Set(Field::kFlags, min);
    const Limits limits = SetClamp(random, DType::kS16, c);
    std::vector<int32_t> expected;
    for (size_t i = 0; i < a.size(); ++i) {
      const int32_t v = a[i], w = other[i % other.size()];
      expected.push_back(Held((v < w) == min ? v : w, 0, 0, limits));
    }
    std::vector<Bytes> inputs = {Stored(a, DType::kS16)};
    if (!repeats) inputs.push_back(Stored(other, DType::kS16));
    ExpectNumbers(RunEverywhere(b, inputs), DType::kS16, expected);
  }
}

// Ends of s16 and rows of more than 256 products leave 32 bits on the way.
TEST(Int16Activations, BatchedMatMul) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t batches = random.Int(1, 3), m = random.Int(1, 30), n = random.Int(1, 140);
    const int64_t k = random.Int(0, 3) == 0 ? random.Int(250, 800) : random.Int(1, 60);
    const bool shared = random.Int(0, 2) == 0;
    const TensorSpec x = Spec(random, DType::kS16, {batches, m, k});
    const TensorSpec w = Spec(random, DType::kS16, {shared ? 1 : batches, k, n});
    const TensorSpec y = Spec(random, AnyType(random), {batches, m, n});
    ProgramBuilder b;
    const int32_t src = b.Input(x), src2 = b.Input(w), dst = b.Output(y);
    const double scale = std::ldexp(1 + random.Float(0, 1), -static_cast<int>(random.Int(8, 40)));
    const RequantWords words = numerics::WideMultiplier(scale, numerics::ProductSumZeros(k));
    Command& c = b.Add(Opcode::kBatchedMatMulS16, dst, src);
    c.Set(Field::kSrc2, src2);
    c.Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    const Limits limits = SetClamp(random, y.dtype, c);
    const auto left = Numbers(random, DType::kS16, NumElements(x.shape));
    const auto right = Numbers(random, DType::kS16, NumElements(w.shape));
    std::vector<int32_t> expected;
    for (int64_t row = 0; row < batches * m; ++row) {
      const int64_t first = shared ? 0 : row / m * k * n;
      for (int64_t j = 0; j < n; ++j) {
        Wide acc = 0;
        for (int64_t t = 0; t < k; ++t)
          acc += Wide{left[static_cast<size_t>(row * k + t)]} *
                 right[static_cast<size_t>(first + t * n + j)];
        expected.push_back(Held(acc * words.multiplier, words.rshift, y.zero_point, limits));
        ASSERT_EQ(numerics::ProductSumInt16(static_cast<int64_t>(acc), words, y.zero_point,
                                            limits.lo, limits.hi),
                  expected.back());
      }
    }
    ExpectNumbers(RunEverywhere(b, {Stored(left, DType::kS16), Stored(right, DType::kS16)}),
                  y.dtype, expected);
  }
}

// NUMERICS.md section 29.7: E_d of one element.
Wide Entry(const std::vector<int32_t>& tables, int32_t d) {
  const Wide product =
      Wide{tables[static_cast<size_t>(d / 256)]} * tables[static_cast<size_t>(256 + d % 256)];
  return (product + (Wide{1} << 29)) >> 30;
}

std::vector<int32_t> SoftmaxRow(const int32_t* q, int64_t n, const std::vector<int32_t>& tables,
                                const RequantWords& inverse, const TensorSpec& y,
                                const Limits& limits) {
  const int32_t max = *std::max_element(q, q + n);
  Wide sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += Entry(tables, max - q[i]);
  int bits = 0;
  while ((sum >> bits) != 0) ++bits;
  const Wide normal = bits <= 32 ? sum << (32 - bits) : sum >> (bits - 32);
  const Wide factor = (Wide{inverse.multiplier} << 32) / normal;
  std::vector<int32_t> results;
  for (int64_t i = 0; i < n; ++i) {
    const int rshift = bits + inverse.rshift;
    const Wide product = Entry(tables, max - q[i]) * factor;
    results.push_back(rshift > 62 ? Held(0, 0, y.zero_point, limits)
                                  : Held(product, rshift, y.zero_point, limits));
  }
  return results;
}

// NUMERICS.md section 26, with section 29.7's entries.
std::vector<int32_t> LogSoftmaxRow(const int32_t* q, int64_t n, const std::vector<int32_t>& tables,
                                   double scale_x, const RequantWords& words, const TensorSpec& y,
                                   const Limits& limits) {
  const auto log = [](int64_t i) {
    return std::llround(std::log1p(static_cast<double>(i) / 256) * 67108864);
  };
  const int32_t max = *std::max_element(q, q + n);
  Wide sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += Entry(tables, max - q[i]);
  int bits = 0;
  while ((sum >> bits) != 0) ++bits;
  const Wide normal = sum << (64 - bits);
  const auto step = static_cast<int64_t>((normal >> 55) & 255);
  const Wide part = (normal >> 31) & 0xffffff;
  const Wide line = ((log(step + 1) - log(step)) * part + (1 << 23)) >> 24;
  const Wide of_sum = (bits - 31) * Wide{log(256)} + log(step) + line;
  const Wide in_units =
      (of_sum * words.multiplier + (words.rshift > 0 ? Wide{1} << (words.rshift - 1) : 0)) >>
      words.rshift;
  const Wide start = (Wide{y.zero_point} << 22) + (1 << 21) - in_units;
  const auto of_step = std::llround(scale_x / static_cast<double>(y.scale) * 4194304);
  std::vector<int32_t> results;
  for (int64_t i = 0; i < n; ++i) {
    const Wide units = (start - Wide{max - q[i]} * of_step) >> 22;
    results.push_back(static_cast<int32_t>(std::clamp<Wide>(units, limits.lo, limits.hi)));
  }
  return results;
}

// Rows of s16 and their quotient_softmax_s16, of a random size, scale and type of result.
struct SoftmaxCase {
  int64_t rows, n;
  float scale;
  DType type;
  TensorSpec y;  // of the scale that is to be set
  std::vector<int32_t> tables;
  explicit SoftmaxCase(Random& random)
      : rows(random.Int(1, 9)),
        n(random.Int(1, 400)),
        scale(static_cast<float>(random.Int(1, 60)) * 2e-5f),
        type(AnyType(random)),
        y(Spec(random, type, {rows, n})),
        tables(numerics::SoftmaxProductTables(scale)) {}
  // The command, and the numbers of its bounds.
  Limits Add(Random& random, const RequantWords& words, bool log, ProgramBuilder& b) const {
    const int32_t src = b.Input({DType::kS16, {rows, n}, scale, 0}), dst = b.Output(y);
    const int32_t table = b.Const(DType::kBytes, {2048}, tables);
    Command& c = b.Add(Opcode::kQuotientSoftmaxS16, dst, src);
    c.Set(Field::kTable, table).Set(Field::kFlags, log ? 1 : 0);
    c.Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    return SetClamp(random, type, c);
  }
};

// By its formula, and the real logarithm to the bound that NUMERICS.md proves.
TEST(Int16Activations, LogSoftmax) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SoftmaxCase of(random);
    of.y.scale = static_cast<float>(random.Int(5, 80)) / (of.type == DType::kS16 ? 32768 : 128);
    const auto& [rows, n, scale, type, y, tables] = of;
    const RequantWords words =
        numerics::QuantizeMultiplier(1.0 / 16 / static_cast<double>(y.scale), 32);
    ProgramBuilder b;
    const Limits limits = of.Add(random, words, true, b);
    const auto numbers = Numbers(random, DType::kS16, rows * n);
    std::vector<int32_t> expected;
    for (int64_t row = 0; row < rows; ++row) {
      const int32_t* q = numbers.data() + row * n;
      const double scale_x = static_cast<double>(scale);
      const auto one = LogSoftmaxRow(q, n, tables, scale_x, words, y, limits);
      const int32_t max = *std::max_element(q, q + n);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp((q[i] - max) * scale_x);
      const double unit = static_cast<double>(y.scale);
      for (int64_t i = 0; i < n; ++i) {
        const double real = ((q[i] - max) * scale_x - std::log(sum)) / unit;
        const double held = std::clamp<double>(real + y.zero_point, limits.lo, limits.hi);
        EXPECT_NEAR(one[static_cast<size_t>(i)], held,
                    0.5 + 0x1p-6 + (0x1p-18 + static_cast<double>(n) * 0x1p-29) / unit);
      }
      expected.insert(expected.end(), one.begin(), one.end());
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), type, expected);
  }
}

// By its formula, and the real softmax to the bound that NUMERICS.md proves.
TEST(Int16Activations, QuotientSoftmax) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SoftmaxCase of(random);
    of.y.scale = of.type == DType::kS16 ? 0x1p-15f : 0x1p-8f;
    const auto& [rows, n, scale, type, y, tables] = of;
    const RequantWords inverse =
        numerics::QuantizeMultiplier(1.0 / static_cast<double>(y.scale), 32);
    ProgramBuilder b;
    const Limits limits = of.Add(random, inverse, false, b);
    const auto numbers = Numbers(random, DType::kS16, rows * n);
    const Bytes bytes = RunEverywhere(b, {Stored(numbers, DType::kS16)});
    std::vector<int32_t> expected;
    for (int64_t row = 0; row < rows; ++row) {
      const auto one = SoftmaxRow(numbers.data() + row * n, n, tables, inverse, y, limits);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    ExpectNumbers(bytes, type, expected);
    for (int64_t row = 0; row < rows; ++row) {
      const int32_t* q = numbers.data() + row * n;
      const int32_t max = *std::max_element(q, q + n);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp((q[i] - max) * static_cast<double>(scale));
      for (int64_t i = 0; i < n; ++i) {
        const double real = std::exp((q[i] - max) * static_cast<double>(scale)) / sum /
                            static_cast<double>(y.scale);
        const double held = std::clamp<double>(real + y.zero_point, limits.lo, limits.hi);
        const double bound = 0.5 + 1.6 * (1.0 + static_cast<double>(n)) * 0x1p-15;
        const auto at = static_cast<size_t>(row * n + i);
        ASSERT_NEAR(NumberAt(bytes, at, type), held, bound) << at;
      }
    }
  }
}

// Every entry errs by 3/2 of 2^-30 at most: NUMERICS.md section 29.7.
TEST(Int16Activations, EntriesOfExpAreProducts) {
  for (const float scale : {1e-6f, 3.1e-5f, 1.7e-4f, 2.5e-3f, 0.3f}) {
    const std::vector<int32_t> tables = numerics::SoftmaxProductTables(scale);
    EXPECT_EQ(numerics::SoftmaxProductEntry(tables.data(), 0), numerics::kSoftmaxOne);
    for (int32_t d = 0; d < 65536; ++d) {
      const long double real =
          std::exp(-static_cast<long double>(d) * static_cast<long double>(scale)) * (1 << 30);
      const int32_t entry = numerics::SoftmaxProductEntry(tables.data(), d);
      ASSERT_LE(std::fabs(static_cast<long double>(entry) - real), 1.5L) << scale << ' ' << d;
    }
  }
}

TEST(Int16Activations, WhatTheVerifierRefuses) {
  const auto product = [](int64_t k, const RequantWords& words) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {2, k}, 0.1f});
    const int32_t src2 = b.Input({DType::kS16, {k, 3}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {2, 3}, 0.1f});
    b.Add(Opcode::kBatchedMatMulS16, dst, src)
        .Set(Field::kSrc2, src2)
        .Set(Field::kMultiplier, words.multiplier)
        .Set(Field::kRshift, words.rshift)
        .Set(Field::kClampLoQ, -32768)
        .Set(Field::kClampHiQ, 32767);
    return LoadError(b);
  };
  EXPECT_EQ(product(4, {1 << 30, 40}), kNoError);
  EXPECT_EQ(product(256, {INT32_MAX >> 8 << 8, 70}), kNoError);
  EXPECT_THAT(product(512, {INT32_MAX >> 8 << 8, 70}), HasSubstr("has more bits than sums of 512"));
  EXPECT_THAT(product(4, {INT32_MAX >> 8 << 8, 71}),
              HasSubstr("rshift is 71, expected at most 70"));
  EXPECT_THAT(product(65537, {1 << 30, 40}), HasSubstr("expected at most 65536"));

  const auto softmax = [](size_t at, int32_t entry) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {1, 7}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {1, 7}, 0x1p-15f});
    std::vector<int32_t> entries(512, 5);
    entries[0] = entries[256] = 1 << 30;
    entries[at] = entry;
    b.Add(Opcode::kQuotientSoftmaxS16, dst, src)
        .Set(Field::kTable, b.Const(DType::kBytes, {2048}, entries))
        .Set(Field::kMultiplier, 1 << 30)
        .Set(Field::kRshift, 15)
        .Set(Field::kClampLoQ, -32768)
        .Set(Field::kClampHiQ, 32767);
    return LoadError(b);
  };
  EXPECT_EQ(softmax(3, 1 << 30), kNoError);
  EXPECT_THAT(softmax(3, -1), HasSubstr("entry 3 is -1, expected 0..1073741824"));
  EXPECT_THAT(softmax(256, 7), HasSubstr("entry 256 is 7, expected 1073741824..1073741824"));
}

}  // namespace
}  // namespace rshift::testing
