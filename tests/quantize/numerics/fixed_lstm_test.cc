// The functions of a fixed-point LSTM cell against their definitions.
#include "quantize/numerics/fixed_lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rshift::numerics {
namespace {

// Every argument there is, in every format of a state; the last steps of Newton's method leave some
// units.
TEST(FixedLstm, TanhErrsByFewUnits) {
  for (int32_t integer_bits = 0; integer_bits <= 6; ++integer_bits) {
    SCOPED_TRACE(integer_bits);
    double worst = 0;
    for (int32_t a = -32768; a <= 32767; ++a) {
      const int32_t y = fixed16::Tanh(a, integer_bits);
      worst = std::max(worst, std::fabs(y - 32768 * std::tanh(std::ldexp(a, integer_bits - 15))));
      if (a > -32768) {
        ASSERT_EQ(fixed16::Tanh(-a, integer_bits), -y) << a;
      }
    }
    EXPECT_LE(worst, 30);
    EXPECT_EQ(fixed16::Tanh(0, integer_bits), 0);
  }
}

TEST(FixedLstm, LogisticErrsByFewUnits) {
  double worst = 0;
  for (int32_t a = -32768; a <= 32767; ++a) {
    const int32_t y = fixed16::Logistic(a);
    ASSERT_TRUE(y >= 0 && y <= fixed16::kOne) << a;
    worst = std::max(worst, std::fabs(y - 32768 / (1 + std::exp(-std::ldexp(a, -12)))));
  }
  EXPECT_LE(worst, 30);
}

TEST(FixedLstm, AGateIsTheSumOfTwoRoundedProductsEachHeld) {
  const RequantWords half = {1 << 30, 31}, twice = {1 << 30, 29};
  EXPECT_EQ(FixedGate(5, half, 0), 3);    // 2.5: half up
  EXPECT_EQ(FixedGate(-5, half, 0), -2);  // -2.5: half up
  EXPECT_EQ(FixedGate(5, {1 << 30, 32}, 0), 2);
  EXPECT_EQ(FixedGate(-6, {1 << 30, 32}, 0), -2);  // -1.5: away from zero
  EXPECT_EQ(FixedGate(100000, half, 0), 32767);
  EXPECT_EQ(FixedGate(-100000, half, 0), -32768);
  EXPECT_EQ(FixedGate(-100000, half, 32767), -17233);
  EXPECT_EQ(FixedGate(1 << 28, twice, 0), 32767);
  EXPECT_EQ(FixedGate(1 << 29, twice, 0), -32768);                  // shifted modulo 2^32
  EXPECT_EQ(FixedGate(INT32_MAX, {INT32_MAX, 31}, 32767), -32768);  // added modulo 2^32
  EXPECT_EQ(FixedGate(INT32_MAX, {0, 0}, 77), 77);
}

TEST(FixedLstm, TheNextStateErrsByTwoHalvesOfAUnitAndIsHeld) {
  std::mt19937_64 random(1);
  const auto pick = [&](int32_t lo, int32_t hi) {
    const auto which = random() % 8;
    if (which < 2) return which == 0 ? lo : hi;
    return static_cast<int32_t>(lo + static_cast<int64_t>(random() % (int64_t{hi} - lo + 1)));
  };
  for (int i = 0; i < 300000; ++i) {
    const int32_t keep = pick(0, 32767), state = pick(-32768, 32767), take = pick(0, 32767);
    const int32_t fresh = pick(-32767, 32767), bits = pick(9, 15), most = pick(1, 32767);
    const double units = keep / 32768.0 * state + std::ldexp(take / 32768.0 * fresh, bits - 15);
    const int32_t held = FixedNextState(keep, state, take, fresh, bits, {-most, most});
    ASSERT_LE(std::fabs(held - std::min(std::max<double>(units, -most), double(most))), 1)
        << keep << " " << state << " " << take << " " << fresh << " " << bits;
  }
  EXPECT_EQ(FixedNextState(32767, 32767, 32767, 32767, 15, {-32768, 32767}), 32767);
  EXPECT_EQ(FixedNextState(32767, -32768, 32767, -32767, 15, {-32768, 32767}), -32768);
}

TEST(FixedLstm, TheOutputIsRoundedThenMovedThenHeld) {
  const RequantWords words = {1 << 30, 53};  // 2^-23
  EXPECT_EQ(FixedOutput(1 << 12, 1 << 12, words, 10, {-128, 127}), 12);
  EXPECT_EQ(FixedOutput(1 << 12, -(3 << 10), words, 10, {-128, 127}), 8);  // -1.5: away from zero
  EXPECT_EQ(FixedOutput(32767, 32767, words, 10, {-128, 127}), 127);
  EXPECT_EQ(FixedOutput(32767, -32767, words, -10, {-100, 127}), -100);
}

}  // namespace
}  // namespace rshift::numerics
