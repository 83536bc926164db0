// 16-bit commands under the roundings of TensorFlow Lite's 16x8 against their formulas in wide
// arithmetic, on every instruction set and number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "quantize/numerics/tflite_int16.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// The low 32 bits, as a number.
Wide Low(Wide v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }
Wide FloorOf(Wide v, int bits) { return v >> bits; }
// v / 2^bits, ties away from zero.
Wide Away(Wide v, int bits) {
  if (bits == 0) return v;
  const Wide half = Wide{1} << (bits - 1);
  return v < 0 ? -FloorOf(-v + half, bits) : FloorOf(v + half, bits);
}
// Two roundings: half up of the high product, then `up` or away from zero.
Wide TwoSteps(Wide v, int32_t multiplier, int rshift, bool up = false) {
  const int left = rshift < 31 ? 31 - rshift : 0, right = rshift > 31 ? rshift - 31 : 0;
  const Wide shifted = Low(v << left);
  const Wide high = FloorOf(shifted * multiplier + (Wide{1} << 30), 31);
  if (!up) return Away(high, right);
  return right == 0 ? high : FloorOf(high + (Wide{1} << (right - 1)), right);
}

int64_t Code(Rounding rounding) { return static_cast<int64_t>(rounding); }

TEST(Int16Rounding, RequantizeInTwoSteps) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    DType from = AnyType(random), to = AnyType(random);
    if (from != DType::kS16) to = DType::kS16;
    const TensorSpec x = Spec(random, from, AnyShape(random)), y = Spec(random, to, x.shape);
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t multiplier = random.Int(0, 4) == 0 ? 0 : AnyMultiplier(random);
    const auto rshift = static_cast<int>(random.Int(0, 62));
    Command& c = b.Add(Opcode::kRequantizeS16, dst, src);
    c.Set(Field::kMultiplier, multiplier).Set(Field::kRshift, rshift);
    c.Set(Field::kRounding, Code(Rounding::kTwoStep));
    const Limits limits = SetClamp(random, to, c);
    const auto numbers = Numbers(random, from, NumElements(x.shape));
    std::vector<int32_t> expected;
    for (const int32_t q : numbers) {
      const Wide v = q - x.zero_point;
      expected.push_back(
          Held(multiplier == 0 ? v : TwoSteps(v, multiplier, rshift), 0, y.zero_point, limits));
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, from)}), to, expected);
  }
}

// Mul, and sums and differences of shifted operands.
void CheckPair(uint32_t seed, bool product) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const TensorSpec x = Spec(random, DType::kS16, AnyShape(random));
  const TensorSpec y = Spec(random, AnyType(random), x.shape);
  const auto a = Numbers(random, DType::kS16, NumElements(x.shape));
  const auto other = Numbers(random, DType::kS16, NumElements(x.shape));
  ProgramBuilder b;
  const int32_t src = b.Input(x), src2 = b.Input(x), dst = b.Output(y);
  Command& c = b.Add(product ? Opcode::kMulS16 : Opcode::kAddShiftedS16, dst, src);
  c.Set(Field::kSrc2, src2);
  const Limits limits = SetClamp(random, y.dtype, c);
  const int32_t m[] = {AnyMultiplier(random), AnyMultiplier(random), AnyMultiplier(random)};
  const bool subtract = random.Int(0, 1) == 0;
  const auto shift = static_cast<int>(random.Int(0, 15));
  int r[3];
  for (int& rshift : r) rshift = static_cast<int>(random.Int(31, 46));
  if (random.Int(0, 2) == 0) r[product ? 0 : 2] = static_cast<int>(random.Int(0, 62));
  c.Set(Field::kMultiplier, m[0]).Set(Field::kRshift, r[0]);
  if (product) {
    c.Set(Field::kRounding, Code(Rounding::kTwoStep));
  } else {
    c.Set(Field::kMultiplier2, m[1]).Set(Field::kRshift2, r[1]);
    c.Set(Field::kMultiplier3, m[2]).Set(Field::kRshift3, r[2]);
    c.Set(Field::kCount, shift).Set(Field::kFlags, subtract ? 1 : 0);
  }
  std::vector<int32_t> expected;
  for (size_t i = 0; i < a.size(); ++i) {
    const Wide v = a[i], w = other[i];
    const Wide u = TwoSteps(v << shift, m[0], r[0]), t = TwoSteps(w << shift, m[1], r[1]);
    const Wide sum = subtract ? u - t : u + t;
    expected.push_back(Held(product ? TwoSteps(v * w, m[0], r[0]) : TwoSteps(sum, m[2], r[2]), 0,
                            y.zero_point, limits));
  }
  ExpectNumbers(RunEverywhere(b, {Stored(a, DType::kS16), Stored(other, DType::kS16)}), y.dtype,
                expected);
}

TEST(Int16Rounding, ProductsInTwoSteps) {
  for (uint32_t seed = 1; seed <= 80; ++seed) CheckPair(seed, true);
}
TEST(Int16Rounding, SumsOfShiftedOperands) {
  for (uint32_t seed = 1; seed <= 120; ++seed) CheckPair(seed, false);
}

// Double products: small factors of 2 are exact, so that ties happen.
int32_t Doubled(Wide acc, double scale, int32_t zero, const Limits& limits) {
  const double v = static_cast<double>(static_cast<int64_t>(acc)) * scale;
  const double held = std::min(std::max(std::round(v), -1e6), 1e6);
  return Held(static_cast<int64_t>(held), 0, zero, limits);
}

// A matrix product, and a convolution of one pixel a tap with one filter for each channel.
void CheckProducts(uint32_t seed, Rounding rounding, bool depthwise) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const bool wide = rounding == Rounding::kDoubleAway;
  const int64_t k = depthwise ? 1 : wide && random.Int(0, 3) == 0 ? 1300 : random.Int(1, 60);
  const int64_t rows = random.Int(1, 30), n = random.Int(2, 140);
  const int64_t inputs = depthwise ? n : k;
  const Shape x_shape = depthwise ? Shape{1, rows, 1, n} : Shape{rows, k};
  const Shape y_shape = depthwise ? Shape{1, rows, 1, n} : Shape{rows, n};
  const TensorSpec x = Spec(random, DType::kS16, x_shape);
  const TensorSpec y = Spec(random, AnyType(random), y_shape);
  std::vector<int8_t> w;
  for (int64_t i = 0; i < n * k; ++i) w.push_back(static_cast<int8_t>(random.Int(-128, 127)));
  std::vector<ChannelRequant> records;
  std::vector<double> scales;
  for (int64_t c = 0; c < n; ++c) {
    const auto bias = static_cast<int32_t>(random.Int(-(1 << 20), 1 << 20));
    records.push_back({bias, AnyMultiplier(random), static_cast<int32_t>(random.Int(28, 62))});
    scales.push_back(std::ldexp(random.Int(0, 1) == 0 ? 1.0 : 1.0 + 1e-9 * random.Int(1, 99),
                                -static_cast<int>(random.Int(1, 24))));
    if (wide) {
      records.back().multiplier = numerics::UpperWord(scales.back());
      records.back().rshift = numerics::LowerWord(scales.back());
    }
  }
  ProgramBuilder b;
  const int32_t src = b.Input(x), dst = b.Output(y);
  const int32_t weights = b.Const(DType::kBytes, {n * k}, w);
  const int32_t requant = b.Const(DType::kBytes, {n * 12}, records);
  Command& c = b.Add(depthwise ? Opcode::kConvS16 : Opcode::kMatMulS16, dst, src);
  c.Set(Field::kWeights, weights).Set(Field::kRequant, requant);
  c.Set(Field::kRounding, Code(rounding));
  if (depthwise) {
    for (const Field f : {Field::kKernelH, Field::kKernelW, Field::kStrideH, Field::kStrideW,
                          Field::kDilationH, Field::kDilationW})
      c.Set(f, 1);
    c.Set(Field::kGroups, n);
  }
  const Limits limits = SetClamp(random, y.dtype, c);
  const auto numbers = Numbers(random, DType::kS16, rows * inputs);
  std::vector<int32_t> expected;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const ChannelRequant& record = records[static_cast<size_t>(j)];
      Wide acc = record.bias;
      for (int64_t t = 0; t < k; ++t)
        acc += Wide{numbers[static_cast<size_t>(i * inputs + (depthwise ? j : t))]} *
               w[static_cast<size_t>(j * k + t)];
      expected.push_back(wide ? Doubled(acc, scales[static_cast<size_t>(j)], y.zero_point, limits)
                              : Held(TwoSteps(acc, record.multiplier, record.rshift,
                                              rounding == Rounding::kTwoStepUp),
                                     0, y.zero_point, limits));
    }
  }
  ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), y.dtype, expected);
}

TEST(Int16Rounding, Products) {
  for (const Rounding rounding :
       {Rounding::kDoubleAway, Rounding::kTwoStep, Rounding::kTwoStepUp}) {
    SCOPED_TRACE(Code(rounding));
    for (uint32_t seed = 1; seed <= 30; ++seed) CheckProducts(seed, rounding, false);
    for (uint32_t seed = 1; seed <= 15; ++seed) CheckProducts(seed, rounding, true);
  }
}

TEST(Int16Rounding, Averages) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t h = random.Int(1, 40), w = random.Int(1, 5), channels = random.Int(1, 300);
    const bool two_steps = random.Int(0, 1) == 0;
    const TensorSpec x = Spec(random, DType::kS16, {1, h, w, channels});
    const TensorSpec y = Spec(random, AnyType(random), {1, 1, 1, channels});
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    Command& c = b.Add(Opcode::kAveragePoolS16, dst, src);
    for (const Field f : {Field::kStrideH, Field::kStrideW, Field::kDilationH, Field::kDilationW})
      c.Set(f, 1);
    c.Set(Field::kKernelH, h).Set(Field::kKernelW, w);
    const int64_t multiplier = two_steps ? AnyMultiplier(random) : random.Int(0, 9);
    const auto rshift = static_cast<int>(two_steps ? random.Int(28, 50) : random.Int(0, 3));
    c.Set(Field::kMultiplier, multiplier).Set(Field::kRshift, rshift);
    c.Set(Field::kRounding, Code(two_steps ? Rounding::kTwoStep : Rounding::kHalfAway));
    const Limits limits = SetClamp(random, y.dtype, c);
    const auto numbers = Numbers(random, DType::kS16, NumElements(x.shape));
    std::vector<int32_t> expected;
    for (int64_t ch = 0; ch < channels; ++ch) {
      Wide sum = 0;
      for (int64_t p = 0; p < h * w; ++p) sum += numbers[static_cast<size_t>(p * channels + ch)];
      const Wide over = 2 * sum * multiplier, half = (h * w) << rshift;
      const Wide average = over < 0 ? -((-over + half) / (2 * half)) : (over + half) / (2 * half);
      expected.push_back(
          Held(two_steps ? TwoSteps(sum, static_cast<int32_t>(multiplier), rshift) : average, 0,
               y.zero_point, limits));
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, DType::kS16)}), y.dtype, expected);
  }
}

Wide Line(const int16_t* table, Wide at) {
  const auto i = static_cast<int>((at + 32768) >> 7), part = static_cast<int>((at + 32768) & 127);
  return table[i] + FloorOf(Wide{table[i + 1] - table[i]} * part + 64, 7);
}
Wide Narrow(Wide v) { return v < -32768 ? Wide{-32768} : v > 32767 ? Wide{32767} : v; }

// NUMERICS.md section 30, of one row.
std::vector<int32_t> SoftmaxRow(const int32_t* q, int64_t n, const RequantWords& words,
                                const int16_t* table) {
  const int32_t max = *std::max_element(q, q + n);
  std::vector<Wide> e;
  Wide sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Wide d = TwoSteps(Wide{q[i]} - max, words.multiplier, words.rshift);
    e.push_back(Line(table, Narrow(d + 32767)));
    sum += e.back();
  }
  int bits = 0;
  while ((sum >> bits) != 0) ++bits;
  const int h = 31 - bits;
  const Wide x = Narrow(FloorOf((sum << h) + (1 << 13), 14) - (1 << 16) - (1 << 15));
  const Wide c = Line(table + 513, x);
  std::vector<int32_t> y;
  y.reserve(e.size());
  for (const Wide& one : e) y.push_back(Held(one * c, 30 - h, 0, {0, 32767}));
  return y;
}

// By its formula, and the real softmax to what its tables keep of it.
TEST(Int16Rounding, Softmax) {
  const std::vector<int16_t> table = numerics::TfLiteSoftmaxTables();
  ASSERT_EQ(table.size(), 2u * numerics::kSoftmaxInt16Entries);
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t rows = random.Int(1, 9), n = random.Int(1, 300);
    const float scale = static_cast<float>(random.Int(1, 40)) * 1e-5f;
    const TensorSpec x{DType::kS16, {rows, n}, scale, 0}, y{DType::kS16, {rows, n}, 0x1p-15f, 0};
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const int32_t entries = b.Const(DType::kBytes, {2052}, table);
    const RequantWords words = numerics::TfLiteSoftmaxWords(scale);
    b.Add(Opcode::kSoftmaxS16, dst, src)
        .Set(Field::kTable, entries)
        .Set(Field::kMultiplier, words.multiplier)
        .Set(Field::kRshift, words.rshift);
    const auto numbers = Numbers(random, DType::kS16, rows * n);
    const Bytes bytes = RunEverywhere(b, {Stored(numbers, DType::kS16)});
    std::vector<int32_t> expected;
    for (int64_t row = 0; row < rows; ++row) {
      const auto one = SoftmaxRow(numbers.data() + row * n, n, words, table.data());
      expected.insert(expected.end(), one.begin(), one.end());
    }
    ExpectNumbers(bytes, DType::kS16, expected);
    for (int64_t row = 0; row < rows; ++row) {
      const int32_t* q = numbers.data() + row * n;
      const int32_t max = *std::max_element(q, q + n);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp((q[i] - max) * static_cast<double>(scale));
      for (int64_t i = 0; i < n; ++i) {
        const double real = std::exp((q[i] - max) * static_cast<double>(scale)) / sum * 32768;
        const auto at = static_cast<size_t>(row * n + i);
        // exp is 6 off at most (tests/quantize/numerics/tflite_int16_test.cc), in the sum as well.
        ASSERT_NEAR(NumberAt(bytes, at, DType::kS16), real, 16.0) << at;
      }
    }
  }
}

TEST(Int16Rounding, WhatTheVerifierRefuses) {
  const auto product = [](Rounding rounding, int8_t weight, const ChannelRequant& record) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {4, 600}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {4, 1}, 0.1f});
    const int32_t weights = b.Const(DType::kBytes, {600}, std::vector<int8_t>(600, weight));
    const int32_t requant = b.Const(DType::kBytes, {12}, std::vector<ChannelRequant>{record});
    b.Add(Opcode::kMatMulS16, dst, src)
        .Set(Field::kWeights, weights)
        .Set(Field::kRequant, requant)
        .Set(Field::kRounding, Code(rounding))
        .Set(Field::kClampLoQ, -32768)
        .Set(Field::kClampHiQ, 32767);
    return LoadError(b);
  };
  const ChannelRequant good{0, 1 << 30, 40};
  EXPECT_EQ(product(Rounding::kTwoStepUp, 100, good), kNoError);
  EXPECT_THAT(product(Rounding::kTwoStepUp, 120, good), HasSubstr("the accumulator may reach"));
  EXPECT_EQ(product(Rounding::kHalfUp, 120, good), kNoError);
  EXPECT_THAT(product(Rounding::kFloatEven, 1, good), HasSubstr("rounding is 2, expected 0, 1, 6"));
  EXPECT_THAT(product(Rounding::kDoubleAway, 1, {0, 0x7ff00000, 0}), HasSubstr("scale is inf"));

  const auto softmax = [](int16_t one, int64_t n) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, {1, n}, 0.1f});
    const int32_t dst = b.Output({DType::kS16, {1, n}, 0x1p-15f});
    std::vector<int16_t> entries(2 * 513, 5);
    entries[511] = one;
    const int32_t table = b.Const(DType::kBytes, {2052}, entries);
    b.Add(Opcode::kSoftmaxS16, dst, src)
        .Set(Field::kTable, table)
        .Set(Field::kMultiplier, 1 << 30)
        .Set(Field::kRshift, 31);
    return LoadError(b);
  };
  EXPECT_EQ(softmax(2, 65535), kNoError);
  EXPECT_THAT(softmax(1, 7), HasSubstr("entry 511 is 1, expected at least 2"));
  EXPECT_THAT(softmax(2, 65536), HasSubstr("expected rows of at most 65535"));

  ProgramBuilder b;
  const TensorSpec spec{DType::kS16, {8}, 0.1f};
  const int32_t src = b.Input(spec), src2 = b.Input(spec), dst = b.Output(spec);
  b.Add(Opcode::kAddShiftedS16, dst, src)
      .Set(Field::kSrc2, src2)
      .Set(Field::kMultiplier, 1 << 30)
      .Set(Field::kRshift, 30)
      .Set(Field::kRshift2, 31)
      .Set(Field::kClampLoQ, -32768)
      .Set(Field::kClampHiQ, 32767);
  EXPECT_THAT(LoadError(b), HasSubstr("rshift of an operand is 30, expected at least 31"));
}

}  // namespace
}  // namespace rshift::testing
