#include "quantize/numerics/table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rshift::numerics {
namespace {

TEST(TableTest, BytesStandForTheirValues) {
  EXPECT_EQ(ValueOfByte(0, true), 0);
  EXPECT_EQ(ValueOfByte(127, true), 127);
  EXPECT_EQ(ValueOfByte(128, true), -128);
  EXPECT_EQ(ValueOfByte(255, true), -1);
  EXPECT_EQ(ValueOfByte(255, false), 255);
}

TEST(TableTest, RoundsToEvenAndSaturates) {
  EXPECT_EQ(QuantizeReal(2.5, 1.0f, 0, -128, 127), 2);
  EXPECT_EQ(QuantizeReal(3.5, 1.0f, 10, -128, 127), 14);
  EXPECT_EQ(QuantizeReal(INFINITY, 1.0f, 10, -128, 127), 127);
  EXPECT_EQ(QuantizeReal(-INFINITY, 1.0f, 10, 0, 255), 0);
  EXPECT_EQ(QuantizeReal(std::nan(""), 1.0f, 10, -128, 127), 10);  // log of a negative number
  EXPECT_EQ(QuantizeReal(1e308, 1e-30f, 0, -128, 127), 127);
}

}  // namespace
}  // namespace rshift::numerics
