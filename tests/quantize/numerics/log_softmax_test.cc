// LogSoftmax of bytes against the C library in long double.
#include "quantize/numerics/log_softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "quantize/numerics/quotient_softmax.h"

namespace rshift::numerics {
namespace {

long double ExactLog(uint64_t sum) {
  return std::log(std::ldexp(static_cast<long double>(sum), -30));
}

void ExpectLog(uint64_t sum) {
  const long double error =
      std::ldexp(static_cast<long double>(LogOfSum(sum)), -26) - ExactLog(sum);
  // The straight line is below by 2^-19 at most; T, ln 2 and the two roundings are 2^-22 together.
  ASSERT_LE(error, 0x1p-22L) << sum;
  ASSERT_GE(error, -0x1p-19L - 0x1p-22L) << sum;
}

TEST(LogSoftmax, LogarithmOfASum) {
  EXPECT_EQ(LogOfSum(uint64_t{1} << 30), 0);
  for (int bits = 30; bits < 50; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    for (const uint64_t sum : {power, power + 1, 2 * power - 1}) ExpectLog(sum);
    for (uint64_t part = 0; part < 4096; ++part) ExpectLog(power + part * (power >> 12) + part);
  }
  EXPECT_LT(LogOfSum((uint64_t{1} << 62) - 1), int64_t{1} << 31);
}

TEST(LogSoftmax, TheLogarithmNeverFalls) {
  std::mt19937_64 random(26);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t sum = (random() >> (2 + random() % 32)) | uint64_t{1} << 30;
    ASSERT_LE(LogOfSum(sum), LogOfSum(sum + 1 + random() % 3)) << sum;
  }
}

struct Scales {
  float x, y;
  int32_t zero;
};

// The bound of NUMERICS.md section 26.
void ExpectRow(const Scales& s, const std::vector<int32_t>& differences) {
  const std::array<int32_t, 256> table = QuotientSoftmaxTable(s.x);
  uint64_t sum = 0;
  long double real_sum = 0;
  for (const int32_t d : differences) {
    sum += static_cast<uint64_t>(table[static_cast<size_t>(d)]);
    real_sum += std::exp(-static_cast<long double>(d) * static_cast<long double>(s.x));
  }
  const LogSoftmaxScale scale = MakeLogSoftmaxScale(s.x, s.y);
  const int64_t start = LogSoftmaxStart(sum, scale, s.zero);
  const auto n = static_cast<long double>(differences.size());
  for (const int32_t d : differences) {
    const long double units =
        (d * static_cast<long double>(s.x) + std::log(real_sum)) / static_cast<long double>(s.y);
    const long double bound = 0.5L + 0x1p-14L +
                              (0x1p-18L + n * 0x1p-31L) / static_cast<long double>(s.y) +
                              units * 0x1p-31L;
    const long double held = std::clamp<long double>(s.zero - units, -128, 127);
    ASSERT_LE(std::fabs(LogSoftmaxNumber(d, start, scale, -128, 127) - held), bound)
        << "d " << d << " n " << n << " scales " << s.x << " " << s.y;
  }
}

TEST(LogSoftmax, RandomRowsAreWithinTheBound) {
  std::mt19937_64 random(27);
  const auto real = [&](double from, double to) {
    return static_cast<float>(from *
                              std::pow(to / from, static_cast<double>(random() >> 11) * 0x1p-53));
  };
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE(i);
    const int64_t lengths[] = {1, 2, 10, 21, 197, 1000, 5000};
    std::vector<int32_t> row(static_cast<size_t>(lengths[random() % 7]));
    const uint64_t reach = 1 + random() % 256;
    for (int32_t& d : row) d = static_cast<int32_t>(random() % reach);
    row[random() % row.size()] = 0;
    ExpectRow({real(1e-4, 2), real(1e-3, 1), static_cast<int32_t>(random() % 256) - 128}, row);
  }
}

TEST(LogSoftmax, TheLongestRowIsWithinTheBound) {
  std::vector<int32_t> row(size_t{1} << 20);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<int32_t>(i % 256);
  ExpectRow({0.1f, 0.055f, 127}, row);
}

TEST(LogSoftmax, ExtremeScalesSaturate) {
  const std::vector<int32_t> row = {0, 1, 255};
  for (const float y : {1e-30f, 1e-12f, 1e12f, 1e30f}) {
    for (const float x : {1e-30f, 1e-6f, 1.0f, 1e30f}) {
      const LogSoftmaxScale scale = MakeLogSoftmaxScale(x, y);
      const int64_t start = LogSoftmaxStart(uint64_t{3} << 30, scale, 5);
      const double log = std::log(3.0) / static_cast<double>(y);
      for (const int32_t d : row) {
        const double units = 5 - log - d * (static_cast<double>(x) / static_cast<double>(y));
        const double held = std::clamp(units, -128.0, 127.0);
        EXPECT_NEAR(LogSoftmaxNumber(d, start, scale, -128, 127), held, 0.5 + 1e-3)
            << x << " " << y << " " << d;
      }
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
