// Ranges of scales: quantization makes the scales again of them.
#include "interop/entry_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "interop/formats.h"
#include "interop/json_file.h"
#include "quantize/numerics/qparams.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

constexpr uint32_t kSeed = 20261123;

float RandomScale(std::mt19937& random) {
  const int exponent = static_cast<int>(random() % 60) - 40;
  return std::ldexp(1.0f + static_cast<float>(random() % (1U << 23)) / (1U << 23), exponent);
}

// 255 steps of some scales (1 in 250) are no float: then it is the next scale.
void ExpectNext(float made, float scale, int* missed) {
  *missed += made != scale;
  EXPECT_TRUE(made == scale || made == std::nextafter(scale, 0.0f) ||
              made == std::nextafter(scale, INFINITY))
      << made << " for " << scale << ", seed " << kSeed;
}

TEST(EntryRange, AffineScalesAndZeroPointsComeBackToTheLastBit) {
  std::mt19937 random(kSeed);
  int missed = 0;
  for (int round = 0; round < 20000; ++round) {
    const float scale = RandomScale(random);
    const bool is_signed = random() % 2 == 0;
    const int zero = static_cast<int>(random() % 256) - (is_signed ? 128 : 0);
    ScaleEntry entry{.name = "x"};
    entry.scales = {static_cast<double>(scale)};
    entry.zero_points = {zero};
    entry.is_signed = is_signed;
    const TensorRange range = RangeOfEntry(entry);
    const QuantParams made = is_signed ? numerics::AsymmetricParams(range.low, range.high)
                                       : numerics::AsymmetricParams(range.low, range.high, 0, 255);
    const int unsigned_zero = zero + (is_signed ? 128 : 0);
    if (unsigned_zero == 0 || unsigned_zero == 255) {
      ExpectNext(made.scale, scale, &missed);
    } else {
      ASSERT_EQ(made.scale, scale) << "seed " << kSeed << " round " << round << " zero " << zero;
    }
    ASSERT_EQ(made.zero_point, zero) << "seed " << kSeed << " round " << round;
  }
  EXPECT_LT(missed, 10);
}

TEST(EntryRange, SymmetricScalesComeBackToTheLastBit) {
  std::mt19937 random(kSeed);
  int missed = 0;
  for (int round = 0; round < 20000; ++round) {
    const float scale = RandomScale(random);
    ScaleEntry entry{.name = "x"};
    entry.scales = {static_cast<double>(scale)};
    entry.is_signed = random() % 2 == 0;
    const float threshold = RangeOfEntry(entry).threshold;
    const float made = numerics::SymmetricParams(threshold, *entry.is_signed).scale;
    if (*entry.is_signed) {
      ASSERT_EQ(made, scale) << "seed " << kSeed << " round " << round;
    } else {
      ExpectNext(made, scale, &missed);
    }
  }
  EXPECT_LT(missed, 100);
}

TEST(EntryRange, ThresholdsAndRangesStay) {
  ScaleEntry entry{.name = "x"};
  entry.threshold = 1.5;
  entry.low = {-1.25};
  entry.high = {2};
  const TensorRange range = RangeOfEntry(entry);
  EXPECT_EQ(range.threshold, 1.5f);
  EXPECT_EQ(range.low, -1.25f);
  EXPECT_EQ(range.high, 2.0f);
}

TEST(ScaleFormats, TheLongestEndingChooses) {
  EXPECT_STREQ(ScaleFormatForPath("net.table.yaml").name, "rshift-table");
  EXPECT_STREQ(ScaleFormatForPath("net.scales.yaml").name, "rshift-scales");
  EXPECT_STREQ(ScaleFormatForPath("net.yaml").name, "rshift-scales");
  EXPECT_STREQ(ScaleFormatForPath("net.aimet0.json").name, "aimet-0.6");
  EXPECT_STREQ(ScaleFormatForPath("net.json").name, "onnxruntime");
  EXPECT_THROW(ScaleFormatForPath("net.txt"), Error);
}

TEST(JsonFile, KeysThatOccurTwiceAndDeepTextsAreRefused) {
  EXPECT_EQ(ParseJson(R"({"a": [{"b": 1}, {"b": 2}], "c": {"b": 1}})", "t")["a"][1]["b"], 2);
  const auto refused = [](const std::string& text) {
    return ErrorOf([&] { ParseJson(text, "t"); });
  };
  EXPECT_EQ(refused(R"({"a": 1, "b": {"c": 1, "c": 2}})"), "t: 'c' occurs twice; keep one of them");
  const std::string lists(63, '['), ends(63, ']');
  EXPECT_EQ(refused("{\"a\": " + lists + ends + "}"), kNoError);
  EXPECT_EQ(refused("{\"a\": [" + lists + ends + "]}"), "t: more than 64 levels of JSON");
  EXPECT_EQ(refused("{\"a\": [" + std::string(1000000, '[')), "t: more than 64 levels of JSON");
}

TEST(ScaleFormats, MoreEntriesThanTheLimitAreRefused) {
  ScaleSet set;
  set.where = "many";
  set.entries.resize(kMaxScaleEntries + 1);
  EXPECT_THROW(CheckScales(set), Error);
}

}  // namespace
}  // namespace rshift
