#include "quantize/numerics/softmax_row.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rshift::numerics {
namespace {

struct Row {
  int32_t sum, scale, rshift;
};

// By an independent implementation in Python integers, which equals LiteRT's reference Softmax.
constexpr Row kRows[] = {
    {524288, 2147483647, 23},     {524289, 2147479552, 23},     {569192, 1978066996, 23},
    {648444, 1736310162, 23},     {786432, 1431655762, 23},     {1048575, 1073742844, 23},
    {1048576, 2147483647, 24},    {1048577, 2147481596, 24},    {1659017, 1357309670, 24},
    {1888773, 1192202458, 24},    {2294554, 1962734212, 25},    {3005485, 1498460188, 25},
    {4864297, 1851695994, 26},    {6203590, 1451933356, 26},    {9342158, 1928290926, 27},
    {14550687, 1238044534, 27},   {23340935, 1543588424, 28},   {25446677, 1415854690, 28},
    {48003910, 1501077602, 29},   {53244124, 1353343590, 29},   {116624319, 1235721582, 30},
    {131282873, 1097745540, 30},  {172362562, 1672233070, 31},  {221264260, 1302652202, 31},
    {347012083, 1661212334, 32},  {455324514, 1266043744, 32},  {537670894, 2144288480, 33},
    {1059493417, 1088181846, 33}, {1073741824, 2147483647, 34}, {1073741825, 2147483647, 34},
    {1394147697, 1653944564, 34}, {1410881726, 1634327650, 34}, {2147483646, 1073741822, 34},
    {2147483647, 1073741820, 34},
};

TEST(SoftmaxRow, ReciprocalOfASum) {
  for (const Row& row : kRows) {
    const RowReciprocal r = Reciprocal(row.sum);
    EXPECT_EQ(r.scale, row.scale) << row.sum;
    EXPECT_EQ(r.rshift, row.rshift) << row.sum;
  }
}

TEST(SoftmaxRow, ReciprocalIsWithinAFewUnitsOfTheQuotient) {
  for (int64_t sum = 1 << 19; sum < int64_t{1} << 31; sum += 99991) {
    const RowReciprocal r = Reciprocal(static_cast<int32_t>(sum));
    // scale * 2^-31 / 2^(rshift - 23) is 1 / (sum * 2^-19).
    const double value = std::ldexp(static_cast<double>(r.scale), -31 - (r.rshift - 23));
    const double exact = std::ldexp(1.0, 19) / static_cast<double>(sum);
    ASSERT_NEAR(value / exact, 1.0, 0x1p-27) << sum;
  }
}

TEST(SoftmaxRow, OneElementIsTheWholeAndSaturates) {
  const RowReciprocal row = Reciprocal(ToAccumulation(INT32_MAX));
  EXPECT_EQ(SoftmaxFixedPoint(INT32_MAX, row, -128, -128, 127), 127);
  EXPECT_EQ(SoftmaxFixedPoint(0, row, -128, -128, 127), -128);
  EXPECT_EQ(SoftmaxFixedPoint(INT32_MAX / 2, row, 0, 0, 255), 128);
}

// From 512 equal elements on each is below half a unit: 0, where TFLite's shift is undefined.
TEST(SoftmaxRow, ManyEqualElementsAreZero) {
  const int32_t each = ToAccumulation(INT32_MAX);
  for (const int32_t count : {513, 1000, 2047, 2048, 4095}) {
    EXPECT_EQ(SoftmaxFixedPoint(INT32_MAX, Reciprocal(each * count), 0, 0, 255), 0) << count;
  }
  EXPECT_EQ(SoftmaxFixedPoint(INT32_MAX, Reciprocal(each * 500), 0, 0, 255), 1);
}

TEST(SoftmaxRow, FloatTableRoundsByTheOutputsType) {
  EXPECT_EQ(SoftmaxFloatTable(2.5f, 1.0f, true, 0, -128, 127), 3);  // away from zero
  EXPECT_EQ(SoftmaxFloatTable(3.5f, 1.0f, true, 0, -128, 127), 4);
  EXPECT_EQ(SoftmaxFloatTable(2.5f, 1.0f, false, 0, 0, 255), 3);
  // The largest number below 1/2: adding 1/2 rounds up to 1.
  const float below = std::nextafter(0.5f, 0.0f);
  EXPECT_EQ(SoftmaxFloatTable(below, 1.0f, true, 0, -128, 127), 0);
  EXPECT_EQ(SoftmaxFloatTable(below, 1.0f, false, 0, 0, 255), 1);
  EXPECT_EQ(SoftmaxFloatQuotient(2.5f, 1.0f, 1.0f, 0, -128, 127), 2);  // to even
  EXPECT_EQ(SoftmaxFloatQuotient(3e38f, 2.0f, 3e38f, 5, 0, 255), 5);   // infinite
}

TEST(SoftmaxRow, UnitsAreTheFloorOfTheReciprocal) {
  EXPECT_EQ(SoftmaxUnits(1.0f / 256), 256.0f);
  EXPECT_EQ(SoftmaxUnits(0.3f), 3.0f);
  EXPECT_EQ(SoftmaxUnits(2.0f), 0.0f);
  EXPECT_EQ(SoftmaxUnits(1e-9f), 1.0f / 1e-9f);
}

}  // namespace
}  // namespace rshift::numerics
