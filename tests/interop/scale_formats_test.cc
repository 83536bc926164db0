// Every format that is written is read back, random sets and damaged texts.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "interop/formats.h"

namespace rshift {
namespace {

constexpr uint32_t kSeed = 20261122;

bool IsWritten(const ScaleFormat& format) { return format.write != nullptr; }

double RandomScale(std::mt19937& random) {
  const int exponent = static_cast<int>(random() % 20) - 14;
  return std::ldexp(1.0 + static_cast<double>(random() % (1U << 23)) / (1U << 23), exponent);
}

ScaleEntry RandomEntry(std::mt19937& random, int number) {
  ScaleEntry entry{.name = Cat("layer/", number, ".w:0")};
  const bool weights = random() % 3 == 0;
  if (weights) entry.subject = Subject::kWeights;
  const size_t count = weights ? 1 + random() % 5 : 1;
  for (size_t i = 0; i < count; ++i) entry.scales.push_back(RandomScale(random));
  entry.is_signed = weights || random() % 2 == 0;
  if (!*entry.is_signed) entry.zero_points = {static_cast<int64_t>(random() % 256)};
  return entry;
}

ScaleSet RandomSet(std::mt19937& random) {
  ScaleSet set;
  set.format = "test";
  const int count = 1 + static_cast<int>(random() % 6);
  for (int i = 0; i < count; ++i) set.entries.push_back(RandomEntry(random, i));
  return set;
}

const ScaleEntry* Find(const ScaleSet& set, const std::string& name) {
  for (const ScaleEntry& entry : set.entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<int64_t> ZeroPoints(const ScaleEntry& entry) {
  std::vector<int64_t> zeros = entry.zero_points;
  zeros.resize(entry.scales.size(), 0);
  return zeros;
}

TEST(ScaleFormats, FormatsWithZeroPointsGiveScalesAndZeroPointsBackExactly) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const ScaleSet set = RandomSet(random);
    for (const char* name : {"rshift-scales", "aimet-0.6", "aimet-1.0"}) {
      Losses losses;
      const std::string text = FindScaleFormat(name).write(set, {}, &losses);
      const ScaleSet back = ReadScales(text, "back", "");
      EXPECT_EQ(back.format, name);
      ASSERT_EQ(back.entries.size(), set.entries.size()) << text;
      for (const ScaleEntry& entry : set.entries) {
        const ScaleEntry* found = Find(back, entry.name);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->scales, entry.scales) << name << " seed " << kSeed;
        EXPECT_EQ(ZeroPoints(*found), ZeroPoints(entry)) << text;
        EXPECT_EQ(found->is_signed, entry.is_signed) << text;
        EXPECT_EQ(found->subject, entry.subject);
      }
    }
  }
}

TEST(ScaleFormats, TensorRtGivesFloatScalesBackExactly) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    ScaleSet set;
    set.format = "test";
    ScaleEntry entry{.name = "a: tensor with blanks"};
    entry.scales = {static_cast<double>(static_cast<float>(RandomScale(random)))};
    entry.is_signed = true;
    set.entries = {entry};
    Losses losses;
    const std::string text = FindScaleFormat("tensorrt").write(set, {}, &losses);
    const ScaleSet back = ReadScales(text, "back", "");
    EXPECT_EQ(back.entries[0].scales, entry.scales) << text;
    EXPECT_EQ(back.entries[0].name, entry.name);
    EXPECT_TRUE(losses.empty());
  }
}

TEST(ScaleFormats, WhatAFormatCannotHoldIsCounted) {
  ScaleSet set;
  set.format = "test";
  ScaleEntry shifted{.name = "x"};
  shifted.scales = {0.5};
  shifted.zero_points = {3};
  shifted.is_signed = true;
  ScaleEntry weights{.name = "w", .subject = Subject::kWeights};
  weights.scales = {0.5, 0.25};
  set.entries = {shifted, weights};
  Losses losses;
  FindScaleFormat("tensorrt").write(set, {}, &losses);
  const std::vector<std::string> lines = LossLines(losses);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            "scales of weights left out: TensorRT's caches hold activations by tensor (1)");
  EXPECT_EQ(lines[1], "zero points left out: TensorRT's caches have none (1)");
}

TEST(ScaleFormats, ThresholdsBecomeScalesByTheRuleOfTheFormat) {
  ScaleEntry entry{.name = "x"};
  entry.threshold = 12.7;
  EXPECT_DOUBLE_EQ(SymmetricScalesOf(entry)[0], 0.1);
  entry.threshold.reset();
  entry.scales = {0.5};
  EXPECT_EQ(ThresholdOf(entry, 127), 63.5);
  EXPECT_EQ(ThresholdOf(entry, 128), 64);
  entry.is_signed = false;
  EXPECT_EQ(ThresholdOf(entry, 128), 127.5);
  entry.scales.clear();
  entry.is_signed.reset();
  entry.low = {-64};  // the ends of s8 with scale 0.5
  entry.high = {63.5};
  EXPECT_EQ(SymmetricScalesOf(entry)[0], 0.5);
  EXPECT_EQ(AxisQuantParamsOf(entry, false).zero_points[0], 0);
  entry.low = {-1};
  entry.high = {4.1};
  EXPECT_DOUBLE_EQ(AxisQuantParamsOf(entry, false).scales[0], 5.1 / 255);
  EXPECT_EQ(AxisQuantParamsOf(entry, false).zero_points[0], 50);
}

TEST(ScaleFormats, DamagedTextsAreReadOrRefusedByOneError) {
  std::mt19937 random(kSeed);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    ScaleSet set = RandomSet(random);
    set.precisions["conv1"] = "F32";
    const auto formats = ScaleFormats();
    const ScaleFormat& format = formats[random() % formats.size()];
    if (!IsWritten(format)) continue;
    for (ScaleEntry& entry : set.entries) {
      if (std::string(format.name) == "ncnn") {
        entry.subject = Subject::kLayerInput;
        entry.scales.resize(1);
      }
    }
    Losses losses;
    std::string text = format.write(set, {}, &losses);
    for (int change = 0; change < 3 && !text.empty(); ++change) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 8));
      }
    }
    try {
      ReadScales(text, "damaged", format.name);
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace rshift
