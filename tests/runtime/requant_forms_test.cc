// The vector requantizers against quantize/numerics: every rounding, every rshift, the
// extremes of accumulators, multipliers, zero points and bounds, and accumulators on both sides of
// every rounding's ties.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "isa/attributes.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/requantize.h"
#include "runtime/runtime.h"
#include "runtime/steps/requant_arrays.h"
#include "tests/runtime/program_builder.h"
#include "tests/runtime/requant_probe.h"
#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

constexpr int kSets = 2500;  // of parameters for each rounding; 64 channels each
constexpr int kRows = 24;    // accumulators of a channel

struct Set {
  std::vector<int32_t> multiplier, rshift;
  std::vector<float> scale, bias_f;
  std::vector<int32_t> bias, high_half, high_shift;
  std::vector<float> ratio;
  int64_t most_acc = int64_t{1} << 31;
  RequantArgs args;

  // What a channel multiplies by, about; for the search of ties.
  double Factor(size_t c) const {
    if (numerics::IsIntegerRounding(args.rounding)) {
      return std::ldexp(static_cast<double>(multiplier[c]),
                        -(rshift[c] % numerics::kScalarRemainder));
    }
    if (args.rounding == Rounding::kDoubleAway)
      return numerics::WordsToDouble(multiplier[c], rshift[c]);
    const double s = args.half.sqrt_dequant ? double{scale[c]} * scale[c] : double{scale[c]};
    return args.rounding == Rounding::kHalfFloat ? s * args.half.quant_scale : s;
  }

  int32_t Expected(size_t c, int32_t acc) const {
    if (args.rounding == Rounding::kHalfFloat) {
      const float v = numerics::DequantizeHalf(acc, scale[c], bias_f[c], args.half);
      return numerics::QuantizeHalf(v, args.half, args.lo, args.hi);
    }
    return numerics::RequantizeBy(args.rounding, acc, multiplier[c], rshift[c], args.zero_y,
                                  args.lo, args.hi);
  }
};

int32_t RandomMultiplier(Random& random) {
  switch (random.Int(0, 9)) {
    case 0:
      return 0;
    case 1:
      return 1 << 30;
    case 2:
      return INT32_MAX - static_cast<int32_t>(random.Int(0, 1));
    case 3:
      return (1 << 30) + (1 << random.Int(0, 29));
    default:
      return static_cast<int32_t>(random.Int(int64_t{1} << 30, INT32_MAX));
  }
}

// What RequantArgs::ratio takes, and one that it does not: at most 24 bits, no less than 11 of
// them.
int32_t ShortMultiplier(Random& random) {
  if (random.Int(0, 9) == 0) return 0;
  if (random.Int(0, 999) == 0) return 1 << 30;
  const auto zeros = random.Int(7, 20);
  return static_cast<int32_t>((random.Int(int64_t{1} << 30, INT32_MAX) >> zeros | 1) << zeros);
}

// All shifts, those of the high-half and of the folded forms only, or one narrow band.
void IntegerWords(Random& random, Set* set) {
  constexpr std::array<int64_t, 2> kRanges[] = {{0, 62}, {32, 62}, {33, 62}, {33, 54}, {31, 52}};
  const int64_t kind = random.Int(0, 6), band = random.Int(0, 62);
  auto [least, most] =
      kind < 5 ? kRanges[kind] : std::array{band, std::min<int64_t>(62, band + 3 * (kind - 5))};
  const bool by_ratio = random.Int(0, 3) == 0;
  if (by_ratio) {
    least = random.Int(20, 46);
    most = least + random.Int(0, 3);
    set->most_acc = (int64_t{1} << (least - 17)) - 1;
  }
  const bool remainders = set->args.rounding == Rounding::kTwoStepUp && random.Int(0, 2) == 0;
  for (int64_t c = 0; c < kProbeChannels; ++c) {
    set->multiplier.push_back(by_ratio ? ShortMultiplier(random) : RandomMultiplier(random));
    const bool remainder = remainders && random.Int(0, 3) == 0;
    set->rshift.push_back(static_cast<int32_t>(random.Int(least, most)) +
                          (remainder ? numerics::kScalarRemainder : 0));
  }
  set->args.min_rshift = *std::min_element(set->rshift.begin(), set->rshift.end());
  set->args.max_rshift = *std::max_element(set->rshift.begin(), set->rshift.end());
}

// Exponents of every practical factor and some far beyond either end; often powers of two, whose
// products are ties, and their neighbours below (`one_below` 2), whose products nearly are.
double RandomScale(Random& random, int lowest, int highest, double one_below) {
  const int64_t kind = random.Int(0, 19);
  if (kind == 0) return 0.0;
  const int exponent =
      static_cast<int>(random.Int(0, 9) == 0 ? random.Int(lowest, highest) : random.Int(-34, 4));
  const double mantissa =
      kind < 6   ? 1.0
      : kind < 9 ? one_below
                 : 1.0 + static_cast<double>(random.Int(0, (int64_t{1} << 52) - 1)) * 0x1p-52;
  return std::ldexp(mantissa, exponent);
}

void FloatWords(Random& random, Set* set) {
  const Rounding rounding = set->args.rounding;
  const bool has_bias = rounding != Rounding::kFloatEven && rounding != Rounding::kDoubleAway;
  for (int64_t c = 0; c < kProbeChannels; ++c) {
    if (rounding == Rounding::kDoubleAway) {
      const double scale = RandomScale(random, -1074, 1022, 0x1.fffffffffffffp0);
      set->multiplier.push_back(numerics::UpperWord(scale));
      set->rshift.push_back(numerics::LowerWord(scale));
      continue;
    }
    // Rounding up to 2^127 stays finite.
    const float scale = static_cast<float>(RandomScale(random, -149, 126, 0x1.fffffep0));
    const bool biased = has_bias && random.Int(0, 2) > 0;
    float bias = biased ? static_cast<float>(random.Int(-9999, 9999)) / 8 : 0.0f;
    if (has_bias && random.Int(0, 9) == 0)
      bias = std::ldexp(bias, static_cast<int>(random.Int(-30, 110)));
    set->scale.push_back(scale);
    set->bias_f.push_back(bias);
    set->multiplier.push_back(numerics::FloatToWord(scale));
    set->rshift.push_back(numerics::FloatToWord(bias));
  }
}

HalfEpilogue RandomHalf(Random& random) {
  const auto factor = static_cast<float>(RandomScale(random, -24, 24, 0x1.fffffep0));
  const float scale = factor == 0.0f ? random.Float(0.01f, 9.0f) : factor;
  const float offset = static_cast<float>(random.Int(0, 2) == 0 ? 0 : random.Int(-256, 255)) / 2;
  if (random.Int(0, 1) == 0) return {.quant_scale = scale, .quant_offset = offset};  // plain
  const bool relu = random.Int(0, 1) == 0;
  const bool sqrt_dequant = random.Int(0, 3) == 0, sqrt_quant = random.Int(0, 3) == 0;
  return {.relu = relu,
          .sqrt_dequant = sqrt_dequant,
          .sqrt_quant = sqrt_quant,
          .quant_scale = scale,
          .quant_offset = offset,
          .mode = static_cast<RealRounding>(random.Int(0, kRealRoundingCount - 1))};
}

Set RandomSet(Random& random, Rounding rounding) {
  Set set;
  RequantArgs& q = set.args;
  q.rounding = rounding;
  if (rounding == Rounding::kHalfFloat) q.half = RandomHalf(random);
  if (numerics::IsIntegerRounding(rounding))
    IntegerWords(random, &set);
  else
    FloatWords(random, &set);
  q.multiplier = set.multiplier.data();
  q.rshift = set.rshift.data();
  q.scale = set.scale.data();
  q.bias_f = set.bias_f.data();
  const int least = random.Int(0, 1) == 0 ? -128 : 0;
  const auto byte = [&] { return static_cast<int32_t>(random.Int(least, least + 255)); };
  q.zero_y = random.Int(0, 2) == 0 ? (random.Int(0, 1) == 0 ? least : least + 255) : byte();
  q.lo = least, q.hi = least + 255;
  if (random.Int(0, 2) == 0) {
    q.lo = byte(), q.hi = byte();
    if (q.lo > q.hi) std::swap(q.lo, q.hi);
  }
  // acc_factor 4 is for |acc| < 2^29.
  if (random.Int(0, 1) == 0) {
    const int64_t most_acc = (1 << (random.Int(0, 2) == 0 ? 30 : 29)) - 1;
    set.most_acc = std::min(set.most_acc, most_acc);
  }
  if (random.Int(0, 3) > 0) {  // else the form without it
    set.high_half.resize(kProbeChannels);
    set.high_shift.resize(kProbeChannels);
    PrecomputeHighHalves(kProbeChannels, set.most_acc, set.high_half.data(), set.high_shift.data(),
                         &q);
    set.bias.resize(kProbeChannels);
    set.ratio.resize(kProbeChannels);
    q.bias = set.bias.data();
    PrecomputeRatios(kProbeChannels, set.most_acc, set.ratio.data(), &q);
  }
  return set;
}

int32_t RandomAccumulator(Random& random, const Set& set, size_t c) {
  const int64_t least = std::max<int64_t>(INT32_MIN, -set.most_acc);
  const int64_t most = std::min<int64_t>(INT32_MAX, set.most_acc);
  const int64_t kind = random.Int(0, 7);
  if (kind == 0) return static_cast<int32_t>(random.Int(0, 1) == 0 ? least : most);
  if (kind == 1) return static_cast<int32_t>(random.Int(-3, 3));
  if (kind == 2) return static_cast<int32_t>(random.Int(least, most));
  if (kind == 3) {
    const int64_t power = int64_t{1} << random.Int(0, 31);
    const int64_t v = (random.Int(0, 1) == 0 ? power : -power) + random.Int(-2, 2);
    return static_cast<int32_t>(std::clamp(v, least, most));
  }
  // Near y + 1/2 for some y of a byte, where the result changes.
  const double y = static_cast<double>(random.Int(-300, 300)) + 0.5;
  const double bias = set.bias_f.empty() ? 0.0 : double{set.bias_f[c]};
  const double at = y / std::max(set.Factor(c), 1e-300) - bias + double(random.Int(-2, 2));
  return static_cast<int32_t>(
      std::clamp(std::nearbyint(at), static_cast<double>(least), static_cast<double>(most)));
}

using RequantFn = void (*)(const RequantArgs& q, const int32_t* acc, uint8_t* y);

void ExpectEqualsNumerics(Rounding rounding, RequantFn requant) {
  int by_ratio = 0;
  for (uint32_t seed = 0; seed < kSets; ++seed) {
    Random random(seed);
    const Set set = RandomSet(random, rounding);
    by_ratio += set.args.ratio != nullptr ? 1 : 0;
    for (int row = 0; row < kRows; ++row) {
      int32_t acc[kProbeChannels];
      uint8_t y[kProbeChannels];
      for (size_t c = 0; c < kProbeChannels; ++c) acc[c] = RandomAccumulator(random, set, c);
      requant(set.args, acc, y);
      for (size_t c = 0; c < kProbeChannels; ++c) {
        const int32_t expected = set.Expected(c, acc[c]);
        ASSERT_EQ(y[c], static_cast<uint8_t>(expected))
            << "seed " << seed << " channel " << c << " acc " << acc[c] << " words "
            << set.multiplier[c] << " " << set.rshift[c] << " zero " << set.args.zero_y;
      }
    }
  }
  EXPECT_EQ(by_ratio > kSets / 10, rounding == Rounding::kHalfUp);
}

class RequantForms : public ::testing::TestWithParam<Rounding> {};

TEST_P(RequantForms, Avx2EqualsNumerics) {
  if (!CpuSupports(Isa::kAvx2)) GTEST_SKIP() << "this CPU has no avx2";
  ExpectEqualsNumerics(GetParam(), RequantAvx2);
}

TEST_P(RequantForms, Avx512EqualsNumerics) {
  if (!CpuSupports(Isa::kAvx512Vnni)) GTEST_SKIP() << "this CPU has no avx512vnni";
  ExpectEqualsNumerics(GetParam(), RequantAvx512);
}

INSTANTIATE_TEST_SUITE_P(All, RequantForms, ::testing::ValuesIn(kAllRoundings),
                         [](const auto& param) {
                           return "Rounding" + std::to_string(static_cast<int>(param.param));
                         });

}  // namespace
}  // namespace rshift::testing
