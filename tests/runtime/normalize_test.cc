// Normalizations against their definition in long double, and every instruction set against the
// scalar reference.
#include "quantize/numerics/normalize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "quantize/numerics/normalize_terms.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

struct Case {
  Shape shape;
  int64_t axis = 0;
  bool center = true, channels = false;
};

// Element i belongs to row RowOf(i) and has number NumberOf(i).
struct Grouping {
  int64_t size, inner;
  int64_t RowOf(int64_t i) const { return i / (size * inner) * inner + i % inner; }
};

void Check(const Case& c, uint32_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  TensorSpec x{random.Byte(), c.shape, 0.05f}, y{random.Byte(), c.shape, 0.03f};
  x.zero_point = random.Zero(x.dtype);
  y.zero_point = random.Zero(y.dtype);
  const Grouping g{NumElements(Shape(c.shape.begin() + c.axis, c.shape.end())) /
                       (c.channels ? c.shape.back() : 1),
                   c.channels ? c.shape.back() : 1};
  const int64_t numbers = c.channels ? g.inner : g.size;
  const double epsilon = random.Int(0, 1) == 0 ? 1e-5 : 0.3, unit = 0.05f;
  const numerics::VarianceTerms terms =
      numerics::MakeVarianceTerms(g.size, 255, epsilon / (unit * unit));
  std::vector<double> scales, biases;
  double largest = 0;
  for (int64_t i = 0; i < numbers; ++i) {
    scales.push_back(random.Float(-3, 3) / 0.03);
    biases.push_back(random.Float(-1, 1) / 0.03 + y.zero_point);
    largest = std::max(largest, std::fabs(scales.back()));
  }
  const int32_t rshift = numerics::FactorShift(largest);
  std::vector<int32_t> factors;
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < scales.size(); ++i) {
    factors.push_back(numerics::NormalizeFactor(scales[i], rshift));
    offsets.push_back(numerics::NormalizeOffset(biases[i], rshift));
  }
  ProgramBuilder builder;
  const int32_t src = builder.Input(x), dst = builder.Output(y);
  const int32_t f = builder.Const(DType::kS32, {numbers}, factors);
  const int32_t o = builder.Const(DType::kS64, {numbers}, offsets);
  builder.Add(Opcode::kNormalize, dst, src)
      .Set(Field::kSrc2, f)
      .Set(Field::kList, o)
      .Set(Field::kAxis, c.axis)
      .Set(Field::kFlags, (c.center ? 1 : 0) + (c.channels ? 2 : 0))
      .Set(Field::kOffset, terms.epsilon)
      .Set(Field::kRshift, terms.shift)
      .Set(Field::kRshift2, rshift)
      .Set(Field::kClampLoQ, Lowest(y.dtype))
      .Set(Field::kClampHiQ, Highest(y.dtype));
  Bytes data = random.Data(NumElements(c.shape));
  if (random.Int(0, 2) == 0) {  // nearly constant rows, where epsilon counts
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(90 + (byte > 250 ? 1 : 0));
  }
  const Bytes bytes = RunEverywhere(builder, {data});

  const auto rows = static_cast<size_t>(NumElements(c.shape) / g.size);
  std::vector<int64_t> sums(rows), squares(rows);
  const auto value = [&](size_t i) { return int64_t{Value(data[i], x.dtype)} - x.zero_point; };
  for (size_t i = 0; i < data.size(); ++i) {
    const auto row = static_cast<size_t>(g.RowOf(static_cast<int64_t>(i)));
    sums[row] += value(i);
    squares[row] += value(i) * value(i);
  }
  for (size_t i = 0; i < data.size(); ++i) {
    const auto row = static_cast<size_t>(g.RowOf(static_cast<int64_t>(i)));
    const auto number = i % static_cast<size_t>(numbers);
    const int64_t n = g.size, sum = c.center ? sums[row] : 0;
    const auto by = numerics::Invert(n * squares[row] - sum * sum, terms.epsilon, terms.shift);
    const int32_t normal = numerics::Normalized(static_cast<int32_t>(n * value(i) - sum), by);
    const int32_t reference = numerics::ScaleNormalized(normal, factors[number], offsets[number],
                                                        rshift, Lowest(y.dtype), Highest(y.dtype));
    ASSERT_EQ(Value(bytes[i], y.dtype), reference) << i;
    // The real thing.
    const auto count = static_cast<long double>(n);
    const long double mean = static_cast<long double>(sum) / count;
    const long double variance = static_cast<long double>(squares[row]) / count - mean * mean +
                                 static_cast<long double>(epsilon / (unit * unit));
    const long double real = (static_cast<long double>(value(i)) - mean) / std::sqrt(variance) *
                                 static_cast<long double>(scales[number]) +
                             static_cast<long double>(biases[number]);
    const long double clamped =
        std::min<long double>(std::max<long double>(real, Lowest(y.dtype)), Highest(y.dtype));
    ASSERT_LE(std::fabs(static_cast<long double>(reference) - clamped), 0.501L) << i;
  }
}

TEST(NormalizeStep, Rows) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    Random random(seed + 500);
    const bool center = random.Int(0, 3) != 0;
    Check({{random.Int(1, 9), random.Int(1, 150)}, 1, center}, seed);
    Check({{2, random.Int(1, 4), random.Int(1, 9), random.Int(1, 9)}, random.Int(0, 3), center},
          seed);
  }
  Check({{3, 70000}, 1}, 1);  // sums beyond 32 bits
}

TEST(NormalizeStep, ChannelsOfImages) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    Random random(seed + 900);
    const bool center = random.Int(0, 3) != 0;
    Check({{random.Int(1, 3), random.Int(1, 9), random.Int(1, 9), random.Int(1, 150)},
           1,
           center,
           true},
          seed);
  }
  Check({{1, 260, 256, 2}, 1, true, true}, 1);
}

TEST(NormalizeStep, NumbersThatMayOverflowAreRefused) {
  const auto error = [](Field field, int64_t value) {
    ProgramBuilder builder;
    const int32_t src = builder.Input({DType::kU8, {2, 100}});
    const int32_t dst = builder.Output({DType::kU8, {2, 100}});
    const int32_t f = builder.Const(DType::kS32, {100}, std::vector<int32_t>(100, 5));
    const int32_t o = builder.Const(DType::kS64, {100}, std::vector<int64_t>(100, 5));
    builder.Add(Opcode::kNormalize, dst, src)
        .Set(Field::kSrc2, f)
        .Set(Field::kList, o)
        .Set(Field::kAxis, 1)
        .Set(Field::kFlags, 1)
        .Set(Field::kRshift2, 30)
        .Set(Field::kClampHiQ, 255)
        .Set(field, value);
    return LoadError(builder);
  };
  EXPECT_EQ(error(Field::kRshift, 30), kNoError);
  EXPECT_NE(error(Field::kRshift, 31).find("even"), std::string::npos);
  EXPECT_NE(error(Field::kRshift, 44).find("variance may reach"), std::string::npos);
  EXPECT_NE(error(Field::kOffset, int64_t{1} << 61).find("variance may reach"), std::string::npos);
  EXPECT_NE(error(Field::kAxis, 2).find("axis"), std::string::npos);
}

}  // namespace
}  // namespace rshift::testing
