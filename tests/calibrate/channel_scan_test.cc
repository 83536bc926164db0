#include "calibrate/channel_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace rshift {
namespace {

// Normal, tiny and huge values, zeros of both signs; now and then what is not finite.
std::vector<float> RandomValues(std::mt19937& random, size_t count) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float odd[] = {0.0f, -0.0f, kInf, -kInf, NAN, -NAN, 1e-40f, -1e-45f, 3e38f, -3e38f};
  std::normal_distribution<float> normal(0, 5);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(random() % 7 == 0 ? odd[random() % std::size(odd)] : normal(random));
  return values;
}

TEST(ChannelScan, AgreesWithLongDoubleSums) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const size_t channels = 1 + random() % (seed % 2 == 0 ? 9 : 150), rows = random() % 300;
    const std::vector<float> values = RandomValues(random, channels * rows);
    const ChannelSums sums = ScanChannels(values, channels);
    ASSERT_EQ(sums.peak.size(), channels);
    ASSERT_EQ(sums.squares.size(), channels);
    for (size_t c = 0; c < channels; ++c) {
      float peak = 0;
      long double squares = 0;
      for (size_t i = c; i < values.size(); i += channels) {
        if (!std::isfinite(values[i])) continue;
        peak = std::max(peak, std::fabs(values[i]));
        squares += static_cast<long double>(values[i]) * static_cast<long double>(values[i]);
      }
      EXPECT_EQ(sums.peak[c], peak);
      EXPECT_NEAR(sums.squares[c], static_cast<double>(squares),
                  1e-13 * static_cast<double>(squares));
    }
  }
}

TEST(ChannelScan, EveryFormGivesTheSameBits) {
  const std::vector<ChannelScanFunction> forms = ChannelScanForms();
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const size_t channels = 1 + random() % 150, rows = random() % 90;
    const std::vector<float> values = RandomValues(random, channels * rows);
    std::vector<float> first_peak(channels, 1.0f);
    std::vector<double> first_squares(channels, 0.125);
    forms[0](values.data(), rows, channels, first_peak.data(), first_squares.data());
    for (const ChannelScanFunction form : forms) {
      std::vector<float> peak(channels, 1.0f);
      std::vector<double> squares(channels, 0.125);
      form(values.data(), rows, channels, peak.data(), squares.data());
      EXPECT_EQ(peak, first_peak);
      EXPECT_EQ(squares, first_squares);
    }
  }
}

}  // namespace
}  // namespace rshift
