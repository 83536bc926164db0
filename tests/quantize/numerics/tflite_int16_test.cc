#include "quantize/numerics/tflite_int16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rshift::numerics {
namespace {

__extension__ using Wide = __int128;

// The definition, with the multiplier's own 15 bits.
TEST(TfLiteInt16, WideMultiplierHasFifteenBits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52,
                                    static_cast<int>(random() % 36) - 30);
    const RequantWords whole = TfLiteMultiplier(scale);
    const int64_t reduced = std::min<int64_t>((int64_t{whole.multiplier} + 32768) >> 16, 32767);
    const auto acc = static_cast<int64_t>(random() % (uint64_t{2} << 38)) - (int64_t{1} << 38);
    const int shift = whole.rshift - 16;
    const Wide exact = (Wide{acc} * reduced + (Wide{1} << (shift - 1))) >> shift;
    const auto held = static_cast<int32_t>(exact < -32768 ? -32768 : exact > 32767 ? 32767 : exact);
    ASSERT_EQ(RequantizeWide(acc, TfLiteWideMultiplier(scale), 0, -32768, 32767), held) << scale;
  }
  EXPECT_EQ(TfLiteWideMultiplier(1.0 - 0x1p-31).multiplier, 0x7fff << 16);
  EXPECT_EQ(TfLiteWideMultiplier(0).multiplier, 0);
}

TEST(TfLiteInt16, ShiftedSumsDivideAndAdd) {
  const auto away = [](int32_t v, int shift) {
    const double x = std::ldexp(static_cast<double>(v), -shift);
    return static_cast<int32_t>(std::round(x));
  };
  for (const int shift : {0, 1, 2, 7, 15, 16, 17}) {
    const ShiftedSumWords sum =
        TfLiteShiftedSumInt16(std::ldexp(1.0f, -10 - shift), 0x1p-10f, 0x1p-10f, false);
    const ShiftedSumWords difference =
        TfLiteShiftedSumInt16(0x1p-10f, std::ldexp(1.0f, -10 - shift), 0x1p-10f, true);
    for (int32_t a = -32768; a < 32768; a += 7) {
      const int32_t b = (a * 31) % 32768;
      ASSERT_EQ(ShiftedSumInt16(a, b, sum, 0, -65536, 65536), away(a, shift) + b);
      ASSERT_EQ(ShiftedSumInt16(b, a, difference, 0, -65536, 65536), b - away(a, shift));
    }
  }
}

// Lines between the entries are nowhere far from the function.
TEST(TfLiteInt16, TablesFollowTheirFunctions) {
  const auto range = TfLiteTableRangeOf<float>(2e-4f, 0, 2e-4f);
  const auto table = TfLiteTable<float>(range, [](float x) { return std::tanh(x); });
  ASSERT_EQ(table.size(), 513u);
  for (int32_t q = -32768; q < 32768; ++q)
    // Half of the line's 0.32, three roundings of an entry, one of the result.
    ASSERT_NEAR(LookUpInt16(table.data(), q), std::tanh(q * 2e-4) / 2e-4, 2.2) << q;
  // Entries are 65535 / 512 numbers apart, lines 128: one number at the end, 5 units of exp.
  const std::vector<int16_t> softmax = TfLiteSoftmaxTables();
  for (int32_t q = -32768; q < 32768; ++q) {
    const double x = (q - 32767) * 10.0 / 65535.0, p = (q + 32768) / 65535.0;
    ASSERT_NEAR(LookUpInt16(softmax.data(), q), std::exp(x) * 32767.5, 6.5) << q;
    ASSERT_NEAR(LookUpInt16(softmax.data() + kSoftmaxInt16Entries, q), 32767.5 / (1 + p), 2.0) << q;
  }
}

TEST(TfLiteInt16, LogisticAndTanh) {
  const auto table = TfLiteLogisticTable();
  EXPECT_EQ(table[0], 32768);
  EXPECT_EQ(table[4], 35493);  // 35492.36, and half of the line's error of 0.33: rounded up
  EXPECT_EQ(table[255], 65535);
  for (const float scale : {0x1p-12f, 0x1p-11f, 0x1p-13f, 2e-4f, 1e-5f, 3e-3f}) {
    const TfLiteLogisticInput input = TfLiteLogisticInputOf(scale, true);
    for (int32_t q = -32768; q < 32768; q += 3) {
      const double x = q * static_cast<double>(scale), logistic = 1 / (1 + std::exp(-x));
      ASSERT_NEAR(TfLiteLogisticInt16(table, q, input), logistic * 32768, 2.5) << scale << " " << q;
      ASSERT_NEAR(TfLiteTanhInt16(table, q, input), std::tanh(x) * 32768, 5) << scale << " " << q;
    }
  }
}

}  // namespace
}  // namespace rshift::numerics
