// The element-wise loops of every instruction set against quantize/numerics, where a random program
// rarely looks: floats at and beside every tie, sums at the ends of their range, every shift, every
// number of elements.
#include "runtime/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "quantize/numerics/add.h"
#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/average_forms.h"
#include "quantize/numerics/real_rounding.h"
#include "runtime/steps/uniform_requant.h"
#include "tests/runtime/program_builder.h"
#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

class Elementwise : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!CpuSupports(GetParam())) GTEST_SKIP() << "this CPU has no " << Name(GetParam());
  }
  const ElementwiseTable& loops() const { return ElementwiseFor(GetParam()); }
};

// Every half integer up to `most` with its neighbours, and what is no ordinary number.
std::vector<float> HardFloats(int most) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> hard = {0.0f,   -0.0f, 1e-45f,    -1e-45f,    1e30f,
                             -1e30f, NAN,   kInfinity, -kInfinity, 8388609.0f};
  for (int i = -2 * most; i <= 2 * most; ++i) {
    const float tie = static_cast<float>(i) / 2;
    hard.insert(hard.end(), {tie, std::nextafter(tie, kInfinity), std::nextafter(tie, -kInfinity)});
  }
  return hard;
}

TEST_P(Elementwise, QuantizeByEveryRounding) {
  const std::vector<float> x = HardFloats(600);
  Bytes y(x.size());
  for (const float scale : {1.0f, 0.25f, 0.1f, 3.0f}) {
    for (const auto& [zero, lo, hi] :
         {std::tuple{0, -128, 127}, {-128, -128, 127}, {200, 0, 255}, {3, 0, 17}, {90, 100, 110}}) {
      const QuantizeArgs args{x.data(), y.data(), scale, zero, lo, hi};
      for (int i = 0; i < kRealRoundingCount; ++i) {
        const auto rounding = static_cast<RealRounding>(i);
        const auto at = static_cast<size_t>(i);
        const auto count = static_cast<int64_t>(x.size());
        loops().quantize[at](args, 0, count);
        for (size_t k = 0; k < x.size(); ++k) {
          ASSERT_EQ(y[k], static_cast<uint8_t>(
                              numerics::QuantizeValueBy(rounding, x[k], scale, zero, lo, hi)))
              << x[k] << " by " << scale << " rounding " << i;
        }
        loops().quantize_reciprocal[at](args, 0, count);
        for (size_t k = 0; k < x.size(); ++k) {
          ASSERT_EQ(y[k], static_cast<uint8_t>(
                              numerics::QuantizeByReciprocal(rounding, x[k], scale, zero, lo, hi)))
              << x[k] << " by " << scale << " rounding " << i;
        }
      }
    }
  }
}

TEST_P(Elementwise, DequantizeEveryByte) {
  Bytes x(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
  std::vector<float> y(x.size());
  loops().dequantize({{x.data(), 0x80, 5 + 128}, y.data(), 0.3f}, 0, 256);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], numerics::DequantizeValue(static_cast<int8_t>(x[i]), 0.3f, 5));
}

TEST_P(Elementwise, QuantizeToInt16) {
  const std::vector<float> x = HardFloats(33000);
  const auto count = static_cast<int64_t>(x.size());
  std::vector<int16_t> y(x.size());
  for (const float scale : {1.0f, 0.1f}) {
    const QuantizeInt16Args args{x.data(), y.data(), scale};
    loops().quantize_int16(args, 0, count);
    for (size_t k = 0; k < x.size(); ++k)
      ASSERT_EQ(y[k], numerics::QuantizeValue(x[k], scale, 0, -32768, 32767)) << x[k];
    loops().quantize_int16_reciprocal(args, 0, count);
    for (size_t k = 0; k < x.size(); ++k) {
      ASSERT_EQ(y[k],
                numerics::QuantizeByReciprocal(RealRounding::kEven, x[k], scale, 0, -32768, 32767))
          << x[k];
    }
  }
}

TEST_P(Elementwise, DequantizeEveryInt16) {
  std::vector<int16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int16_t>(i);
  std::vector<float> y(x.size());
  loops().dequantize_int16({x.data(), y.data(), 0.3f}, 0, 65536);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], numerics::DequantizeValue(x[i], 0.3f, 0));
}

TEST_P(Elementwise, AddAwayAtEveryShiftUpToTheLargestSum) {
  for (int rshift = 0; rshift <= 62; ++rshift) {
    SCOPED_TRACE(rshift);
    Random random(static_cast<uint32_t>(rshift));
    for (int round = 0; round < 40; ++round) {
      const Bytes a = random.Data(200), b = random.Data(200);
      Bytes y(200);
      const bool a_signed = random.Int(0, 1) == 0;
      const int32_t zero_a = random.Zero(a_signed ? DType::kS8 : DType::kU8);
      // 255 * (|multiplier_a| + |multiplier_b|) < 2^31; small ones make ties.
      const int64_t most = round % 2 == 0 ? INT32_MAX / 510 : 3;
      const auto multiplier_a = static_cast<int32_t>(random.Int(-most, most));
      const auto multiplier_b =
          static_cast<int32_t>(round % 4 == 0 ? most : random.Int(-most, most));
      const AddArgs args{
          .a = {a.data(), static_cast<uint8_t>(a_signed ? 0x80 : 0), zero_a + (a_signed ? 128 : 0)},
          .b = {b.data(), 0, 255},
          .y = y.data(),
          .multiplier_a = multiplier_a,
          .multiplier_b = multiplier_b,
          .rshift = rshift,
          .zero_y = 7,
          .lo = -128,
          .hi = 127};
      loops().add_away(args, {.rows = 2, .count = 70, .pitch_a = 90, .pitch_b = 90, .pitch_y = 90});
      for (size_t i = 0; i < 160; ++i) {
        if (i >= 70 && i < 90) continue;  // between the rows
        const int32_t va = Value(a[i], a_signed ? DType::kS8 : DType::kU8) - zero_a;
        ASSERT_EQ(static_cast<int8_t>(y[i]),
                  numerics::AddCommonShiftAway(va, b[i] - 255, multiplier_a, multiplier_b, rshift,
                                               7, -128, 127));
      }
    }
  }
}

// Every pair of bytes; multipliers of 8 and 16 bits and beyond, sums up to the very ends of 16
// bits.
TEST_P(Elementwise, AddOfEveryPairOfBytes) {
  Bytes a(65536), b(65536), y(65536);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i), b[i] = i >> 8;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const DType type_a = random.Byte(), type_b = random.Byte(), type_y = random.Byte();
    const int32_t zero_a = random.Zero(type_a), zero_b = random.Zero(type_b);
    const int64_t most = std::array{127, 64, 255, 32767, 40000}[seed % 5];
    const int64_t least = seed % 4 == 0 ? -most : 0;
    const auto operand = [](const Bytes& bytes, DType type, int32_t zero) -> ByteOperand {
      const bool flip = type == DType::kS8;
      return {bytes.data(), static_cast<uint8_t>(flip ? 0x80 : 0), zero + (flip ? 128 : 0)};
    };
    const AddArgs args{.a = operand(a, type_a, zero_a),
                       .b = operand(b, type_b, zero_b),
                       .y = y.data(),
                       .multiplier_a = static_cast<int32_t>(random.Int(least, most)),
                       .multiplier_b = static_cast<int32_t>(random.Int(least, most)),
                       .rshift = static_cast<int32_t>(random.Int(0, most > 255 ? 20 : 15)),
                       .zero_y = random.Zero(type_y),
                       .lo = Lowest(type_y) + static_cast<int32_t>(random.Int(0, 9)),
                       .hi = Highest(type_y) - static_cast<int32_t>(random.Int(0, 9))};
    loops().add(args, {.count = 65536});
    for (size_t i = 0; i < y.size(); ++i) {
      const int32_t expected = numerics::AddCommonShift(
          Value(a[i], type_a) - zero_a, Value(b[i], type_b) - zero_b, args.multiplier_a,
          args.multiplier_b, args.rshift, args.zero_y, args.lo, args.hi);
      ASSERT_EQ(y[i], static_cast<uint8_t>(expected)) << Value(a[i], type_a) << ' ' << (i >> 8);
    }
  }
}

// Both forms of the addition in float on every pair of bytes. The near one is taken where it is
// equal throughout, which is to be nearly everywhere.
TEST_P(Elementwise, AddFloatOfEveryPairOfBytes) {
  Bytes a(65536), b(65536), y(65536), near(65536);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i), b[i] = i >> 8;
  constexpr int kSeeds = 60;
  int equal = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const DType type_a = random.Byte(), type_b = random.Byte(), type_y = random.Byte();
    const int32_t zero_a = random.Zero(type_a), zero_b = random.Zero(type_b);
    const auto operand = [](const Bytes& bytes, DType type, int32_t zero) -> ByteOperand {
      const bool flip = type == DType::kS8;
      return {bytes.data(), static_cast<uint8_t>(flip ? 0x80 : 0), zero + (flip ? 128 : 0)};
    };
    AddFloatArgs args{.a = operand(a, type_a, zero_a),
                      .b = operand(b, type_b, zero_b),
                      .y = y.data(),
                      .scale_a = random.Float(0.001f, 0.1f),
                      .scale_b = random.Float(0.001f, 0.1f),
                      .scale_y = random.Float(0.001f, 0.2f),
                      .zero_y = random.Zero(type_y),
                      .lo = Lowest(type_y) + static_cast<int32_t>(random.Int(0, 9)),
                      .hi = Highest(type_y) - static_cast<int32_t>(random.Int(0, 9))};
    loops().add_float(args, {.count = 65536});
    for (size_t i = 0; i < y.size(); ++i) {
      const int32_t expected =
          numerics::AddFloat(Value(a[i], type_a), args.scale_a, zero_a, Value(b[i], type_b),
                             args.scale_b, zero_b, args.scale_y, args.zero_y, args.lo, args.hi);
      ASSERT_EQ(y[i], static_cast<uint8_t>(expected)) << Value(a[i], type_a) << ' ' << (i >> 8);
    }
    if (loops().add_float_near == nullptr) continue;
    args.y = near.data();
    loops().add_float_near(
        args, {.rows = 256, .count = 256, .pitch_a = 256, .pitch_b = 256, .pitch_y = 256});
    equal += near == y ? 1 : 0;
  }
  if (loops().add_float_near != nullptr) {
    EXPECT_GE(equal, kSeeds * 9 / 10);
  }
}

TEST_P(Elementwise, AveragesOfEverySizeOfWindow) {
  Random random(1);
  for (const int32_t taps : {1, 2, 3, 4, 7, 9, 49, 50, 255, 256, 1000, 65793, 8421504}) {
    SCOPED_TRACE(taps);
    std::vector<int32_t> sum;
    const int64_t most = int64_t{255} * taps;
    for (int i = 0; i < 300; ++i) {
      // Often half a tap off a multiple: ties and their neighbours.
      const int64_t tie = random.Int(-256, 256) * taps + taps / 2 + random.Int(-1, 1);
      sum.push_back(static_cast<int32_t>(
          std::clamp(i % 3 == 0 ? random.Int(-most, most) : tie, -most, most)));
    }
    Bytes y(sum.size());
    AverageArgs args{.sum = sum.data(), .y = y.data(), .inside = taps, .taps = taps};
    args.scale = 1.0f, args.zero_x = 1, args.zero_y = -3, args.lo = -120, args.hi = 119;
    loops().average_integer(args, 0, 300);
    for (size_t i = 0; i < sum.size(); ++i) {
      ASSERT_EQ(static_cast<int8_t>(y[i]), numerics::AverageInteger(sum[i], taps, -120, 119))
          << sum[i];
    }
    if (taps > 65793) continue;  // sum - taps * zero_x is to fit int32
    loops().average_scale_away(args, 0, 300);
    for (size_t i = 0; i < sum.size(); ++i) {
      ASSERT_EQ(static_cast<int8_t>(y[i]),
                numerics::AverageScaleAway(sum[i] - taps, taps, 1.0f, -3, -120, 119))
          << sum[i];
    }
  }
}

// Also words that the vector forms do not take: small multipliers under small shifts, zero points
// beyond a byte.
TEST_P(Elementwise, UniformRequantOfEveryCount) {
  for (uint32_t seed = 0; seed < 1200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Rounding rounding = kAllRoundings[seed % kRoundingCount];
    if (rounding == Rounding::kHalfFloat) continue;
    Words words = RandomWords(
        random, rounding, static_cast<int>(random.Int(IsInteger(rounding) ? -31 : -9, 30)), true);
    if (IsInteger(rounding) && random.Int(0, 3) == 0)
      words.multiplier = static_cast<int32_t>(random.Int(0, 1 << 30));
    const bool far = IsInteger(rounding) && random.Int(0, 3) == 0;
    const auto zero = static_cast<int32_t>(far ? random.Int(-40000, 40000) : random.Int(-128, 127));
    const UniformRequant requant(GetParam(),
                                 {rounding, {words.multiplier, words.rshift}, zero, {-128, 127}});
    std::vector<int32_t> acc(kRequantBlock + kRequantSlack);
    for (int32_t& v : acc) {
      const int64_t range = int64_t{1} << random.Int(1, 31);
      v = static_cast<int32_t>(random.Int(-range, range - 1));
    }
    const auto count = static_cast<size_t>(seed % 5 == 0 ? kRequantBlock : random.Int(0, 150));
    Bytes y(count + 64, 0x5a);
    requant(acc.data(), static_cast<int64_t>(count), y.data());
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(
          static_cast<int8_t>(y[i]),
          numerics::RequantizeBy(rounding, acc[i], words.multiplier, words.rshift, zero, -128, 127))
          << acc[i] << " words " << words.multiplier << " " << words.rshift << " zero " << zero;
    }
    for (size_t i = count; i < y.size(); ++i) ASSERT_EQ(y[i], 0x5a);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSets, Elementwise,
                         ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512Vnni),
                         [](const auto& param) { return std::string(Name(param.param)); });

}  // namespace
}  // namespace rshift::testing
