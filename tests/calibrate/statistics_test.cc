#include "calibrate/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "calibrate/tensor_counter.h"
#include "calibrate/value_scan.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/random_statistics.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kSeed = 11;

TEST(HistogramPageTest, CountsBeyond32BitsAndEqualsByValue) {
  HistogramPage grown, other;
  for (int i = 0; i < 5; ++i) grown.Add(3, 0x40000001u);
  grown.Add(7, 1);
  EXPECT_EQ(grown[3], 5 * uint64_t{0x40000001u});
  EXPECT_EQ(grown[7], 1u);
  EXPECT_EQ(grown[8], 0u);
  other.Add(7, 1);
  EXPECT_FALSE(grown == other);
  other.Add(3, 5 * uint64_t{0x40000001u});
  EXPECT_TRUE(grown == other);
}

// Of counters that are near the end of 32 bits, with a bound that is above all of them: they stay
// narrow as long as they fit, whatever the bound says, and lose nothing.
TEST(HistogramPageTest, TakesManyCountsAcross32Bits) {
  HistogramPage page, expected;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 9; ++round) {
    std::vector<uint32_t> counts(HistogramPage::kBins);
    for (size_t bin = 0; bin < counts.size(); bin += 1 + random() % 40)
      counts[bin] = static_cast<uint32_t>(random() % 0x40000000u);
    counts[512] = 0x20000001u;
    for (size_t bin = 0; bin < counts.size(); ++bin) expected.Add(bin, counts[bin]);
    page.Take(std::span<uint32_t, HistogramPage::kBins>(counts), 0x40000000u);
    EXPECT_TRUE(IsZeroPage(std::span<const uint32_t, HistogramPage::kBins>(counts)));
    EXPECT_TRUE(page == expected) << "round " << round;
    EXPECT_EQ(page[512], (round + 1) * uint64_t{0x20000001u});
  }
  EXPECT_EQ(page.Open(1), nullptr);
  HistogramPage narrow;
  for (int i = 0; i < 100; ++i) ASSERT_NE(narrow.Open(0x10000000u), nullptr) << i;
}

TEST(StatisticsTest, BinsCoverEveryValue) {
  std::mt19937 random(kSeed);
  std::vector<float> values = RandomValues(random, 1000);
  const float extremes[] = {std::numeric_limits<float>::max(),
                            -std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(),
                            -std::numeric_limits<float>::denorm_min(),
                            1.0f,
                            -1.0f,
                            0.0f,
                            -0.0f};
  values.insert(values.end(), std::begin(extremes), std::end(extremes));
  TensorStatistics statistics = Empty("t");
  Add(statistics, values, "s");
  const auto bins = Bins(statistics);
  uint64_t count = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    count += bins[i].count;
    EXPECT_LE(bins[i].low, bins[i].high);
    if (i > 0) {
      EXPECT_LE(bins[i - 1].high, bins[i].low);
    }
  }
  EXPECT_EQ(count, values.size());
  for (const float v : values) {
    const bool covered = std::any_of(bins.begin(), bins.end(), [&](const WeightedBin& bin) {
      return bin.low <= v && v <= bin.high;
    });
    EXPECT_TRUE(covered) << v;
  }
}

TEST(StatisticsTest, AnySplitAndOrderGivesTheSame) {
  std::mt19937 random(kSeed);
  std::vector<std::vector<float>> parts;
  for (int i = 0; i < 12; ++i) parts.push_back(RandomValues(random, 50 + i * 13));
  StatisticsFile whole{"m", 1, "", {}, {}, {Empty("t")}};
  for (const auto& part : parts) Add(whole.tensors[0], part, "s");
  for (int round = 0; round < 10; ++round) {
    std::shuffle(parts.begin(), parts.end(), random);
    std::vector<TensorStatistics> shards(3, Empty("t"));
    for (size_t i = 0; i < parts.size(); ++i) Add(shards[random() % 3], parts[i], "s");
    StatisticsFile merged{"m", 1, "", {}, {}, {Empty("t")}};
    for (const auto& shard : shards) Merge(merged.tensors[0], shard);
    EXPECT_EQ(WriteStatistics(merged), WriteStatistics(whole))
        << "seed " << kSeed << ", round " << round;
  }
}

TEST(StatisticsTest, NamesTensorAndSampleOfBadValues) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    TensorStatistics statistics = Empty("conv3");
    const std::string error = ErrorOf([&] {
      Add(statistics, std::vector<float>{1, bad, 2}, "dog.jpg");
    });
    EXPECT_THAT(error, HasSubstr("'conv3'"));
    EXPECT_THAT(error, HasSubstr("'dog.jpg'"));
    EXPECT_EQ(statistics.count, 0u);
  }
}

// The formula of the header, value by value.
TensorStatistics Expected(const std::vector<float>& values) {
  TensorStatistics expected = Empty("t");
  for (const float v : values) {
    const uint32_t bits = std::bit_cast<uint32_t>(v);
    if (v == 0)
      ++expected.histogram.zeros;
    else
      expected.histogram.pages[bits >> 23].Add((bits >> 13) % 1024, 1);
  }
  expected.min = *std::min_element(values.begin(), values.end()) + 0.0f;
  expected.max = *std::max_element(values.begin(), values.end()) + 0.0f;
  expected.count = values.size();
  ++expected.peaks[PeakBin(std::max(-expected.min, expected.max))];
  return expected;
}

// Values of `octaves` octaves, a fifth of them 0, some equal, some not normal.
std::vector<float> WideValues(std::mt19937& random, size_t count, float octaves, float largest) {
  std::uniform_real_distribution<float> exponent(-octaves, 0);
  std::vector<float> values(count);
  for (float& v : values) {
    v = random() % 5 == 0 ? 0.0f : largest * std::exp2(exponent(random));
    if (random() % 3 == 0) v = -v;
    if (random() % 50 == 0) v = largest;
    if (random() % 1000 == 0) v = std::bit_cast<float>(static_cast<uint32_t>(random() % 20000));
  }
  return values;
}

// Large tensors have counters of their own for the octaves below the largest value, which a later
// sample may exceed.
TEST(StatisticsTest, LargeTensorsAreCountedInTheSameBins) {
  std::mt19937 random(kSeed);
  for (const float octaves : {0.5f, 8.0f, 19.0f, 60.0f, 120.0f}) {
    TensorCounter counter;
    TensorMemory memory;
    StatisticsFile counted{"m", 1, "", {}, {}, {Empty("t")}}, expected = counted;
    for (const float largest : {1e-3f, 6.0f, 1e-20f, 5e4f, 3e38f, 1e-42f, 6.0f}) {
      const std::vector<float> values =
          WideValues(random, 8192 + random() % 3000, octaves, largest);
      counter.Count(values, {}, "t", "s", memory);
      counter.AddTo(counted.tensors[0], {}, memory);
      Merge(expected.tensors[0], Expected(values));
    }
    EXPECT_EQ(WriteStatistics(counted), WriteStatistics(expected))
        << "seed " << kSeed << ", octaves " << octaves;
  }
}

// Small tensors and large ones, whose counters have 64 bits already.
TEST(StatisticsTest, WidePagesAreCountedToo) {
  std::mt19937 random(kSeed);
  for (const size_t size : {500, 9000}) {
    const std::vector<float> values = WideValues(random, size, 3, 6);
    StatisticsFile counted{"m", 1, "", {}, {}, {Empty("t")}};
    Add(counted.tensors[0], values, "s");
    for (auto& [id, page] : counted.tensors[0].histogram.pages) {
      page.Add(7, 0x180000000u);
      counted.tensors[0].count += 0x180000000u;
    }
    StatisticsFile expected = counted;
    Add(counted.tensors[0], values, "s");
    Merge(expected.tensors[0], Expected(values));
    EXPECT_EQ(WriteStatistics(counted), WriteStatistics(expected)) << size;
  }
}

TEST(StatisticsTest, TheSamplesOfMinAndMaxAreTheLowestThatHaveThem) {
  const auto sample = [](const char* hash) {
    return RecordedSample{hash, Cat("name of ", hash), {{"x", {Cat(hash, ".jpg")}, 0}}};
  };
  std::vector<TensorStatistics> parts;
  const auto add = [&](const char* hash, const std::vector<float>& values) {
    TensorCounter counter;
    TensorMemory nothing;
    counter.Count(values, {}, "t", hash, nothing);
    parts.push_back(Empty("t"));
    counter.AddTo(parts.back(), sample(hash), nothing);
  };
  add("d", {0, 5}), add("b", {0, 1}), add("c", {0.5f, 5}), add("a", {1, 2});
  std::sort(parts.begin(), parts.end(), [](const auto& x, const auto& y) { return x.max < y.max; });
  std::vector<size_t> order{0, 1, 2, 3};
  do {
    TensorStatistics all = Empty("t");
    for (const size_t part : order) Merge(all, parts[part]);
    EXPECT_EQ(all.min_sample, sample("b"));
    EXPECT_EQ(all.max_sample, sample("c"));
  } while (std::next_permutation(order.begin(), order.end()));
  TensorCounter one;
  TensorMemory memory;
  TensorStatistics both = Empty("t");
  for (const char* hash : {"z", "y"}) {
    one.Count(std::vector<float>{-1, 1}, {}, "t", hash, memory);
    one.AddTo(both, sample(hash), memory);
  }
  EXPECT_EQ(both.min_sample, sample("y"));
  EXPECT_EQ(both.max_sample, sample("y"));
}

TEST(StatisticsTest, LargeTensorsNameWhatIsNotFiniteAndLeaveMasksOut) {
  const float inf = std::numeric_limits<float>::infinity();
  std::mt19937 random(kSeed);
  std::vector<float> values = WideValues(random, 20000, 10, 2);
  const TensorStatistics expected = Expected(values);
  values.insert(values.begin() + 7777, 5, -inf);
  TensorStatistics statistics = Empty("t");
  Add(statistics, values, "s", {.negative = true});
  EXPECT_EQ(statistics.infinities, 5u);
  EXPECT_EQ(statistics.count, expected.count);
  EXPECT_EQ(statistics.min, expected.min);
  EXPECT_EQ(statistics.histogram.pages, expected.histogram.pages);
  values[9000] = std::nanf("");
  EXPECT_THAT(ErrorOf([&] { Add(statistics, values, "dog.jpg", {.negative = true}); }),
              HasSubstr("sample 'dog.jpg': nan"));
  EXPECT_EQ(statistics.histogram.pages, expected.histogram.pages);
  EXPECT_EQ(statistics.infinities, 5u);
}

// Each form of the scan, with windows at both ends and lengths with every rest.
TEST(ValueScanTest, AllFormsGiveTheSame) {
  std::mt19937 random(kSeed);
  const std::vector<ScanFunction> forms = ScanForms();
  for (int round = 0; round < 300; ++round) {
    // Ranges that a window holds, and wider ones.
    const int octaves = round % 2 == 0 ? 40 : 6;
    std::vector<float> values = WideValues(random, random() % 200, 1 + random() % octaves, 6);
    if (round % 3 == 0 && !values.empty())
      values[random() % values.size()] = std::numeric_limits<float>::infinity();
    if (round % 4 == 0 && !values.empty()) values[random() % values.size()] = std::nanf("");
    const uint32_t firsts[] = {1, 112, 129, OctaveWindow::kLastFirst, OctaveWindow::kNothing};
    OctaveWindow window{firsts[random() % std::size(firsts)]};
    std::vector<std::pair<size_t, uint32_t>> frequent;  // and the lowest octave
    if (round % 5 < 2 && window.first != OctaveWindow::kNothing && !values.empty()) {
      const float often = values[random() % values.size()];
      for (size_t i = 0; i < values.size(); i += 3) values[i] = often;
      const auto bits = std::bit_cast<uint32_t>(often);
      window.frequent = (bits >> 31 << 15) |
                        (((bits & 0x7fffffffu) >> 13) - ((window.first - 1) << 10)) % (1u << 15);
    }
    std::vector<std::vector<uint16_t>> near;
    std::vector<std::vector<uint32_t>> far;
    std::vector<std::pair<float, float>> extremes;
    for (const ScanFunction scan : forms) {
      std::vector<uint16_t> bins(values.size() + kScanPadding);
      std::vector<float> others(values.size() + kScanPadding);
      ExtremeLanes lanes;
      SplitValues count;
      scan(values, window, lanes, bins.data(), others.data(), count);
      const Extremes found = lanes.Join();
      frequent.emplace_back(count.frequent, count.lowest);
      near.emplace_back(bins.begin(), bins.begin() + static_cast<int64_t>(count.near));
      far.emplace_back();
      for (size_t i = 0; i < count.far; ++i)
        far.back().push_back(std::bit_cast<uint32_t>(others[i]));
      extremes.emplace_back(found.low + 0.0f, found.high + 0.0f);
    }
    for (size_t form = 1; form < forms.size(); ++form) {
      EXPECT_EQ(near[form], near[0])
          << "seed " << kSeed << ", round " << round << ", form " << form;
      EXPECT_EQ(far[form], far[0]) << "seed " << kSeed << ", round " << round << ", form " << form;
      EXPECT_EQ(frequent[form], frequent[0]);
      EXPECT_EQ(extremes[form], extremes[0]);
    }
  }
}

// The formula of the header for every length of a vectorised loop's rest.
TEST(StatisticsTest, CountsEveryValueInTheBinOfItsTopBits) {
  std::mt19937 random(kSeed);
  for (int size = 1; size < 70; ++size) {
    std::vector<float> values = RandomValues(random, size);
    if (size % 3 == 0) values[static_cast<size_t>(size) / 2] = -0.0f;
    if (size % 4 == 0)
      values[0] = std::bit_cast<float>(static_cast<uint32_t>(random() % 20000));  // subnormal
    TensorStatistics statistics = Empty("t");
    Add(statistics, values, "s");
    const TensorStatistics expected = Expected(values);
    EXPECT_EQ(statistics.histogram.pages, expected.histogram.pages)
        << "seed " << kSeed << ", size " << size;
    EXPECT_EQ(statistics.histogram.zeros, expected.histogram.zeros);
    EXPECT_EQ(statistics.min, expected.min);
    EXPECT_EQ(statistics.max, expected.max);
  }
}

TEST(StatisticsTest, ZerosHaveNoSignWhateverComesFirst) {
  StatisticsFile a{"m", 1, "", {}, {}, {Empty("t")}}, b = a;
  Add(a.tensors[0], std::vector<float>{-0.0f, 1}, "s");
  Add(a.tensors[0], std::vector<float>{0.0f, 1}, "s");
  Add(b.tensors[0], std::vector<float>{0.0f, 1}, "s");
  Add(b.tensors[0], std::vector<float>{-0.0f, 1}, "s");
  EXPECT_EQ(WriteStatistics(a), WriteStatistics(b));
  EXPECT_FALSE(std::signbit(a.tensors[0].min));
}

TEST(StatisticsTest, InfinitiesOfAMaskAreLeftOutAndCounted) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> masked{-inf, 1, -inf, -2, 0, -inf, 3, -inf, -inf, 0.5f};
  TensorStatistics statistics = Empty("t");
  Add(statistics, masked, "s", {.negative = true});
  EXPECT_EQ(statistics.infinities, 5u);
  EXPECT_EQ(statistics.count, 5u);
  EXPECT_EQ(statistics.min, -2);
  EXPECT_EQ(statistics.max, 3);
  Add(statistics, std::vector<float>(20, -inf), "all", {.negative = true});
  EXPECT_EQ(statistics.infinities, 25u);
  EXPECT_EQ(statistics.count, 5u);
  EXPECT_THAT(ErrorOf([&] {
                Add(statistics, {{1.0f, inf}}, "s", {.negative = true});
              }),
              HasSubstr("inf"));
  EXPECT_THAT(ErrorOf([&] { Add(statistics, masked, "s", {.positive = true}); }),
              HasSubstr("-inf"));
}

TEST(StatisticsTest, ScoresThatAllLieBelowTheMaskLimitAreNoMasks) {
  TensorStatistics statistics = Empty("t");
  Add(statistics, std::vector<float>{-9000, -8500, -8000}, "s", {.mask_limit = -5000});
  EXPECT_EQ(statistics.infinities, 0u);
  EXPECT_EQ(statistics.count, 3u);
  EXPECT_EQ(statistics.min, -9000);
  EXPECT_EQ(statistics.max, -8000);
}

TEST(StatisticsTest, FiniteMasksAreLeftOutAsInfinitiesAre) {
  const float inf = std::numeric_limits<float>::infinity();
  const InfinityRule rule{.negative = true, .mask_limit = -5000};
  for (const size_t count : {7u, 20000u}) {
    std::mt19937 random(kSeed);
    std::vector<float> values = WideValues(random, count, 10, 4999);
    const TensorStatistics expected = Expected(values);
    for (const float mask : {-5000.0f, -1e4f, -1e9f, -3.4e38f, -inf})
      values.insert(values.begin() + static_cast<int64_t>(random() % count), mask);
    TensorStatistics statistics = Empty("t");
    Add(statistics, values, "s", rule);
    EXPECT_EQ(statistics.infinities, 5u);
    EXPECT_EQ(statistics.count, count);
    EXPECT_EQ(statistics.min, expected.min);
    EXPECT_EQ(statistics.max, expected.max);
    EXPECT_EQ(statistics.peaks, expected.peaks);
    EXPECT_EQ(statistics.histogram.zeros, expected.histogram.zeros);
    EXPECT_EQ(statistics.histogram.pages, expected.histogram.pages);
    EXPECT_THAT(ErrorOf([&] { Add(statistics, values, "s", {.mask_limit = -5000}); }),
                HasSubstr("-inf found"));
  }
}

TEST(StatisticsTest, PeaksCountSamplesByTheirLargestMagnitude) {
  TensorStatistics statistics = Empty("t");
  for (const float peak : {1.0f, -1.1f, 3.0f}) {
    Add(statistics, std::vector<float>{0.25f, peak}, "s");
  }
  const std::map<uint32_t, uint64_t> expected{{PeakBin(1.0f), 2}, {PeakBin(3.0f), 1}};
  EXPECT_EQ(statistics.peaks, expected);
  EXPECT_EQ(PeakBinLow(PeakBin(3.2f)), 3.0f);
}

}  // namespace
}  // namespace rshift
