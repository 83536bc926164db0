// What the frameworks' parameters may be: bounds, forms and errors of their headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "isa/attributes.h"
#include "quantize/numerics/ascend.h"
#include "quantize/numerics/onednn.h"
#include "quantize/numerics/qnnpack.h"
#include "quantize/numerics/tflite_multiplier.h"
#include "tests/base/error_of.h"

namespace rshift::numerics {
namespace {

using testing::HasSubstr;

TEST(AscendScale, SquareRootWhereHalfCannotHoldTheNumber) {
  EXPECT_EQ(MakeAscendScale(1.0f), (AscendScale{1.0f, false}));
  EXPECT_EQ(MakeAscendScale(65504.0f), (AscendScale{65504.0f, false}));
  EXPECT_EQ(MakeAscendScale(0x1p-14f), (AscendScale{0x1p-14f, false}));
  EXPECT_EQ(MakeAscendScale(0x1p20f), (AscendScale{0x1p10f, true}));
  EXPECT_EQ(MakeAscendScale(0x1p-28f), (AscendScale{0x1p-14f, true}));
  EXPECT_THAT(ErrorOf([] { MakeAscendScale(0x1p-30f); }), HasSubstr("sqrt_mode"));
  EXPECT_THAT(ErrorOf([] { MakeAscendScale(INFINITY); }), HasSubstr("sqrt_mode"));
}

TEST(AscendDeqScale, PacksScaleShiftAndOffset) {
  EXPECT_EQ(PackAscendDeqScale({1.0f, 0, 0}), 0x3f800000u);
  EXPECT_EQ(PackAscendDeqScale({1.0f, 3, -1}), 0x0000ff033f800000u);
}

TEST(Qnnpack, TakesScalesBelowOne) {
  EXPECT_EQ(QnnpackMultiplier(0x1p-32f), (RequantWords{1 << 30, 62}));
  EXPECT_EQ(QnnpackMultiplier(std::nextafter(1.0f, 0.0f)), (RequantWords{0x7fffff80, 31}));
  EXPECT_THAT(ErrorOf([] { QnnpackMultiplier(1.0f); }), HasSubstr("outside [2^-32, 1)"));
  EXPECT_THAT(ErrorOf([] { QnnpackMultiplier(0x1p-33f); }), HasSubstr("outside"));
  EXPECT_EQ(MantissaMultiplier(1.0f), (RequantWords{1 << 30, 30}));
  EXPECT_EQ(MantissaMultiplier(0x1.8p30f), (RequantWords{3 << 29, 0}));
  EXPECT_EQ(MantissaMultiplier(0x1p31f), (RequantWords{INT32_MAX, 0}));
  EXPECT_EQ(MantissaMultiplier(0x1p-33f), RequantWords{});
}

TEST(Qnnpack, AddTakesRatiosOfItsRange) {
  EXPECT_TRUE(QnnpackAdd(1.0f, 0x1p-14f, 1.0f).ok);
  EXPECT_FALSE(QnnpackAdd(1.0f, 0x1p-15f, 1.0f).ok);
  EXPECT_FALSE(QnnpackAdd(256.0f, 1.0f, 1.0f).ok);
  const QnnpackAddFactors largest = QnnpackAdd(255.99f, 255.99f, 1.0f);
  ASSERT_TRUE(largest.ok);
  EXPECT_LE(int64_t{255} * largest.multiplier_a + int64_t{255} * largest.multiplier_b, INT32_MAX);
}

TEST(TfLiteMultiplier, EndsAsTfLiteEnds) {
  EXPECT_EQ(TfLiteMultiplier(0.0), RequantWords{});
  EXPECT_EQ(TfLiteMultiplier(0x1p-33), RequantWords{});
  EXPECT_EQ(TfLiteMultiplier(0x1p-32), (RequantWords{1 << 30, 62}));
  EXPECT_EQ(TfLiteMultiplier(0x1p40), (RequantWords{INT32_MAX, 1}));
  EXPECT_EQ(TfLiteMultiplier(1.0), (RequantWords{1 << 30, 30}));
}

}  // namespace
}  // namespace rshift::numerics
