// LiteRT's neighbours and coefficients, against real coordinates.
#include "quantize/numerics/tflite_resize.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rshift::numerics {
namespace {

constexpr TfLiteCorners kCorners[] = {TfLiteCorners::kAsymmetric, TfLiteCorners::kAligned,
                                      TfLiteCorners::kHalfPixel};

double Coordinate(const TfLiteResizeAxis& axis, int64_t at) {
  const auto i = static_cast<double>(at), in = static_cast<double>(axis.in),
             out = static_cast<double>(axis.out);
  double x = i * in / out;
  if (axis.corners == TfLiteCorners::kAligned) x = axis.out > 1 ? i * (in - 1) / (out - 1) : 0;
  if (axis.corners == TfLiteCorners::kHalfPixel) x = (i + 0.5) * in / out - 0.5;
  return std::min(std::max(x, 0.0), in - 1);
}

// Where the pair lies between its two elements, of coefficients with that sum.
template <typename Pair>
double Place(const Pair& pair, double unit) {
  return (static_cast<double>(pair.low) * static_cast<double>(pair.to_low) +
          static_cast<double>(pair.high) * static_cast<double>(pair.to_high)) /
         unit;
}

TEST(TfLiteResizeTest, PairsLieAtTheCoordinate) {
  for (const TfLiteCorners corners : kCorners) {
    for (int64_t in : {1, 2, 3, 7, 33, 64}) {
      for (int64_t out : {1, 2, 5, 33, 70, 513}) {
        const TfLiteResizeAxis axis{corners, in, out};
        for (int64_t at = 0; at < out; ++at) {
          const double x = Coordinate(axis, at);
          const auto ten = TfLiteIntegerPair(axis, at);
          // The step is rounded to 2^-10.
          EXPECT_NEAR(Place(ten, 1024), x, (static_cast<double>(at) + 2) / 2048);
          EXPECT_EQ(ten.to_low + ten.to_high, 1024);
          EXPECT_GE(std::min(ten.to_low, ten.to_high), 0);
          const auto real = TfLiteFloatPair(axis, at);
          EXPECT_NEAR(Place(real, 1), x, 1e-4);
          const auto eleven = XnnpackPair(axis, at);
          EXPECT_NEAR(Place(eleven, 2048), x, 3e-4);
          EXPECT_EQ(eleven.to_low + eleven.to_high, 2048);
          for (const int64_t index :
               {ten.low, ten.high, real.low, real.high, eleven.low, eleven.high})
            EXPECT_TRUE(index >= 0 && index < in) << index;
        }
      }
    }
  }
}

// The rounded step carries the last output element to element 33, which is not there.
TEST(TfLiteResizeTest, ThePairBeyondTheImageIsItsLastElement) {
  const auto pair = TfLiteIntegerPair({TfLiteCorners::kAsymmetric, 33, 513}, 512);
  EXPECT_EQ(pair.low, 32);
  EXPECT_EQ(pair.high, 32);
  EXPECT_EQ(pair.to_low, 1024);
}

TEST(TfLiteResizeTest, SumsAreRoundedHalfAway) {
  EXPECT_EQ(TfLiteResized(1 << 19), 1);
  EXPECT_EQ(TfLiteResized(-(1 << 19)), -1);
  EXPECT_EQ(TfLiteResized(-(1 << 19) + 1), 0);
  EXPECT_EQ(TfLiteResized((1 << 19) - 1), 0);
  EXPECT_EQ(TfLiteResized(-(int64_t{32768} << 20)), -32768);
}

}  // namespace
}  // namespace rshift::numerics
