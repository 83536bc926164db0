// Quantize, Dequantize, Requantize, additions and activations against their formulas written out.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

Shape RandomShape(Random& random) {
  Shape shape;
  for (int64_t rank = random.Int(1, 4); rank > 0; --rank) shape.push_back(random.Int(1, 12));
  return shape;
}

TensorSpec RandomSpec(Random& random, const Shape& shape) {
  TensorSpec spec{random.Byte(), shape, random.Float(0.001f, 0.2f), 0};
  spec.zero_point = random.Zero(spec.dtype);
  return spec;
}

struct ClampQ {
  int32_t lo, hi;
};

ClampQ SetClamp(Random& random, Command* command, const TensorSpec& dst) {
  const ClampQ clamp{static_cast<int32_t>(random.Int(Lowest(dst.dtype), dst.zero_point)),
                     static_cast<int32_t>(random.Int(dst.zero_point, Highest(dst.dtype)))};
  command->Set(Field::kClampLoQ, clamp.lo).Set(Field::kClampHiQ, clamp.hi);
  return clamp;
}

// To nearest even by the C library, which the runtime does not use.
int32_t Quantized(float value, float scale, int32_t zero, int32_t lo, int32_t hi) {
  if (std::isnan(value)) return Saturate(zero, lo, hi);
  const double rounded = std::nearbyint(static_cast<double>(value / scale)) + zero;
  return static_cast<int32_t>(std::min<double>(std::max<double>(rounded, lo), hi));
}

TEST(QuantizeStep, RoundsToNearestEvenAndSaturates) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec spec = RandomSpec(random, shape);
    std::vector<float> values;
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      const auto kind = random.Int(0, 20);
      values.push_back(kind == 0   ? std::numeric_limits<float>::infinity()
                       : kind == 1 ? -std::numeric_limits<float>::infinity()
                       : kind == 2 ? std::numeric_limits<float>::quiet_NaN()
                       : kind == 3 ? 1e30f
                       : kind < 8  ? (static_cast<float>(random.Int(-300, 300)) + 0.5f) * spec.scale
                                   : random.Float(-40.0f, 40.0f));
    }
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kF32, shape});
    const int32_t dst = b.Output(spec);
    b.Add(Opcode::kQuantize, dst, src);
    Bytes expected;
    for (const float value : values) {
      expected.push_back(static_cast<uint8_t>(
          Quantized(value, spec.scale, spec.zero_point, Lowest(spec.dtype), Highest(spec.dtype))));
    }
    ASSERT_EQ(RunEverywhere(b, {AsBytes(values)}), expected);
  }
}

TEST(DequantizeStep, IsScaleTimesDifference) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec spec = RandomSpec(random, shape);
    const Bytes data = random.Data(NumElements(shape));
    ProgramBuilder b;
    const int32_t src = b.Input(spec);
    const int32_t dst = b.Output({DType::kF32, shape});
    b.Add(Opcode::kDequantize, dst, src);
    std::vector<float> expected;
    for (const uint8_t byte : data) {
      expected.push_back(static_cast<float>(Value(byte, spec.dtype) - spec.zero_point) *
                         spec.scale);
    }
    ASSERT_EQ(RunEverywhere(b, {data}), AsBytes(expected));
  }
}

TEST(RequantizeStep, MultipliesShiftsAndClamps) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec from = RandomSpec(random, shape), to = RandomSpec(random, shape);
    const Bytes data = random.Data(NumElements(shape));
    const int64_t multiplier = random.Int(0, 3) == 0 ? 0 : random.Int(1 << 30, INT32_MAX);
    const auto rshift = static_cast<int>(random.Int(28, 34));
    ProgramBuilder b;
    const int32_t src = b.Input(from);
    const int32_t dst = b.Output(to);
    Command& command = b.Add(Opcode::kRequantize, dst, src);
    command.Set(Field::kMultiplier, multiplier).Set(Field::kRshift, rshift);
    const ClampQ clamp = SetClamp(random, &command, to);
    Bytes expected;
    for (const uint8_t byte : data) {
      const int64_t v = Value(byte, from.dtype) - from.zero_point;
      const int64_t y = multiplier == 0 ? v : ShiftedProduct(v, multiplier, rshift);
      expected.push_back(static_cast<uint8_t>(Saturate(y + to.zero_point, clamp.lo, clamp.hi)));
    }
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

TEST(AddStep, AddsProductsAndShiftsOnce) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec a = RandomSpec(random, shape), c = RandomSpec(random, shape),
                     y = RandomSpec(random, shape);
    const Bytes left = random.Data(NumElements(shape)), right = random.Data(NumElements(shape));
    const int64_t ma = random.Int(0, 32767), mb = random.Int(-32767, 32767);
    const auto rshift = static_cast<int>(random.Int(0, 16));
    ProgramBuilder b;
    const int32_t src = b.Input(a), src2 = b.Input(c), dst = b.Output(y);
    Command& command = b.Add(Opcode::kAdd, dst, src).Set(Field::kSrc2, src2);
    command.Set(Field::kMultiplier, ma).Set(Field::kMultiplier2, mb).Set(Field::kRshift, rshift);
    const ClampQ clamp = SetClamp(random, &command, y);
    Bytes expected;
    for (size_t i = 0; i < left.size(); ++i) {
      const int64_t sum = (Value(left[i], a.dtype) - a.zero_point) * ma +
                          (Value(right[i], c.dtype) - c.zero_point) * mb;
      expected.push_back(static_cast<uint8_t>(
          Saturate(ShiftedProduct(sum, 1, rshift) + y.zero_point, clamp.lo, clamp.hi)));
    }
    ASSERT_EQ(RunEverywhere(b, {left, right}), expected);
  }
}

TEST(AddFloatStep, DequantizesAddsAndQuantizes) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec a = RandomSpec(random, shape), c = RandomSpec(random, shape),
                     y = RandomSpec(random, shape);
    const Bytes left = random.Data(NumElements(shape)), right = random.Data(NumElements(shape));
    ProgramBuilder b;
    const int32_t src = b.Input(a), src2 = b.Input(c), dst = b.Output(y);
    Command& command = b.Add(Opcode::kAddFloat, dst, src).Set(Field::kSrc2, src2);
    const ClampQ clamp = SetClamp(random, &command, y);
    Bytes expected;
    for (size_t i = 0; i < left.size(); ++i) {
      const float real_a = static_cast<float>(Value(left[i], a.dtype) - a.zero_point) * a.scale;
      const float real_b = static_cast<float>(Value(right[i], c.dtype) - c.zero_point) * c.scale;
      expected.push_back(static_cast<uint8_t>(
          Quantized(real_a + real_b, y.scale, y.zero_point, clamp.lo, clamp.hi)));
    }
    ASSERT_EQ(RunEverywhere(b, {left, right}), expected);
  }
}

struct Sides {
  int64_t multiplier_positive;
  int rshift, rshift_positive;
};

int32_t Leaky(int32_t v, int64_t slope, const Sides& sides) {
  if (v < 0) return static_cast<int32_t>(ShiftedProduct(v, slope, sides.rshift));
  if (sides.multiplier_positive == 0) return v;
  return static_cast<int32_t>(ShiftedProduct(v, sides.multiplier_positive, sides.rshift_positive));
}

Sides RandomSides(Random& random, Command* command) {
  const Sides sides{random.Int(0, 1) == 0 ? 0 : random.Int(1 << 30, INT32_MAX),
                    static_cast<int>(random.Int(0, 12)), static_cast<int>(random.Int(29, 33))};
  command->Set(Field::kMultiplier2, sides.multiplier_positive).Set(Field::kRshift, sides.rshift);
  command->Set(Field::kRshift2, sides.rshift_positive);
  return sides;
}

TEST(LeakyReluStep, BranchesOnTheZeroPoint) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec from = RandomSpec(random, shape), to = RandomSpec(random, shape);
    const Bytes data = random.Data(NumElements(shape));
    ProgramBuilder b;
    const int32_t src = b.Input(from), dst = b.Output(to);
    Command& command = b.Add(Opcode::kLeakyRelu, dst, src);
    const Sides sides = RandomSides(random, &command);
    const int64_t slope = random.Int(-200, 200);
    command.Set(Field::kMultiplier, slope);
    const ClampQ clamp = SetClamp(random, &command, to);
    Bytes expected;
    for (const uint8_t byte : data) {
      const int32_t y =
          Leaky(Value(byte, from.dtype) - from.zero_point, slope, sides) + to.zero_point;
      expected.push_back(static_cast<uint8_t>(Saturate(y, clamp.lo, clamp.hi)));
    }
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

TEST(PReluStep, HasOneSlopeOrOnePerChannel) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const TensorSpec from = RandomSpec(random, shape), to = RandomSpec(random, shape);
    const Bytes data = random.Data(NumElements(shape));
    const int64_t channels = random.Int(0, 1) == 0 ? 1 : shape.back();
    const Bytes slopes = random.Data(channels);
    ProgramBuilder b;
    const int32_t src = b.Input(from), dst = b.Output(to);
    const int32_t src2 = b.Const(DType::kS8, {channels}, slopes);
    Command& command = b.Add(Opcode::kPRelu, dst, src).Set(Field::kSrc2, src2);
    const Sides sides = RandomSides(random, &command);
    const ClampQ clamp = SetClamp(random, &command, to);
    Bytes expected;
    for (size_t i = 0; i < data.size(); ++i) {
      const auto slope = static_cast<int8_t>(slopes[i % static_cast<size_t>(channels)]);
      const int32_t y =
          Leaky(Value(data[i], from.dtype) - from.zero_point, slope, sides) + to.zero_point;
      expected.push_back(static_cast<uint8_t>(Saturate(y, clamp.lo, clamp.hi)));
    }
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

TEST(TableStep, LooksUpRawBytesInPlaceToo) {
  Random random(7);
  const Bytes table = random.Data(256), data = random.Data(1000);
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {1000}}), dst = b.Output({DType::kU8, {1000}});
  const int32_t constant = b.Const(DType::kBytes, {256}, table);
  b.Add(Opcode::kTable, dst, src).Set(Field::kTable, constant);
  b.Add(Opcode::kTable, dst, dst).Set(Field::kTable, constant);
  Bytes expected;
  for (const uint8_t byte : data) expected.push_back(table[table[byte]]);
  EXPECT_EQ(RunEverywhere(b, {data}), expected);
}

TEST(ChannelTablesStep, HasATableForEachChannelOfAnyShapeAndIsa) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = RandomShape(random);
    const int64_t tables = random.Int(1, 40), channels = shape.back();
    const Bytes entries = random.Data(256 * tables), data = random.Data(NumElements(shape));
    Bytes numbers;
    for (int64_t c = 0; c < channels; ++c)
      numbers.push_back(static_cast<uint8_t>(random.Int(0, static_cast<int>(tables) - 1)));
    ProgramBuilder b;
    const int32_t src = b.Input({random.Byte(), shape}), dst = b.Output({random.Byte(), shape});
    const int32_t src2 = b.Const(DType::kU8, {channels}, numbers);
    const int32_t table = b.Const(DType::kBytes, {256 * tables}, entries);
    b.Add(Opcode::kChannelTables, dst, src).Set(Field::kSrc2, src2).Set(Field::kTable, table);
    Bytes expected;
    for (size_t i = 0; i < data.size(); ++i)
      expected.push_back(entries[256 * numbers[i % numbers.size()] + data[i]]);
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

}  // namespace
}  // namespace rshift::testing
