// Products of two activations of any types, zero points and batches against the definition.
#include <gtest/gtest.h>

#include <cmath>

#include "quantize/numerics/requantize.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

struct Case {
  Shape a, b, dst;
};

int64_t OffsetOf(const Shape& shape, const Shape& batches, int64_t batch) {
  int64_t offset = 0, stride = shape[shape.size() - 2] * shape.back();
  for (size_t d = shape.size() - 2, to = batches.size(); to-- > 0;) {
    const int64_t index = batch % batches[to];
    batch /= batches[to];
    if (d == 0) continue;
    --d;
    offset += shape[d] == 1 ? 0 : index * stride;
    stride *= shape[d];
  }
  return offset;
}

void Check(const Case& c, uint32_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const auto spec = [&](const Shape& shape) {
    TensorSpec s{random.Byte(), shape, 1.0f};
    s.zero_point = random.Int(0, 2) == 0 ? 0 : random.Zero(s.dtype);
    return s;
  };
  const TensorSpec a = spec(c.a), b = spec(c.b), y = spec(c.dst);
  ProgramBuilder builder;
  const int32_t src = builder.Input(a), src2 = builder.Input(b), dst = builder.Output(y);
  constexpr Rounding kRoundings[] = {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kFloatEven};
  const Rounding rounding = kRoundings[seed % 3];
  const int64_t multiplier = random.Int(0, 9) == 0 ? 0 : random.Int(1 << 30, INT32_MAX);
  // Words of 25 bits have a form of their own; shifts from none to all bits.
  int64_t words = random.Int(0, 1) == 0 ? multiplier : multiplier / 128 * 128;
  const int64_t k = c.a.back();
  int rshift = static_cast<int>(random.Int(0, 5) == 0 ? random.Int(0, 62)
                                                      : random.Int(36, k > 50 ? 46 : 41));
  if (rounding == Rounding::kFloatEven) {  // half of the scales: powers of two, sums on ties
    const auto exact = static_cast<double>(random.Int(0, 1) == 0 ? int64_t{1} << 30 : words);
    words = numerics::FloatToWord(static_cast<float>(std::ldexp(exact, -rshift)));
    rshift = 0;
  }
  int32_t lo = Lowest(y.dtype), hi = Highest(y.dtype);
  if (random.Int(0, 2) == 0) lo += 30, hi -= 40;
  builder.Add(Opcode::kBatchedMatMul, dst, src)
      .Set(Field::kSrc2, src2)
      .Set(Field::kMultiplier, words)
      .Set(Field::kRshift, rshift)
      .Set(Field::kRounding, static_cast<int64_t>(rounding))
      .Set(Field::kClampLoQ, lo)
      .Set(Field::kClampHiQ, hi);
  Bytes da = random.Data(NumElements(c.a)), db = random.Data(NumElements(c.b));
  if (random.Int(0, 3) == 0) {  // the largest sums
    std::fill(da.begin(), da.end(), a.dtype == DType::kS8 ? 0x80 : 0xff);
    std::fill(db.begin(), db.end(), b.dtype == DType::kS8 ? 0x80 : 0xff);
  }
  const Shape batches(c.dst.begin(), c.dst.end() - 2);
  const int64_t m = c.dst[c.dst.size() - 2], n = c.dst.back();
  Bytes expected;
  for (int64_t batch = 0; batch < NumElements(batches); ++batch) {
    const int64_t at_a = OffsetOf(c.a, batches, batch), at_b = OffsetOf(c.b, batches, batch);
    for (int64_t i = 0; i < m * n; ++i) {
      int64_t sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        const int32_t x = Value(da[static_cast<size_t>(at_a + i / n * k + j)], a.dtype);
        const int32_t w = Value(db[static_cast<size_t>(at_b + j * n + i % n)], b.dtype);
        sum += int64_t{x - a.zero_point} * (w - b.zero_point);
      }
      expected.push_back(static_cast<uint8_t>(
          rounding == Rounding::kHalfUp
              ? Saturate(ShiftedProduct(sum, words, rshift) + y.zero_point, lo, hi)
              : numerics::RequantizeBy(rounding, static_cast<int32_t>(sum),
                                       static_cast<int32_t>(words), rshift, y.zero_point, lo, hi)));
    }
  }
  ASSERT_EQ(RunEverywhere(builder, {da, db}), expected);
}

TEST(BatchedMatMulStep, OddSizesTypesAndZeroPoints) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    Random random(seed + 1000);
    const int64_t m = random.Int(1, 20), k = random.Int(1, 40), n = random.Int(1, 90);
    const int64_t batch = random.Int(1, 4);
    Check({{batch, m, k}, {batch, k, n}, {batch, m, n}}, seed);
  }
}

TEST(BatchedMatMulStep, BatchesBroadcast) {
  const Case cases[] = {{{3, 5}, {5, 7}, {3, 7}},
                        {{4, 3, 5}, {5, 7}, {4, 3, 7}},
                        {{3, 5}, {4, 5, 7}, {4, 3, 7}},
                        {{2, 1, 3, 5}, {4, 5, 7}, {2, 4, 3, 7}},
                        {{2, 4, 3, 5}, {2, 1, 5, 7}, {2, 4, 3, 7}},
                        {{1, 3, 5}, {4, 5, 7}, {4, 3, 7}},
                        {{1, 4, 3, 5}, {3, 1, 5, 7}, {3, 4, 3, 7}}};
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    for (const Case& c : cases) Check(c, seed);
  }
}

TEST(BatchedMatMulStep, ShapesOfAttention) {
  Check({{3, 197, 64}, {3, 64, 197}, {3, 197, 197}}, 1);
  Check({{3, 197, 197}, {3, 197, 64}, {3, 197, 64}}, 2);
  Check({{1, 1, 64}, {1, 64, 300}, {1, 1, 300}}, 3);  // one row: threads divide the columns
  Check({{5, 130}, {130, 200}, {5, 200}}, 4);
}

TEST(BatchedMatMulStep, IsRefusedWhereAnAccumulatorMayLeaveInt32) {
  for (const int64_t k : {33025, 33026}) {
    ProgramBuilder builder;
    const int32_t a = builder.Input({DType::kU8, {1, k}}), b = builder.Input({DType::kU8, {k, 1}});
    const int32_t y = builder.Output({DType::kU8, {1, 1}});
    builder.Add(Opcode::kBatchedMatMul, y, a)
        .Set(Field::kSrc2, b)
        .Set(Field::kMultiplier, 1 << 30)
        .Set(Field::kRshift, 40)
        .Set(Field::kClampHiQ, 255);
    const std::string error = LoadError(builder);
    EXPECT_EQ(error.find("products may reach") != std::string::npos, k == 33026) << error;
  }
}

}  // namespace
}  // namespace rshift::testing
