// Comparisons, Mod and Pow of 16-bit integers, and products of rows, against real numbers and wide
// integers, on every instruction set and number of threads.
#include "quantize/numerics/int16_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/squares.h"
#include "tests/runtime/int16_case.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// Two operands of random types, at least one of them s16; the second may be a constant that
// repeats.
struct Pair {
  explicit Pair(Random& random) {
    const bool first = random.Int(0, 1) == 0;
    a.dtype = first ? DType::kS16 : AnyType(random);
    b.dtype = first ? AnyType(random) : DType::kS16;
    a.shape = b.shape = AnyShape(random);
    const bool constant = random.Int(0, 2) == 0;
    if (constant) b.shape[0] = 1;
    for (TensorSpec* spec : {&a, &b}) {
      spec->zero_point = spec->dtype == DType::kS16 ? 0 : random.Zero(spec->dtype);
      spec->scale = std::ldexp(static_cast<float>(random.Int(1 << 23, (1 << 24) - 1)),
                               static_cast<int>(random.Int(-42, -22)));
    }
    numbers_a = Numbers(random, a.dtype, NumElements(a.shape));
    numbers_b = Numbers(random, b.dtype, NumElements(b.shape));
    if (random.Int(0, 2) == 0) Align(random);
    src = builder.Input(a);
    inputs = {Stored(numbers_a, a.dtype)};
    if (constant) {
      src2 = builder.QuantizedConst(b, Stored(numbers_b, b.dtype));
    } else {
      src2 = builder.Input(b);
      inputs.push_back(Stored(numbers_b, b.dtype));
    }
  }
  // Many equal numbers: one scale and few integers.
  void Align(Random& random) {
    b.scale = a.scale;
    for (auto* of : {&numbers_a, &numbers_b}) {
      const TensorSpec& spec = of == &numbers_a ? a : b;
      const auto [lo, hi] = LimitsOf(spec.dtype);
      for (int32_t& q : *of)
        q = std::clamp(spec.zero_point + static_cast<int32_t>(random.Int(-2, 2)), lo, hi);
    }
  }
  int32_t V(size_t i) const { return numbers_a[i] - a.zero_point; }
  int32_t W(size_t i) const { return numbers_b[i % numbers_b.size()] - b.zero_point; }

  ProgramBuilder builder;
  TensorSpec a, b;
  int32_t src = 0, src2 = 0;
  std::vector<int32_t> numbers_a, numbers_b;
  std::vector<Bytes> inputs;
};

bool IsTrue(BinaryOp op, double a, double b) {
  return op == BinaryOp::kEqual         ? a == b
         : op == BinaryOp::kLess        ? a < b
         : op == BinaryOp::kLessOrEqual ? a <= b
         : op == BinaryOp::kGreater     ? a > b
                                        : a >= b;
}

// S q of 24 and 17 bits is exact in binary64: the command compares the real numbers.
TEST(Int16Pairs, ComparisonsAreThoseOfTheRealNumbers) {
  int64_t elements = 0;
  for (uint32_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair pair(random);
    const auto op = static_cast<BinaryOp>(random.Int(static_cast<int>(BinaryOp::kEqual),
                                                     static_cast<int>(BinaryOp::kGreaterOrEqual)));
    const int32_t dst = pair.builder.Output({DType::kBool, pair.a.shape});
    const numerics::UnitFactors units =
        numerics::UnitFactorsOf(pair.a.scale, pair.b.scale, numerics::kMostCompareShift);
    pair.builder.Add(Opcode::kCompareS16, dst, pair.src)
        .Set(Field::kSrc2, pair.src2)
        .Set(Field::kMode, static_cast<int64_t>(op))
        .Set(Field::kMultiplier, units.a)
        .Set(Field::kMultiplier2, units.b);
    const Bytes found = RunEverywhere(pair.builder, pair.inputs);
    for (size_t i = 0; i < pair.numbers_a.size(); ++i) {
      const double x = static_cast<double>(pair.a.scale) * pair.V(i);
      const double y = static_cast<double>(pair.b.scale) * pair.W(i);
      ASSERT_EQ(found[i], IsTrue(op, x, y) ? 1 : 0) << x << " and " << y;
      ++elements;
    }
  }
  std::cout << elements << " comparisons\n";
}

TEST(Int16Pairs, RemaindersAreExactBeforeTheirRounding) {
  int64_t elements = 0;
  for (uint32_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair pair(random);
    const TensorSpec y = Spec(random, AnyType(random), pair.a.shape);
    const float scale_y = pair.b.scale * static_cast<float>(random.Int(1, 300)) / 100.0f;
    const int32_t dst = pair.builder.Output({y.dtype, y.shape, scale_y, y.zero_point});
    const numerics::UnitFactors units =
        numerics::UnitFactorsOf(pair.a.scale, pair.b.scale, numerics::kMostModShift);
    const RequantWords words = numerics::ModWords(units.exponent, scale_y);
    Command& c = pair.builder.Add(Opcode::kModS16, dst, pair.src);
    c.Set(Field::kSrc2, pair.src2)
        .Set(Field::kMultiplier, units.a)
        .Set(Field::kMultiplier2, units.b)
        .Set(Field::kMultiplier3, words.multiplier)
        .Set(Field::kRshift3, words.rshift);
    const Limits limits = SetClamp(random, y.dtype, c);
    const Bytes found = RunEverywhere(pair.builder, pair.inputs);
    for (size_t i = 0; i < pair.numbers_a.size(); ++i) {
      const Wide v = Wide{pair.V(i)} * units.a, w = Wide{pair.W(i)} * units.b;
      const int32_t expected =
          w == 0 ? Held(0, 0, y.zero_point, limits)
                 : Held(v % w * words.multiplier, words.rshift, y.zero_point, limits);
      ASSERT_EQ(NumberAt(found, i, y.dtype), expected) << "element " << i;
      // And so the rounded remainder of the numbers, which binary64 has exactly.
      const double real = std::fmod(static_cast<double>(pair.a.scale) * pair.V(i),
                                    static_cast<double>(pair.b.scale) * pair.W(i));
      const double of_y = std::isnan(real) ? 0 : real / static_cast<double>(scale_y);
      const double held = std::clamp<double>(of_y + y.zero_point, limits.lo, limits.hi);
      ASSERT_LE(std::fabs(NumberAt(found, i, y.dtype) - held), 0.501) << "element " << i;
      ++elements;
    }
  }
  std::cout << elements << " remainders\n";
}

// ReduceProd, of bytes and of 16 bits: factor by factor, held to 32 bits.
TEST(Int16Pairs, ProductsOfRows) {
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t outer = random.Int(1, 3), rows = random.Int(1, 7), inner = random.Int(1, 600);
    const DType type = AnyType(random);
    const TensorSpec x = Spec(random, type, {outer, rows, 1, inner});
    const TensorSpec y = Spec(random, type, {outer, 1, 1, inner});
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const auto multiplier = static_cast<int32_t>(random.Int(1 << 14, (1 << 15) - 1));
    const auto rshift = static_cast<int>(random.Int(15, 30));
    Command& c = b.Add(Opcode::kProduct, dst, src);
    c.Set(Field::kMultiplier, multiplier).Set(Field::kRshift, rshift);
    const Limits limits = SetClamp(random, type, c);
    const auto numbers = Numbers(random, type, NumElements(x.shape));
    const Limits words{INT32_MIN, INT32_MAX};
    std::vector<int32_t> expected;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const auto v = [&](int64_t row) {
          return numbers[static_cast<size_t>((o * rows + row) * inner + i)] - x.zero_point;
        };
        Wide p = v(0);
        for (int64_t row = 1; row < rows; ++row)
          p = Held(p * v(row) * multiplier, rshift, 0, words);
        expected.push_back(Held(Held(p * multiplier, rshift, 0, words), 0, y.zero_point, limits));
      }
    }
    ExpectNumbers(RunEverywhere(b, {Stored(numbers, type)}), type, expected);
  }
}

// ReduceSumSquare and ReduceL2, against the real numbers in binary64: rounded once.
TEST(Int16Pairs, SquaresOfRowsAreRoundedOnce) {
  int64_t elements = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool root = random.Int(0, 1) == 0;
    const int64_t outer = random.Int(1, 3), rows = random.Int(1, 300);
    const int64_t inner = random.Int(0, 2) == 0 ? 1 : random.Int(1, 600);
    TensorSpec x = Spec(random, AnyType(random), {outer, rows, 1, inner});
    if (x.dtype == DType::kS16) x.zero_point = 0;
    const TensorSpec y = Spec(random, AnyType(random), {outer, 1, 1, inner});
    const auto [lo, hi] = LimitsOf(y.dtype);
    const auto numbers = Numbers(random, x.dtype, NumElements(x.shape));
    std::vector<double> sums(static_cast<size_t>(outer * inner));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto v = static_cast<double>(numbers[i] - x.zero_point);
      const auto at = static_cast<int64_t>(i);
      sums[static_cast<size_t>(at / (rows * inner) * inner + at % inner)] += v * v;
    }
    const double largest = *std::max_element(sums.begin(), sums.end());
    const double filled = static_cast<double>(random.Int(1, 300)) / 100.0;
    const double ratio =
        largest == 0 ? 1 : filled * (hi - lo) / (root ? std::sqrt(largest) : largest);
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    const RequantWords words = numerics::SquaresWords(ratio);
    Command& c = b.Add(Opcode::kReduceSquares, dst, src);
    c.Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    c.Set(Field::kFlags, root ? 1 : 0);
    const Limits limits = SetClamp(random, y.dtype, c);
    const Bytes found = RunEverywhere(b, {Stored(numbers, x.dtype)});
    for (size_t i = 0; i < sums.size(); ++i) {
      const double of_y = (root ? std::sqrt(sums[i]) : sums[i]) * ratio;
      const double held = std::clamp<double>(of_y + y.zero_point, limits.lo, limits.hi);
      ASSERT_LE(std::fabs(NumberAt(found, i, y.dtype) - held), 0.51) << "element " << i;
      ++elements;
    }
  }
  std::cout << elements << " sums of squares\n";
}

// The ends of the words' range: what saturates or vanishes either way.
TEST(Int16Pairs, SquaresOfExtremeRatios) {
  const RequantWords most = numerics::SquaresWords(0x1p30), least = numerics::SquaresWords(0x1p-50);
  EXPECT_GE(numerics::ScaleSquares(1, most), 65535);
  EXPECT_GE(numerics::ScaleRoot(1, most), 65535);
  EXPECT_EQ(numerics::ScaleSquares(int64_t{1} << 50, least), 0);
  EXPECT_EQ(numerics::ScaleRoot(int64_t{1} << 50, least), 0);
  for (int64_t q = 0; q <= 32768; ++q) {  // the roots of squares are exact
    const RequantWords one = numerics::SquaresWords(1);
    ASSERT_EQ(numerics::ScaleRoot(q * q, one), q);
    ASSERT_EQ(numerics::ScaleSquares(q * q, one), q * q);
  }
}

// Against binary64: exponents up to 16, results that a wrong rounding of the exponent's last bit
// moves by one quantum at most.
TEST(Int16Pairs, PowersAreWithinAQuantum) {
  int64_t elements = 0;
  double worst = 0;
  for (uint32_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair pair(random);
    const auto a_most = static_cast<float>(random.Int(1, 400)) / 100.0f;
    const auto b_most = static_cast<float>(random.Int(1, 8));
    pair.builder[pair.src].scale = pair.a.scale =
        a_most / (pair.a.dtype == DType::kS16 ? 32768.0f : 255.0f);
    // A power of two: integers among the exponents.
    pair.builder[pair.src2].scale = pair.b.scale =
        b_most / (pair.b.dtype == DType::kS16 ? 32768.0f : 128.0f);
    const TensorSpec y = Spec(random, AnyType(random), pair.a.shape);
    const auto largest = static_cast<float>(random.Int(1, 1000)) / 10.0f;
    const float scale_y = largest / (y.dtype == DType::kS16 ? 32768.0f : 128.0f);
    const int32_t dst = pair.builder.Output({y.dtype, y.shape, scale_y, y.zero_point});
    const numerics::PowWords words = numerics::PowWordsOf(pair.a.scale, pair.b.scale, scale_y);
    const std::vector<int32_t> table = numerics::PowTable();
    Command& c = pair.builder.Add(Opcode::kPowS16, dst, pair.src);
    c.Set(Field::kSrc2, pair.src2)
        .Set(Field::kTable,
             pair.builder.Const(DType::kBytes, {4 * static_cast<int64_t>(table.size())}, table))
        .Set(Field::kMultiplier, words.multiplier)
        .Set(Field::kRshift, words.rshift)
        .Set(Field::kOffset, words.log_a)
        .Set(Field::kCount, words.log_y);
    const Limits limits = SetClamp(random, y.dtype, c);
    const Bytes found = RunEverywhere(pair.builder, pair.inputs);
    for (size_t i = 0; i < pair.numbers_a.size(); ++i) {
      const double base = static_cast<double>(pair.a.scale) * pair.V(i);
      const double exponent = static_cast<double>(pair.b.scale) * pair.W(i);
      const double real = std::pow(base, exponent);
      const double of_y = std::isnan(real) ? 0 : real / static_cast<double>(scale_y);
      const double held = std::clamp<double>(of_y + y.zero_point, limits.lo, limits.hi);
      const double error = std::fabs(NumberAt(found, i, y.dtype) - held);
      ASSERT_LE(error, 1.0) << base << " to the power " << exponent << ", element " << i;
      worst = std::max(worst, error);
      ++elements;
    }
  }
  std::cout << elements << " powers, the worst " << worst << " quanta from the real number\n";
}

TEST(Int16Pairs, ComparisonsThatAreNoneAreRefused) {
  const auto error_of = [](DType to, BinaryOp op) {
    ProgramBuilder b;
    const TensorSpec x{DType::kS16, {2, 3}, 0.1f};
    const int32_t src = b.Input(x), src2 = b.Input(x);
    const int32_t dst = to == DType::kBool ? b.Output({to, {2, 3}}) : b.Output({to, {2, 3}, 0.1f});
    b.Add(Opcode::kCompareS16, dst, src)
        .Set(Field::kSrc2, src2)
        .Set(Field::kMultiplier, 1)
        .Set(Field::kMultiplier2, 1)
        .Set(Field::kMode, static_cast<int64_t>(op));
    return LoadError(b);
  };
  EXPECT_EQ(error_of(DType::kBool, BinaryOp::kLess), kNoError);
  EXPECT_THAT(error_of(DType::kS16, BinaryOp::kLess), HasSubstr("bool"));
  EXPECT_THAT(error_of(DType::kBool, BinaryOp::kAdd), HasSubstr("expected a comparison"));
}

TEST(Int16Pairs, ATableOfPowThatIsNotOneIsRefused) {
  for (const size_t at : {size_t{7}, size_t{1100}}) {
    ProgramBuilder b;
    const TensorSpec x{DType::kS16, {2, 3}, 0.1f};
    const int32_t src = b.Input(x), src2 = b.Input(x), dst = b.Output(x);
    std::vector<int32_t> table = numerics::PowTable();
    table[at] = -1;
    const int32_t entries = b.Const(DType::kBytes, {4 * static_cast<int64_t>(table.size())}, table);
    b.Add(Opcode::kPowS16, dst, src).Set(Field::kSrc2, src2).Set(Field::kTable, entries);
    EXPECT_THAT(LoadError(b), HasSubstr(Cat("entry ", at, " is -1")));
  }
}

TEST(Int16Pairs, ProductsOfOtherShapesAndTypesAreRefused) {
  const auto error_of = [](const Shape& from, const Shape& to, DType type) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS16, from, 0.1f}), dst = b.Output({type, to, 0.1f});
    b.Add(Opcode::kProduct, dst, src).Set(Field::kMultiplier, 1);
    return LoadError(b);
  };
  EXPECT_EQ(error_of({2, 3, 1, 4}, {2, 1, 1, 4}, DType::kS16), kNoError);
  EXPECT_THAT(error_of({2, 3, 2, 4}, {2, 1, 1, 4}, DType::kS16), HasSubstr("[outer, n, 1, inner]"));
  EXPECT_THAT(error_of({2, 3, 1, 4}, {2, 1, 1, 5}, DType::kS16), HasSubstr("dst"));
  EXPECT_THAT(error_of({2, 3, 1, 4}, {2, 1, 1, 4}, DType::kS8), HasSubstr("dst"));
}

TEST(Int16Pairs, SquaresOfOtherShapesAndTypesAreRefused) {
  const auto error_of = [](const Shape& from, const Shape& to, DType type) {
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kS8, from, 0.1f}), dst = b.Output({type, to, 0.1f});
    b.Add(Opcode::kReduceSquares, dst, src).Set(Field::kMultiplier, 1);
    return LoadError(b);
  };
  EXPECT_EQ(error_of({2, 3, 1, 4}, {2, 1, 1, 4}, DType::kS16), kNoError);
  EXPECT_THAT(error_of({2, 3, 2, 4}, {2, 1, 1, 4}, DType::kU8), HasSubstr("[outer, n, 1, inner]"));
  EXPECT_THAT(error_of({2, 3, 1, 4}, {2, 3, 1, 4}, DType::kU8), HasSubstr("dst"));
  EXPECT_THAT(error_of({2, 3, 1, 4}, {2, 1, 1, 4}, DType::kF32), HasSubstr("dst"));
  EXPECT_THAT(error_of({1, (1 << 20) + 1, 1, 1}, {1, 1, 1, 1}, DType::kS8),
              HasSubstr("1048577 rows, expected at most 1048576"));
}

}  // namespace
}  // namespace rshift::testing
