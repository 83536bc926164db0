#include "quantize/numerics/real_rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rshift::numerics {
namespace {

double ByLibrary(double v, RealRounding rounding) {
  switch (rounding) {
    case RealRounding::kEven:
      return std::nearbyint(v);
    case RealRounding::kAway:
      return std::round(v);
    case RealRounding::kFloor:
      return std::floor(v);
    case RealRounding::kCeil:
      return std::ceil(v);
    case RealRounding::kTruncate:
      return std::trunc(v);
  }
  return 0;
}

// Every tie and every integer that a byte with a zero point can meet, with both neighbours.
TEST(RealRounding, EveryTieAndItsNeighbours) {
  for (int mode = 0; mode < kRealRoundingCount; ++mode) {
    const auto rounding = static_cast<RealRounding>(mode);
    for (int halves = -2048; halves <= 2048; ++halves) {
      const float at = static_cast<float>(halves) / 2;
      for (const float v : {std::nextafter(at, -1e9f), at, std::nextafter(at, 1e9f)}) {
        ASSERT_EQ(RoundReal(v, rounding), static_cast<int32_t>(ByLibrary(v, rounding)))
            << v << " " << mode;
      }
    }
    for (const float v : {4194303.5f, -4194303.5f, 4194304.0f, 4194302.5f}) {
      ASSERT_EQ(RoundReal(v, rounding), static_cast<int32_t>(ByLibrary(v, rounding))) << v;
    }
  }
}

TEST(RealRounding, SaturatesAsIfTheClampCameLast) {
  for (int mode = 0; mode < kRealRoundingCount; ++mode) {
    const auto rounding = static_cast<RealRounding>(mode);
    for (const int32_t zero : {-128, -1, 0, 127, 255}) {
      for (int quarters = -2400; quarters <= 2400; ++quarters) {
        const float v = static_cast<float>(quarters) / 4;
        const double y = ByLibrary(v, rounding) + zero;
        const double expected = y < -100 ? -100 : y > 90 ? 90 : y;
        ASSERT_EQ(RoundToByteBy(rounding, v, zero, -100, 90), static_cast<int32_t>(expected))
            << v << " zero " << zero << " mode " << mode;
      }
    }
  }
}

TEST(RealRounding, NanInfinitiesAndSubnormals) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  for (int mode = 0; mode < kRealRoundingCount; ++mode) {
    const auto rounding = static_cast<RealRounding>(mode);
    EXPECT_EQ(QuantizeValueBy(rounding, std::nanf(""), 0.5f, 7, -128, 127), 7);
    EXPECT_EQ(QuantizeValueBy(rounding, std::nanf(""), 0.5f, 7, 10, 127), 10);
    EXPECT_EQ(QuantizeValueBy(rounding, kInfinity, 0.5f, 7, -128, 127), 127);
    EXPECT_EQ(QuantizeValueBy(rounding, -kInfinity, 0.5f, 7, -128, 127), -128);
    EXPECT_EQ(QuantizeValueBy(rounding, 1e38f, 1e-38f, 7, -128, 127), 127);
    EXPECT_EQ(QuantizeValueBy(rounding, kTiny, 1.0f, 0, -128, 127),
              rounding == RealRounding::kCeil ? 1 : 0);
    EXPECT_EQ(QuantizeValueBy(rounding, -kTiny, 1.0f, 0, -128, 127),
              rounding == RealRounding::kFloor ? -1 : 0);
  }
}

}  // namespace
}  // namespace rshift::numerics
