// Softmax of bytes in its six arithmetics against their definitions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/softmax_row.h"
#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

struct Case {
  TensorSpec from, to;
  Bytes data;
  int64_t columns;
  int32_t greatest = 0;  // of the row that ExpectRows() is at
  std::vector<int32_t> words;
  ProgramBuilder builder;

  Case(Random& random, int64_t mode, float scale_y, double largest) {
    const int64_t sizes[] = {random.Int(100, 1001), random.Int(60, 130), random.Int(1, 40)};
    columns = sizes[random.Int(0, 2)];
    const Shape shape = {random.Int(1, 3), random.Int(1, 4), columns};
    from = {random.Byte(), shape, random.Float(0.005f, 0.3f)};
    to = {random.Byte(), shape, scale_y};
    to.zero_point = Lowest(to.dtype);
    data = random.Data(NumElements(shape));
    if (random.Int(0, 2) == 0) {  // near the row's greatest: sums of many
      for (uint8_t& byte : data) byte = static_cast<uint8_t>(60 + byte % 4);
    }
    const float step = from.scale;
    for (int d = 0; d < 256; ++d) {
      const double entry = largest * std::exp(-static_cast<double>(d) * step);
      words.push_back(mode == 0 || mode == 3 || mode == 4
                          ? static_cast<int32_t>(entry)
                          : std::bit_cast<int32_t>(static_cast<float>(entry)));
    }
    const int32_t src = builder.Input(from), dst = builder.Output(to);
    const int32_t table = builder.Const(DType::kBytes, {1024}, words);
    Command& command = builder.Add(Opcode::kSoftmax, dst, src).Set(Field::kTable, table);
    command.Set(Field::kMode, mode);
    command.Set(Field::kClampLoQ, Lowest(to.dtype)).Set(Field::kClampHiQ, Highest(to.dtype));
  }

  float Entry(int32_t d) const { return std::bit_cast<float>(words[static_cast<size_t>(d)]); }

  // expected(differences of a row, index in it)
  template <typename F>
  void ExpectRows(const F& expected) {
    Bytes bytes;
    for (size_t first = 0; first < data.size(); first += static_cast<size_t>(columns)) {
      std::vector<int32_t> x;
      for (int64_t i = 0; i < columns; ++i)
        x.push_back(Value(data[first + static_cast<size_t>(i)], from.dtype));
      greatest = *std::max_element(x.begin(), x.end());
      for (int32_t& v : x) v = greatest - v;
      for (size_t i = 0; i < x.size(); ++i) bytes.push_back(static_cast<uint8_t>(expected(x, i)));
    }
    ASSERT_EQ(RunEverywhere(builder, {data}), bytes);
  }
};

float SumInOrder(const Case& c, const std::vector<int32_t>& differences) {
  float sum = 0;
  for (const int32_t d : differences) sum += c.Entry(d);
  return sum;
}

TEST(SoftmaxStep, FixedPoint) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c(random, 0, 1.0f / 256, 2147483647.0);
    c.ExpectRows([&](const std::vector<int32_t>& row, size_t i) {
      int64_t sum = 0;
      for (const int32_t d : row) sum += (int64_t{c.words[static_cast<size_t>(d)]} + 2048) / 4096;
      // The reciprocal has its own test: numerics_softmax_row_test.
      const numerics::RowReciprocal r = numerics::Reciprocal(static_cast<int32_t>(sum));
      const int64_t entry = c.words[static_cast<size_t>(row[i])];
      const int64_t product = ShiftedProduct(entry, r.scale, 31);
      return Saturate(ShiftedProduct(product, 1, r.rshift) + c.to.zero_point, Lowest(c.to.dtype),
                      Highest(c.to.dtype));
    });
  }
}

TEST(SoftmaxStep, FloatTable) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c(random, 1, seed % 2 == 0 ? 1.0f / 256 : 0.003f, 1.0);
    c.ExpectRows([&](const std::vector<int32_t>& row, size_t i) {
      const float inverse = 1.0f / (SumInOrder(c, row) * c.to.scale);
      const float v = c.Entry(row[i]) * inverse;
      const bool is_signed = c.to.dtype == DType::kS8;
      const float shifted = is_signed ? v : v + 0.5f;
      return ToByte(shifted, is_signed ? RealRounding::kAway : RealRounding::kTruncate,
                    c.to.zero_point, Lowest(c.to.dtype), Highest(c.to.dtype));
    });
  }
}

TEST(SoftmaxStep, FloatQuotient) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c(random, 2, seed % 2 == 0 ? 1.0f / 256 : 0.0041f, 1e30);
    c.ExpectRows([&](const std::vector<int32_t>& row, size_t i) {
      const float scaled = c.Entry(row[i]) * std::floor(1.0f / c.to.scale);
      return ToByte(scaled / SumInOrder(c, row), RealRounding::kEven, c.to.zero_point,
                    Lowest(c.to.dtype), Highest(c.to.dtype));
    });
  }
}

// Entry and sum in long double: a sum of 2^30ths is exact there, the quotient nearly.
TEST(SoftmaxStep, Quotient) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const float scales[] = {1.0f / 255, 1.0f / 256, 0.0041f, 3e-5f, 2.0f};
    Case c(random, 3, scales[seed % 5], 1073741824.0);
    c.ExpectRows([&](const std::vector<int32_t>& row, size_t i) {
      uint64_t sum = 0;
      for (const int32_t d : row) sum += static_cast<uint64_t>(c.words[static_cast<size_t>(d)]);
      const int32_t entry = c.words[static_cast<size_t>(row[i])];
      const auto quotient = numerics::QuotientRow(
          sum, numerics::AccumulatorMultiplier(1.0 / static_cast<double>(c.to.scale)));
      const int32_t y = numerics::SoftmaxQuotient(entry, quotient, c.to.zero_point,
                                                  Lowest(c.to.dtype), Highest(c.to.dtype));
      const long double real = static_cast<long double>(entry) / static_cast<long double>(sum) /
                               static_cast<long double>(c.to.scale);
      const long double held = std::min<long double>(real + c.to.zero_point, Highest(c.to.dtype));
      EXPECT_LE(std::fabs(y - held), 0.5001L) << real;
      return y;
    });
  }
}

TEST(SoftmaxStep, LogFloatTable) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c(random, 5, seed % 2 == 0 ? 0.0625f : 0.3f, 1.0);
    const int32_t zero = static_cast<int32_t>(random.Int(Lowest(c.to.dtype), Highest(c.to.dtype)));
    c.builder[c.builder.image.commands[0].Tensor(Field::kDst)].zero_point = zero;
    c.ExpectRows([&](const std::vector<int32_t>& row, size_t i) {
      const float slope = c.from.scale / c.to.scale;
      const float top =
          c.from.scale * static_cast<float>(c.greatest) + std::log(SumInOrder(c, row));
      const float units = static_cast<float>(c.greatest - row[i]) * slope - top / c.to.scale;
      return ToByte(units, RealRounding::kAway, zero, Lowest(c.to.dtype), Highest(c.to.dtype));
    });
  }
}

// ln(sum / 2^30) in 2^-26 by the table of NUMERICS.md section 26, made by the C library.
int64_t LogByTable(uint64_t sum) {
  const auto entry = [](uint64_t i) {
    return std::llround(std::log(1.0 + static_cast<double>(i) / 256) * 67108864);
  };
  int bits = 0;
  while (sum >> bits != 0) ++bits;
  const uint64_t m = sum << (64 - bits), i = (m >> 55) % 256, f = (m >> 31) % (1 << 24);
  const int64_t rise = (entry(i + 1) - entry(i)) * static_cast<int64_t>(f);
  return (bits - 31) * entry(256) + entry(i) + ((rise + (1 << 23)) >> 24);
}

TEST(SoftmaxStep, LogQuotient) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const float scales[] = {0.08f, 1.0f / 64, 0.5f, 0.0041f, 3e-5f, 30.0f};
    Case c(random, 4, scales[seed % 6], 1073741824.0);
    const int32_t zero = static_cast<int32_t>(random.Int(Lowest(c.to.dtype), Highest(c.to.dtype)));
    c.builder[c.builder.image.commands[0].Tensor(Field::kDst)].zero_point = zero;
    const double ratio = static_cast<double>(c.from.scale) / static_cast<double>(c.to.scale);
    const auto step = static_cast<int64_t>(std::nearbyint(ratio * 4194304));
    const RequantWords words =
        numerics::AccumulatorMultiplier(1.0 / static_cast<double>(c.to.scale) / 16);
    c.ExpectRows([&](const std::vector<int32_t>& row, size_t i) {
      uint64_t sum = 0;
      for (const int32_t d : row) sum += static_cast<uint64_t>(c.words[static_cast<size_t>(d)]);
      const int64_t product = LogByTable(sum) * words.multiplier;
      const int64_t log = words.rshift == 0 ? product : ((product >> (words.rshift - 1)) + 1) >> 1;
      const int64_t fine = zero * int64_t{4194304} + 2097152 - log - row[i] * step;
      return Saturate(fine >> 22, Lowest(c.to.dtype), Highest(c.to.dtype));
    });
  }
}

}  // namespace
}  // namespace rshift::testing
