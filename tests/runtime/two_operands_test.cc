// Extremum, Div and BinaryTable against their definitions, on every instruction set.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

int32_t Saturated(double v, int32_t lo, int32_t hi) {
  return static_cast<int32_t>(std::min<double>(std::max<double>(v, lo), hi));
}

struct Case {
  TensorSpec a, b, y;
  Bytes data_a, data_b;
  int32_t lo = 0, hi = 0;
  int32_t src = 0, src2 = 0, dst = 0;
  bool constant = false;  // b: one row that is repeated
  ProgramBuilder builder;

  Case(Random& random, DType type_y, bool one_type) {
    const Shape shape = {random.Int(1, 3), random.Int(1, 5), random.Int(1, 90)};
    constant = random.Int(0, 2) == 0;
    y = {type_y, shape, 1.0f, type_y == DType::kBool ? 0 : random.Zero(type_y)};
    a = one_type ? y : TensorSpec{random.Byte(), shape};
    b = one_type ? y : TensorSpec{random.Byte(), shape};
    if (!one_type) a.zero_point = random.Zero(a.dtype), b.zero_point = random.Zero(b.dtype);
    if (constant) b.shape = {shape.back()};
    data_a = random.Data(NumElements(a.shape));
    data_b = random.Data(NumElements(b.shape));
    src = builder.Input(a);
    src2 = constant ? builder.QuantizedConst(b, data_b) : builder.Input(b);
    dst = builder.Output(y);
    if (type_y == DType::kBool) return;
    lo = static_cast<int32_t>(random.Int(Lowest(type_y), y.zero_point));
    hi = static_cast<int32_t>(random.Int(y.zero_point, Highest(type_y)));
  }

  Command& Add(Opcode opcode) { return builder.Add(opcode, dst, src).Set(Field::kSrc2, src2); }
  Command& AddClamped(Opcode opcode) {
    return Add(opcode).Set(Field::kClampLoQ, lo).Set(Field::kClampHiQ, hi);
  }

  // expected(byte of a, byte of b)
  template <typename F>
  void Expect(const F& expected) {
    Bytes bytes;
    for (size_t i = 0; i < data_a.size(); ++i) {
      bytes.push_back(static_cast<uint8_t>(expected(data_a[i], data_b[i % data_b.size()])));
    }
    const std::vector<Bytes> both = {data_a, data_b}, one = {data_a};
    ASSERT_EQ(RunEverywhere(builder, constant ? one : both), bytes);
  }
};

TEST(ExtremumStep, IsTheGreaterOrTheLesserInteger) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c(random, random.Byte(), true);
    const bool min = seed % 2 == 0;
    c.AddClamped(Opcode::kExtremum).Set(Field::kFlags, min);
    c.Expect([&](uint8_t a, uint8_t b) {
      const int32_t x = Value(a, c.y.dtype), z = Value(b, c.y.dtype);
      return Saturated(min ? std::min(x, z) : std::max(x, z), c.lo, c.hi);
    });
  }
}

TEST(DivStep, MultipliesByTheReciprocalOfTheByte) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c(random, random.Byte(), false);
    std::vector<int32_t> reciprocals(256);
    const int64_t most = seed % 3 == 0 ? INT32_MAX : int64_t{1} << 23;
    for (int32_t& r : reciprocals) r = static_cast<int32_t>(random.Int(-most, most));
    const int32_t table = c.builder.Const(DType::kBytes, {1024}, reciprocals);
    c.AddClamped(Opcode::kDiv).Set(Field::kTable, table);
    c.Expect([&](uint8_t a, uint8_t b) {
      const double product = double{1} * (Value(a, c.a.dtype) - c.a.zero_point) * reciprocals[b];
      return Saturated(std::floor(product / 4194304.0 + 0.5) + c.y.zero_point, c.lo, c.hi);
    });
  }
}

TEST(BinaryTableStep, TakesTheEntryOfBothBytes) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool is_bool = seed % 2 == 0;
    Case c(random, is_bool ? DType::kBool : random.Byte(), false);
    Bytes entries = random.Data(65536);
    for (uint8_t& entry : entries) entry = is_bool ? entry & 1 : entry;
    const int32_t table = c.builder.Const(DType::kBytes, {65536}, entries);
    c.Add(Opcode::kBinaryTable).Set(Field::kTable, table);
    c.Expect([&](uint8_t a, uint8_t b) { return entries[256 * size_t{a} + b]; });
  }
}

TEST(BinaryTableStep, ATruthOfTwoIsRefused) {
  Random random(2);
  Case c(random, DType::kBool, false);
  Bytes entries(65536);
  entries[77] = 2;
  const int32_t table = c.builder.Const(DType::kBytes, {65536}, entries);
  c.Add(Opcode::kBinaryTable).Set(Field::kTable, table);
  EXPECT_NE(LoadError(c.builder).find("an entry is 2, expected 0 or 1"), std::string::npos)
      << LoadError(c.builder);
}

}  // namespace
}  // namespace rshift::testing
