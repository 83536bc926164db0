// The functions of recurrent cells against their definitions.
#include "quantize/numerics/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "quantize/numerics/recurrent_terms.h"

namespace rshift::numerics {
namespace {

// Every argument there is.
TEST(Recurrent, TanhErrsByLessThanThreeQuartersOfAUnit) {
  const auto table = MakeTanhTable();
  double worst = 0, worst_sigmoid = 0;
  int32_t before = -(1 << kFunctionBits);
  for (int32_t t = -kMostGate; t <= kMostGate; ++t) {
    const int32_t y = TableTanh(table.data(), t);
    const double real = std::tanh(t / 65536.0) * 32768.0;
    worst = std::max(worst, std::fabs(y - real));
    const double sigmoid = 32768.0 / (1.0 + std::exp(-2.0 * t / 65536.0));
    worst_sigmoid = std::max(worst_sigmoid, std::fabs(LogisticOfTanh(y) - sigmoid));
    ASSERT_GE(y, before) << t;
    before = y;
  }
  EXPECT_LE(worst, 0.75);
  EXPECT_LE(worst_sigmoid, 0.88);
  EXPECT_EQ(before, 1 << kFunctionBits);
  EXPECT_EQ(LogisticOfTanh(before), 1 << kFunctionBits);
  EXPECT_EQ(LogisticOfTanh(-before), 0);
  EXPECT_EQ(LogisticOfTanh(TableTanh(table.data(), 0)), 1 << (kFunctionBits - 1));
}

TEST(Recurrent, TheNextStateErrsByLittleMoreThanHalfAUnitAndNeverOverflows) {
  std::mt19937_64 random(1);
  const auto pick = [&](int32_t lo, int32_t hi) {
    const auto which = random() % 8;
    if (which == 0) return lo;
    if (which == 1) return hi;
    return static_cast<int32_t>(lo + static_cast<int64_t>(random() % (int64_t{hi} - lo + 1)));
  };
  for (int i = 0; i < 1000000; ++i) {
    const int32_t keep = pick(0, 32768), state = pick(-32768, 32767), take = pick(0, 32768);
    const int32_t fresh = pick(-32768, 32768), bits = pick(0, 15);
    const double units = keep / 32768.0 * state + std::ldexp(take / 32768.0 * fresh, bits - 15);
    const double held = std::min(std::max(units, -32768.0), 32767.0);
    ASSERT_LE(std::fabs(NextState(keep, state, take, fresh, bits) - held), 0.5 + 1.0 / 32768)
        << keep << " " << state << " " << take << " " << fresh << " " << bits;
  }
}

TEST(Recurrent, AGateIsItsSumToTheNearestUnit) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    const double factor = std::ldexp(static_cast<double>(random() % 1000 + 1), -12);
    const double bias = static_cast<double>(random() % 100000) - 50000;
    const int32_t rshift = GateShift(factor, std::fabs(bias));
    const auto a = static_cast<int32_t>(random() % 400000) - 200000;
    const int32_t b = static_cast<int32_t>(random() % 400000) - 200000;
    const double real = factor * a + factor / 2 * b + bias;
    const double held = std::min(std::max(real, -1.0 * kMostGate), 1.0 * kMostGate);
    const int32_t t = GateSum(a, GateFactor(factor, rshift), b, GateFactor(factor / 2, rshift),
                              GateOffset(bias, rshift), rshift, kMostGate);
    ASSERT_LE(std::fabs(t - held), 0.501) << factor << " " << bias << " " << a << " " << b;
  }
}

TEST(Recurrent, NumbersBeyondEveryBoundSaturate) {
  EXPECT_EQ(GateShift(1e30, 0), 0);
  EXPECT_EQ(GateFactor(1e30, 0), kLargestGateFactor);
  EXPECT_EQ(GateOffset(-1e30, 0), -kLargestGateOffset);
  EXPECT_EQ(GateShift(1e-30, 1), kMostGateRshift);
  EXPECT_EQ(GateFactor(1e-30, kMostGateRshift), 0);
  constexpr int32_t kMost = kLargestGateFactor;
  EXPECT_EQ(GateSum(INT32_MAX, kMost, INT32_MAX, kMost, kLargestGateOffset, 0, kMostGate),
            kMostGate);
  EXPECT_EQ(GateSum(INT32_MIN, kMost, INT32_MIN, kMost, -kLargestGateOffset, 0, kMostGate),
            -kMostGate);
}

TEST(Recurrent, AStateHasTheMostBitsThatItsMagnitudeLeaves) {
  EXPECT_EQ(StateBits(0.0), 15);
  EXPECT_EQ(StateBits(1.0), 15);
  EXPECT_EQ(StateBits(1.01), 14);
  EXPECT_EQ(StateBits(7.5), 12);
  EXPECT_EQ(StateBits(1e9), 0);
  for (int32_t bits = 0; bits <= 15; ++bits) {
    for (const int32_t state : {-32768, -1000, -1, 0, 1, 1000, 32767}) {
      const double real = std::ldexp(state, -bits);
      const double held = std::min(std::max(real, -8.0), 8.0);
      EXPECT_EQ(GateOfState(state, bits), std::ldexp(held, 16)) << state << " " << bits;
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
