// Additions, products, quantization and softmax in the frameworks' forms, against their definitions
// written out.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

// Two inputs and an output of one shape, with a clamp; the command is for the test to fill in.
struct Pair {
  TensorSpec a, b, y;
  Bytes left, right;
  int32_t lo, hi;
  ProgramBuilder builder;

  Pair(Random& random, Opcode opcode) {
    const Shape shape = {random.Int(1, 5), random.Int(1, 90)};
    for (TensorSpec* spec : {&a, &b, &y}) {
      *spec = {random.Byte(), shape, random.Float(0.001f, 0.2f), 0};
      spec->zero_point = random.Zero(spec->dtype);
    }
    left = random.Data(NumElements(shape));
    right = random.Data(NumElements(shape));
    const bool narrow = random.Int(0, 2) == 0;
    lo = narrow ? static_cast<int32_t>(random.Int(Lowest(y.dtype), y.zero_point)) : Lowest(y.dtype);
    hi = narrow ? static_cast<int32_t>(random.Int(y.zero_point, Highest(y.dtype)))
                : Highest(y.dtype);
    const int32_t src = builder.Input(a), src2 = builder.Input(b), dst = builder.Output(y);
    builder.Add(opcode, dst, src).Set(Field::kSrc2, src2);
    command().Set(Field::kClampLoQ, lo).Set(Field::kClampHiQ, hi);
  }
  Command& command() { return builder.image.commands[0]; }

  // expected(value of a, value of b, both less their zero points) for every element.
  template <typename F>
  void ExpectEach(const F& expected) {
    Bytes bytes;
    for (size_t i = 0; i < left.size(); ++i) {
      bytes.push_back(static_cast<uint8_t>(expected(Value(left[i], a.dtype) - a.zero_point,
                                                    Value(right[i], b.dtype) - b.zero_point)));
    }
    ASSERT_EQ(RunEverywhere(builder, {left, right}), bytes);
  }
};

TEST(AddStep, ZeroPointsAndTiesUp) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAdd);
    // Multipliers of 22 bits, a subtraction among them; or small ones, whose sums are often ties.
    const int64_t most = seed % 2 == 0 ? (1 << 22) - 1 : 5;
    const int64_t ma = random.Int(0, most), mb = random.Int(-most, most);
    const auto rshift = static_cast<int>(seed % 2 == 0 ? random.Int(16, 24) : random.Int(0, 3));
    p.command().Set(Field::kMultiplier, ma).Set(Field::kMultiplier2, mb);
    p.command().Set(Field::kRshift, rshift);
    p.ExpectEach([&](int64_t a, int64_t b) {
      return Saturate(ShiftedProduct(a * ma + b * mb, 1, rshift) + p.y.zero_point, p.lo, p.hi);
    });
  }
}

TEST(AddStep, TiesAwayFromZeroInSixtyFourBits) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAdd);
    const int64_t most = seed % 3 == 0 ? INT32_MAX : seed % 3 == 1 ? (1 << 22) - 1 : 5;
    const int64_t ma = random.Int(-most, most), mb = random.Int(-most, most);
    const auto rshift = static_cast<int>(seed % 3 == 0   ? random.Int(28, 62)
                                         : seed % 3 == 1 ? random.Int(16, 35)
                                                         : random.Int(0, 3));
    p.command().Set(Field::kMultiplier, ma).Set(Field::kMultiplier2, mb);
    p.command()
        .Set(Field::kRshift, rshift)
        .Set(Field::kRounding, static_cast<int64_t>(Rounding::kHalfAway));
    p.ExpectEach([&](int64_t a, int64_t b) {
      const int64_t sum = a * ma + b * mb;
      const int64_t magnitude = ShiftedProduct(std::abs(sum), 1, rshift);
      return Saturate((sum < 0 ? -magnitude : magnitude) + p.y.zero_point, p.lo, p.hi);
    });
  }
}

TEST(AddShiftedStep, RescalesOperandsAndSum) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAddShifted);
    const Rounding rounding =
        std::array{Rounding::kTwoStep, Rounding::kHalfUp, Rounding::kTwoStepUp}[seed % 3];
    const auto left = static_cast<int>(random.Int(0, 1) == 0 ? 20 : random.Int(0, 20));
    const Words wa = RandomWords(random, rounding, static_cast<int>(random.Int(0, 6)), false);
    const Words wb = RandomWords(random, rounding, static_cast<int>(random.Int(0, 6)), false);
    const Words wy =
        RandomWords(random, rounding, left + static_cast<int>(random.Int(-3, 4)), false);
    p.command().Set(Field::kMultiplier, wa.multiplier).Set(Field::kRshift, wa.rshift);
    p.command().Set(Field::kMultiplier2, wb.multiplier).Set(Field::kRshift2, wb.rshift);
    p.command().Set(Field::kMultiplier3, wy.multiplier).Set(Field::kRshift3, wy.rshift);
    p.command().Set(Field::kCount, left).Set(Field::kRounding, static_cast<int64_t>(rounding));
    p.ExpectEach([&](int32_t a, int32_t b) {
      const int64_t sum = ScaledInteger(rounding, a * (1 << left), wa) +
                          ScaledInteger(rounding, b * (1 << left), wb);
      return Saturate(ScaledInteger(rounding, static_cast<int32_t>(sum), wy) + p.y.zero_point, p.lo,
                      p.hi);
    });
  }
}

// ScaledInteger's first step alone: the doubling high product of the value as it is.
int32_t High(int64_t v, int32_t multiplier) {
  return static_cast<int32_t>(
      ScaledInteger(Rounding::kTwoStep, static_cast<int32_t>(v), {multiplier, 31}));
}

TEST(AddShiftedStep, BlocksRoundOtherwiseThanTheTail) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAddShifted);
    const int mode = seed % 2 == 0 ? 1 : 2, block = mode == 1 ? 16 : 8;
    const Rounding rounding = Rounding::kTwoStep;
    // Up to 2^-24: shifts below 0 in front of the product, too.
    const Words wa = RandomWords(random, rounding, static_cast<int>(random.Int(0, 24)), false);
    const Words wb = RandomWords(random, rounding, static_cast<int>(random.Int(0, 6)), false);
    const Words wy = RandomWords(random, rounding, 20 + static_cast<int>(random.Int(-3, 2)), false);
    p.command().Set(Field::kMultiplier, wa.multiplier).Set(Field::kRshift, wa.rshift);
    p.command().Set(Field::kMultiplier2, wb.multiplier).Set(Field::kRshift2, wb.rshift);
    p.command().Set(Field::kMultiplier3, wy.multiplier).Set(Field::kRshift3, wy.rshift);
    p.command().Set(Field::kCount, 20).Set(Field::kMode, mode);
    p.command().Set(Field::kRounding, static_cast<int64_t>(rounding));
    const auto term = [&](int64_t v, const Words& w, bool in_block) -> int64_t {
      if (!in_block) return ScaledInteger(rounding, static_cast<int32_t>(v << 20), w);
      const int shift = w.rshift - 31;
      if (mode == 2) return High(v * (1 << 20), w.multiplier) >> shift;
      const double shifted = std::floor(std::ldexp(static_cast<double>(v), 20 - shift));
      return High(static_cast<int64_t>(shifted), w.multiplier);
    };
    const size_t remainder =
        p.left.size() / static_cast<size_t>(block) * static_cast<size_t>(block);
    size_t i = 0;
    p.ExpectEach([&](int32_t a, int32_t b) {
      const bool in_block = i++ < remainder;
      const int64_t sum = term(a, wa, in_block) + term(b, wb, in_block);
      return Saturate(ScaledInteger(rounding, static_cast<int32_t>(sum), wy) + p.y.zero_point, p.lo,
                      p.hi);
    });
  }
}

TEST(AddShiftedStep, SubtractsUnderModeThree) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAddShifted);
    const Rounding rounding = Rounding::kTwoStep;
    const Words wa = RandomWords(random, rounding, static_cast<int>(random.Int(0, 6)), false);
    const Words wb = RandomWords(random, rounding, static_cast<int>(random.Int(0, 6)), false);
    const Words wy = RandomWords(random, rounding, 20 + static_cast<int>(random.Int(-3, 2)), false);
    p.command().Set(Field::kMultiplier, wa.multiplier).Set(Field::kRshift, wa.rshift);
    p.command().Set(Field::kMultiplier2, wb.multiplier).Set(Field::kRshift2, wb.rshift);
    p.command().Set(Field::kMultiplier3, wy.multiplier).Set(Field::kRshift3, wy.rshift);
    p.command().Set(Field::kCount, 20).Set(Field::kMode, 3);
    p.command().Set(Field::kRounding, static_cast<int64_t>(rounding));
    p.ExpectEach([&](int32_t a, int32_t b) {
      const int64_t difference =
          ScaledInteger(rounding, a * (1 << 20), wa) - ScaledInteger(rounding, b * (1 << 20), wb);
      return Saturate(
          ScaledInteger(rounding, static_cast<int32_t>(difference), wy) + p.y.zero_point, p.lo,
          p.hi);
    });
  }
}

// One rounding of the exact sum: the product of a byte and a float is exact in double, and the sum
// is rounded to odd there, so that the conversion to float is the only one that counts.
float ExactFma(int32_t a, float ratio, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(ratio);
  const double sum = product + static_cast<double>(c);
  const double back = sum - product;  // two-sum: what the addition lost
  const double lost = (product - (sum - back)) + (static_cast<double>(c) - back);
  auto bits = std::bit_cast<uint64_t>(sum);
  if (lost != 0 && (bits & 1) == 0) bits += (lost > 0) == (sum > 0) ? 1 : -1;
  return static_cast<float>(std::bit_cast<double>(bits));
}

TEST(AddFmaStep, EachProductIsFusedIntoItsSum) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAddFma);
    const float ratio_a = random.Float(-2.0f, 2.0f), ratio_b = random.Float(0.0f, 2.0f);
    const float fixed = random.Float(-100.0f, 100.0f);
    p.command().SetFloat(Field::kScaleF, ratio_a).SetFloat(Field::kAlphaF, ratio_b);
    p.command().SetFloat(Field::kOffsetF, fixed);
    const bool keeps_sign = seed % 3 == 0;
    p.command().Set(Field::kFlags, keeps_sign ? 1 : 0);
    const auto shift = [&](const TensorSpec& spec) {
      return spec.dtype == DType::kS8 && !keeps_sign ? 128 : 0;
    };
    const int32_t shift_y = shift(p.y);
    p.ExpectEach([&](int32_t a, int32_t b) {
      const float inner = ExactFma(b + p.b.zero_point + shift(p.b), ratio_b, fixed);
      const float sum = ExactFma(a + p.a.zero_point + shift(p.a), ratio_a, inner);
      return ToByte(sum, RealRounding::kEven, -shift_y, p.lo, p.hi);
    });
  }
}

TEST(AddScaledStep, OneOperandInUnitsOfTheOther) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kAddScaled);
    const auto zero_a = static_cast<int32_t>(random.Int(-200, 200));
    const float ratio = random.Float(0.1f, 4.0f);
    const float scale = random.Float(0.05f, 1.5f), shift = random.Float(-20.0f, 200.0f);
    const auto after = static_cast<int32_t>(seed % 2 == 0 ? 128 : 0);
    p.command().SetFloat(Field::kBetaF, static_cast<float>(zero_a));
    p.command().SetFloat(Field::kAlphaF, ratio);
    p.command().SetFloat(Field::kScaleF, scale).SetFloat(Field::kOffsetF, shift);
    p.command().Set(Field::kOffset, after);
    p.ExpectEach([&](int32_t a, int32_t b) {
      const auto q_b = static_cast<float>(b + p.b.zero_point);
      const float sum = ExactFma(a + p.a.zero_point - zero_a, ratio, q_b);
      const float scaled = sum * scale;
      return ToByte(scaled + shift, RealRounding::kEven, -after, p.lo, p.hi);
    });
  }
}

TEST(MulStep, EveryRounding) {
  for (uint32_t seed = 1; seed <= 240; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pair p(random, Opcode::kMul);
    const Rounding rounding =
        std::array{Rounding::kHalfUp,        Rounding::kTwoStep,  Rounding::kFloatEven,
                   Rounding::kFloatZeroEven, Rounding::kHalfAway, Rounding::kTwoStepUp}[seed % 6];
    const Words words = RandomWords(random, rounding, static_cast<int>(random.Int(2, 12)), false);
    p.command().Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    p.command().Set(Field::kRounding, static_cast<int64_t>(rounding));
    const bool keeps_sign = rounding == Rounding::kFloatZeroEven && random.Int(0, 2) == 0;
    p.command().Set(Field::kFlags, keeps_sign ? 1 : 0);
    const int32_t shift_y = p.y.dtype == DType::kS8 && !keeps_sign ? 128 : 0;
    p.ExpectEach([&](int32_t a, int32_t b) {
      if (rounding != Rounding::kFloatZeroEven)
        return Requantized(rounding, a * b, words, p.y.zero_point, p.lo, p.hi);
      // ONNX Runtime adds the zero point of the unsigned form.
      const float scaled = ScaledFloat(rounding, a * b, words);
      return ToByte(scaled + static_cast<float>(p.y.zero_point + shift_y), RealRounding::kEven,
                    -shift_y, p.lo, p.hi);
    });
  }
}

TEST(QuantizeStep, EveryRealRounding) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto mode = static_cast<RealRounding>(seed % kRealRoundingCount);
    TensorSpec spec{random.Byte(), {random.Int(1, 300)}, seed % 2 == 0 ? 0.25f : 0.1f, 0};
    spec.zero_point = random.Zero(spec.dtype);
    std::vector<float> values = {
        std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY, -0.0f, 1e30f, -1e30f};
    values.resize(static_cast<size_t>(spec.shape[0]));
    for (size_t i = 6; i < values.size(); ++i) {
      const auto units =
          static_cast<float>(random.Int(-600, 600)) / 2;  // ties, and their neighbours
      const int64_t step = random.Int(-1, 1);
      const float tie = units * spec.scale;
      values[i] = step == 0 ? tie : std::nextafter(tie, step < 0 ? -1e9f : 1e9f);
    }
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kF32, spec.shape}), dst = b.Output(spec);
    const bool reciprocal = seed % 3 == 0;
    b.Add(Opcode::kQuantize, dst, src)
        .Set(Field::kMode, static_cast<int64_t>(mode))
        .Set(Field::kFlags, reciprocal ? 1 : 0);
    Bytes expected;
    const float inverse = 1.0f / spec.scale;
    for (const float value : values) {
      const float units = reciprocal ? value * inverse : value / spec.scale;
      expected.push_back(static_cast<uint8_t>(
          ToByte(units, mode, spec.zero_point, Lowest(spec.dtype), Highest(spec.dtype))));
    }
    ASSERT_EQ(RunEverywhere(b, {AsBytes(values)}), expected);
  }
}

TEST(RequantizeStep, EveryIntegerRounding) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Rounding rounding = std::array{Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kHalfAway,
                                         Rounding::kTwoStepUp}[seed % 4];
    TensorSpec from{random.Byte(), {256}}, to{random.Byte(), {256}};
    from.zero_point = random.Zero(from.dtype);
    to.zero_point = random.Zero(to.dtype);
    const Words words = RandomWords(random, rounding, static_cast<int>(random.Int(-2, 4)), false);
    ProgramBuilder b;
    const int32_t src = b.Input(from), dst = b.Output(to);
    Command& command = b.Add(Opcode::kRequantize, dst, src);
    command.Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    command.Set(Field::kRounding, static_cast<int64_t>(rounding));
    command.Set(Field::kClampLoQ, Lowest(to.dtype)).Set(Field::kClampHiQ, Highest(to.dtype));
    Bytes data, expected;
    for (int byte = 0; byte < 256; ++byte) {
      data.push_back(static_cast<uint8_t>(byte));
      expected.push_back(static_cast<uint8_t>(
          Requantized(rounding, Value(data.back(), from.dtype) - from.zero_point, words,
                      to.zero_point, Lowest(to.dtype), Highest(to.dtype))));
    }
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

}  // namespace
}  // namespace rshift::testing
