#include "quantize/numerics/average_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rshift::numerics {
namespace {

TEST(AveragePoolTest, EqualScalesGiveTheRoundedMean) {
  EXPECT_EQ(AveragePool(10, 4, 1.0f, 0.0f, -128, 127), 2);   // 2.5 to even
  EXPECT_EQ(AveragePool(14, 4, 1.0f, 0.0f, -128, 127), 4);   // 3.5 to even
  EXPECT_EQ(AveragePool(-9, 4, 1.0f, 0.0f, -128, 127), -2);  // -2.25
  EXPECT_EQ(AveragePool(2000, 4, 1.0f, 0.0f, -128, 127), 127);
}

TEST(AveragePoolTest, TheOffsetIsAdded) {
  // All taps are the real 0: the result must be Zy. The seed's "- Offset" would give -Zy + ...
  const float scale = 0.5f;
  const int32_t zero_x = -40, zero_y = 13;
  const float offset = AveragePoolOffset(scale, zero_x, zero_y);
  EXPECT_EQ(offset, 33.0f);
  EXPECT_EQ(AveragePool(9 * zero_x, 9, scale, offset, -128, 127), zero_y);
}

TEST(AveragePoolTest, IsWithinHalfAUnitOfTheRealMean) {
  std::mt19937 random(6);
  for (int i = 0; i < 100000; ++i) {
    const int32_t count = 1 + static_cast<int32_t>(random() % 400);
    const float scale = 0.1f + static_cast<float>(random() % 1000) / 400.0f;
    const int32_t zero_x = static_cast<int32_t>(random() % 256) - 128;
    const int32_t zero_y = static_cast<int32_t>(random() % 256) - 128;
    const int32_t sum = count * (static_cast<int32_t>(random() % 256) - 128);
    const double exact =
        static_cast<double>(scale) * (static_cast<double>(sum) / count - zero_x) + zero_y;
    const float offset = AveragePoolOffset(scale, zero_x, zero_y);
    ASSERT_NEAR(AveragePool(sum, count, scale, offset, -128, 127),
                std::fmin(std::fmax(exact, -128.0), 127.0), 0.501)
        << sum << " / " << count;
  }
}

}  // namespace
}  // namespace rshift::numerics
