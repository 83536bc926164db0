// Average pooling in the frameworks' forms (PoolArithmetic 1 to 6) against their definitions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

struct Pool {
  int64_t n, ih, iw, c, kh, kw, sh, sw, pt, pl, oh, ow;
  TensorSpec from, to;
  bool include_pad = false;
  Bytes data;
  ProgramBuilder builder;

  // `whole`: no pads, so that every window has kh * kw taps.
  Pool(Random& random, int64_t mode, bool whole) {
    n = random.Int(1, 2), kh = random.Int(1, 4), kw = random.Int(1, 4);
    c = random.Int(0, 3) == 0 ? random.Int(200, 300) : random.Int(1, 20);
    sh = random.Int(1, 3), sw = random.Int(1, 3), oh = random.Int(1, 4), ow = random.Int(1, 4);
    pt = whole ? 0 : random.Int(0, kh - 1), pl = whole ? 0 : random.Int(0, kw - 1);
    ih = std::max<int64_t>(1, (oh - 1) * sh + kh - pt),
    iw = std::max<int64_t>(1, (ow - 1) * sw + kw - pl);
    from = {random.Byte(), {n, ih, iw, c}, random.Float(0.01f, 0.3f)};
    to = {random.Byte(), {n, oh, ow, c}, random.Float(0.01f, 0.3f)};
    from.zero_point = random.Zero(from.dtype);
    to.zero_point = random.Zero(to.dtype);
    data = random.Data(n * ih * iw * c);
    const int32_t src = builder.Input(from), dst = builder.Output(to);
    builder.Add(Opcode::kAveragePool, dst, src).Set(Field::kMode, mode);
    command().Set(Field::kKernelH, kh).Set(Field::kKernelW, kw).Set(Field::kStrideH, sh);
    command().Set(Field::kStrideW, sw).Set(Field::kPadTop, pt).Set(Field::kPadLeft, pl);
    command().Set(Field::kClampLoQ, Lowest(to.dtype)).Set(Field::kClampHiQ, Highest(to.dtype));
    if (!whole && mode != 1) include_pad = random.Int(0, 1) == 0;
    command().Set(Field::kFlags, include_pad ? 1 : 0);
  }
  Command& command() { return builder.image.commands[0]; }
  int32_t lo() const { return Lowest(to.dtype); }
  int32_t hi() const { return Highest(to.dtype); }

  // The values of the taps in the image, in window order, and the number that counts.
  struct Window {
    std::vector<int32_t> values;
    int32_t count = 0;
    int64_t channel = 0;
  };
  Window At(int64_t i) const {
    Window w;
    w.channel = i % c;
    const int64_t m = i / c;
    for (int64_t tap = 0; tap < kh * kw; ++tap) {
      const int64_t y = m / ow % oh * sh - pt + tap / kw, x = m % ow * sw - pl + tap % kw;
      const bool inside = y >= 0 && y < ih && x >= 0 && x < iw;
      if (inside)
        w.values.push_back(Value(data[((m / ow / oh * ih + y) * iw + x) * c + i % c], from.dtype));
      w.count += inside || include_pad ? 1 : 0;
    }
    return w;
  }
  template <typename F>
  void ExpectEach(const F& expected) {
    Bytes bytes;
    for (int64_t i = 0; i < n * oh * ow * c; ++i)
      bytes.push_back(static_cast<uint8_t>(expected(At(i))));
    ASSERT_EQ(RunEverywhere(builder, {data}), bytes);
  }
};

int32_t Sum(const Pool::Window& w) {
  int32_t sum = 0;
  for (const int32_t v : w.values) sum += v;
  return sum;
}

TEST(AveragePoolForms, IntegerDivisionRoundsHalfAwayFromZero) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pool p(random, 1, false);
    p.ExpectEach([&](const Pool::Window& w) {
      return ToByte(static_cast<double>(Sum(w)) / static_cast<double>(w.values.size()),
                    RealRounding::kAway, 0, p.lo(), p.hi());
    });
  }
}

TEST(AveragePoolForms, DequantizedTapsAddUpInWindowOrder) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pool p(random, 2, false);
    const int32_t shift = p.to.dtype == DType::kS8 ? 128 : 0;
    p.ExpectEach([&](const Pool::Window& w) {
      float total = 0;
      for (const int32_t v : w.values)
        total += static_cast<float>(v - p.from.zero_point) * p.from.scale;
      const float mean = total / static_cast<float>(w.count);
      const float y = mean / p.to.scale + static_cast<float>(p.to.zero_point + shift);
      return ToByte(y, RealRounding::kEven, -shift, p.lo(), p.hi());
    });
  }
}

TEST(AveragePoolForms, RequantizedSumUnderEveryRounding) {
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pool p(random, 3, true);
    const Rounding rounding =
        std::array{Rounding::kHalfUp,        Rounding::kTwoStep,  Rounding::kFloatEven,
                   Rounding::kFloatZeroEven, Rounding::kHalfAway, Rounding::kTwoStepUp}[seed % 6];
    Words words = RandomWords(random, rounding, static_cast<int>(random.Int(0, 4)), false);
    // LiteRT divides its multiplier by the number of taps.
    if (IsInteger(rounding)) words.multiplier /= static_cast<int32_t>(random.Int(1, 9));
    p.command().Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    p.command().Set(Field::kRounding, static_cast<int64_t>(rounding));
    p.ExpectEach([&](const Pool::Window& w) {
      const auto count = static_cast<int32_t>(w.values.size());
      return Requantized(rounding, Sum(w) - count * p.from.zero_point, words, p.to.zero_point,
                         p.lo(), p.hi());
    });
  }
}

TEST(AveragePoolForms, ScaledSumRoundsHalfAwayFromZero) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pool p(random, 4, false);
    const float scale = seed % 3 == 0 ? 0.5f : random.Float(0.1f, 2.0f);
    p.command().SetFloat(Field::kScaleF, scale);
    p.ExpectEach([&](const Pool::Window& w) {
      const auto inside = static_cast<int32_t>(w.values.size());
      const float factor = scale / static_cast<float>(w.count);
      const float y = static_cast<float>(Sum(w) - inside * p.from.zero_point) * factor;
      return ToByte(y, RealRounding::kAway, p.to.zero_point, p.lo(), p.hi());
    });
  }
}

TEST(AveragePoolForms, MeanIsCentredThenScaledAndShifted) {
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pool p(random, 6, false);
    const float scale = random.Float(0.1f, 2.0f), offset = random.Float(0.0f, 255.0f);
    p.command().SetFloat(Field::kScaleF, scale).SetFloat(Field::kOffsetF, offset);
    const int32_t less = p.to.dtype == DType::kS8 ? 128 : 0;
    p.ExpectEach([&](const Pool::Window& w) {
      const auto pads = w.count - static_cast<int32_t>(w.values.size());
      const auto total = static_cast<float>(Sum(w) + pads * p.from.zero_point);
      const float mean = total / static_cast<float>(w.count);
      const float scaled = (mean - static_cast<float>(p.from.zero_point)) * scale;
      return ToByte(scaled + offset, RealRounding::kEven, -less, p.lo(), p.hi());
    });
  }
}

TEST(AveragePoolForms, RawSumWithAllZeroPointsInTheOffset) {
  for (uint32_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pool p(random, 5, true);
    const Rounding rounding =
        std::array{Rounding::kTwoStep, Rounding::kFloatZeroEven, Rounding::kTwoStepUp}[seed % 3];
    const Words words = RandomWords(random, rounding, static_cast<int>(random.Int(0, 4)), false);
    const float offset = rounding == Rounding::kFloatZeroEven
                             ? random.Float(-200.0f, 200.0f)
                             : static_cast<float>(random.Int(-200, 200));
    p.command().Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
    p.command().Set(Field::kRounding, static_cast<int64_t>(rounding));
    p.command().SetFloat(Field::kOffsetF, offset);
    p.ExpectEach([&](const Pool::Window& w) {
      if (rounding == Rounding::kFloatZeroEven) {
        const float scaled = static_cast<float>(Sum(w)) * std::bit_cast<float>(words.multiplier);
        return ToByte(scaled + offset, RealRounding::kEven, 0, p.lo(), p.hi());
      }
      // Behind the last full block of 16 channels the second rounding is away from zero.
      const bool remainder = w.channel >= p.c / 16 * 16;
      return Saturate(ScaledInteger(remainder ? Rounding::kTwoStep : rounding, Sum(w), words) +
                          static_cast<int64_t>(offset),
                      p.lo(), p.hi());
    });
  }
}

}  // namespace
}  // namespace rshift::testing
