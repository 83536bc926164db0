#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/checksum.h"
#include "calibrate/statistics.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/random_statistics.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kSeed = 11;

StatisticsFile MakeFile(std::mt19937& random, const std::string& sample) {
  StatisticsFile file{"abc", 3, "inputs: []", {{"cpu", "x"}}, {{sample + "hash", sample}}, {}};
  for (const char* name : {"a", "b"}) {
    file.tensors.push_back(Empty(name));
    Add(file.tensors.back(), RandomValues(random, 300), sample);
  }
  return file;
}

TEST(StatisticsFileTest, RoundTrip) {
  std::mt19937 random(kSeed);
  StatisticsFile file = MakeFile(random, "one");
  file.tensors.push_back(Empty("never seen"));
  const auto bytes = WriteStatistics(file);
  const StatisticsFile read = ReadStatistics(bytes, "f");
  EXPECT_EQ(read.model_sha256, "abc");
  EXPECT_EQ(read.pass_list_version, 3);
  EXPECT_EQ(read.preprocess, file.preprocess);
  EXPECT_EQ(read.samples, file.samples);
  EXPECT_EQ(read.tensors[1].histogram.pages, file.tensors[1].histogram.pages);
  EXPECT_EQ(WriteStatistics(read), bytes);
}

TEST(StatisticsFileTest, EqualizationIsKept) {
  std::mt19937 random(kSeed);
  StatisticsFile file = MakeFile(random, "one");
  file.equalization = {{"a", {-64, 0, 64}}, {"b", {}}};
  const auto bytes = WriteStatistics(file);
  EXPECT_EQ(ReadStatistics(bytes, "f").equalization, file.equalization);
  EXPECT_EQ(WriteStatistics(ReadStatistics(bytes, "f")), bytes);
  file.equalization[0].exponents[0] = -65;
  EXPECT_THAT(ErrorOf([&] { ReadStatistics(WriteStatistics(file), "f"); }),
              HasSubstr("exponent -65"));
  StatisticsFile other = MakeFile(random, "two");
  EXPECT_THAT(ErrorOf([&] { Merge(other, file); }), HasSubstr("equalized differently"));
}

// Machines that each try something else have the model's own tensors in common.
TEST(StatisticsFileTest, TrialsAreKeptAndAMergeOfDifferentOnesHasNone) {
  const auto make = [](const std::string& sample, const Equalization& trial, float scaled) {
    StatisticsFile file;
    file.model_sha256 = "m";
    file.samples = {{sample, sample}};
    file.trial = trial;
    const auto add = [&](const std::string& name, float value) {
      file.tensors.push_back(Empty(name));
      Add(file.tensors.back(), std::vector{value}, sample);
    };
    add(trial.empty() ? "a" : "a__equalized", trial.empty() ? 1.0f : scaled);
    add("b", 3);
    if (!trial.empty()) add("a__unequalized", 1);
    return file;
  };
  const StatisticsFile one = make("one", {{"a", {1, 0}}}, 0.5f);
  EXPECT_EQ(ReadStatistics(WriteStatistics(one), "f").trial, one.trial);
  StatisticsFile same = one;
  Merge(same, make("two", {{"a", {1, 0}}}, 0.5f));
  EXPECT_EQ(same.trial, one.trial);
  EXPECT_EQ(same.tensors[0].name, "a__equalized");
  StatisticsFile expected = make("one", {}, 0);
  Merge(expected, make("two", {}, 0));
  for (const Equalization& other : {Equalization{{"a", {2, 0}}}, Equalization{}}) {
    StatisticsFile merged = one;
    Merge(merged, make("two", other, 0.25f));
    EXPECT_EQ(WriteStatistics(merged), WriteStatistics(expected));
  }
}

TEST(StatisticsFileTest, SamplesOfExtremesAreKept) {
  std::mt19937 random(kSeed);
  StatisticsFile file = MakeFile(random, "one");
  const RecordedSample low{"h1", "one", {{"x", {"a.jpg", "b.jpg"}, 0}}}, high{"h2", "two", {}};
  file.tensors[0].min_sample = file.tensors[1].max_sample = low;
  file.tensors[1].min_sample = high;
  const auto bytes = WriteStatistics(file);
  const StatisticsFile read = ReadStatistics(bytes, "f");
  EXPECT_EQ(read.tensors[0].min_sample, low);
  EXPECT_EQ(read.tensors[0].max_sample, RecordedSample());
  EXPECT_EQ(read.tensors[1].min_sample, high);
  EXPECT_EQ(read.tensors[1].max_sample, low);
  EXPECT_EQ(WriteStatistics(read), bytes);
}

TEST(StatisticsFileTest, MergeIsOrderFreeAndRefusesWhatDoesNotBelong) {
  std::mt19937 random(kSeed);
  StatisticsFile a = MakeFile(random, "one"), b = MakeFile(random, "two");
  b.environment["cpu"] = "y";
  StatisticsFile ab = a, ba = b;
  Merge(ab, b);
  Merge(ba, a);
  EXPECT_EQ(WriteStatistics(ab), WriteStatistics(ba));
  EXPECT_EQ(ab.environment["cpu"], "x + y");
  EXPECT_EQ(ab.samples.size(), 2u);
  EXPECT_THAT(ErrorOf([&] { Merge(ab, a); }), HasSubstr("both hold sample 'one'"));
  StatisticsFile other = b;
  other.model_sha256 = "def";
  EXPECT_THAT(ErrorOf([&] { Merge(a, other); }), HasSubstr("different models"));
  other = b;
  other.preprocess = "";
  EXPECT_THAT(ErrorOf([&] { Merge(a, other); }), HasSubstr("preprocessing"));
  other = b;
  other.tensors[0].name = "c";
  EXPECT_THAT(ErrorOf([&] { Merge(a, other); }), HasSubstr("different tensors"));
}

TEST(StatisticsFileTest, MergingKeepsTheSamplesOfLowestHashInAnyOrder) {
  std::vector<StatisticsFile> files(3, StatisticsFile{"m", 1, "", {}, {}, {}});
  for (size_t i = 0; i < 60; ++i) {
    const std::string hash = std::to_string(10 + i * 37 % 60), name = "s" + std::to_string(i);
    files[i % 3].samples.emplace_back(hash, name);
    files[i % 3].recorded.push_back({hash, name, {{"x", {"a/" + name}, 0}}});
  }
  for (StatisticsFile& file : files) {
    std::sort(file.samples.begin(), file.samples.end());
    KeepLowest(file.recorded);
  }
  StatisticsFile forward = files[0], backward = files[2];
  for (const size_t i : {1, 2}) Merge(forward, files[i]);
  for (const size_t i : {1, 0}) Merge(backward, files[i]);
  EXPECT_EQ(WriteStatistics(forward), WriteStatistics(backward));
  ASSERT_EQ(forward.recorded.size(), kMaxRecordedSamples);
  for (size_t i = 0; i < kMaxRecordedSamples; ++i) {
    EXPECT_EQ(forward.recorded[i].sha256, std::to_string(10 + i));
  }
  EXPECT_EQ(ReadStatistics(WriteStatistics(forward), "f").recorded, forward.recorded);
}

StatisticsFile ShardOf(const std::string& set, uint32_t index, uint32_t count) {
  const std::string sample = Cat(set, index);
  return {"m", 1, "", {}, {{sample, sample}}, {}, {}, {{set, count, index}}};
}

TEST(StatisticsFileTest, AMergeKnowsWhichShardsAreMissing) {
  StatisticsFile file = ShardOf("s", 3, 4);
  Merge(file, ShardOf("s", 0, 4));
  EXPECT_EQ(MissingShards(file), "1/4, 2/4");
  const auto bytes = WriteStatistics(file);
  EXPECT_EQ(WriteStatistics(ReadStatistics(bytes, "f")), bytes);
  Merge(file, ShardOf("other", 0, 2));
  Merge(file, ShardOf("s", 2, 4));
  Merge(file, ShardOf("s", 1, 4));
  EXPECT_EQ(MissingShards(file), "1/2");
  Merge(file, ShardOf("other", 1, 2));
  EXPECT_EQ(MissingShards(file), "");
  EXPECT_TRUE(file.shards.empty()) << "complete sets leave the bytes of a run in one piece";
}

// Written by hand: model "m", pass list 1, sample h/one, tensor "a" with the value 1 once, in
// version 3 equalized by 5.
std::vector<uint8_t> OldFile(int version) {
  std::vector<uint8_t> content;
  const auto put = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) content.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  const auto text = [&](const std::string& t) {
    put(t.size(), 4);
    content.insert(content.end(), t.begin(), t.end());
  };
  text("m"), put(1, 4), text(""), put(0, 4);
  put(1, 4), text("h"), text("one");
  if (version > 1) put(0, 4), put(0, 4);  // recorded samples, shards
  if (version > 3) put(0, 4);             // samples of min and max
  put(1, 4), text("a"), put(0x3f800000, 4), put(0x3f800000, 4);
  if (version > 3) put(0, 4), put(0, 4);
  put(1, 8), put(0, 8);
  if (version > 1) put(0, 8), put(1, 4), put(PeakBin(1), 2), put(1, 8);
  put(1, 4), put(0x7f, 2), put(1, 2), put(0, 2), put(1, 8);
  if (version > 2) put(1, 4), text("a"), put(1, 4), put(5, 4);
  std::vector<uint8_t> file{'R', 'S', 'T', 'A', 'T', 'S', 0x1a, 0};
  content.swap(file);
  put(static_cast<uint64_t>(version), 4), put(Crc32c(file), 4), put(file.size(), 8);
  content.insert(content.end(), file.begin(), file.end());
  return content;
}

TEST(StatisticsFileTest, ReadsOlderVersions) {
  for (const int version : {1, 2, 3, 4}) {
    const StatisticsFile read = ReadStatistics(OldFile(version), "f");
    ASSERT_EQ(read.tensors.size(), 1u) << version;
    EXPECT_EQ(read.tensors[0].max, 1.0f);
    EXPECT_EQ(read.tensors[0].count, 1u);
    EXPECT_EQ(read.tensors[0].peaks.size(), version > 1 ? 1u : 0u);
    EXPECT_EQ(read.equalization.size(), version > 2 ? 1u : 0u);
    EXPECT_TRUE(read.trial.empty());
    EXPECT_EQ(read.tensors[0].max_sample, RecordedSample());
    EXPECT_EQ(WriteStatistics(ReadStatistics(WriteStatistics(read), "f")), WriteStatistics(read));
  }
}

TEST(StatisticsFileTest, EveryCutAndEveryChangedByteIsNoticed) {
  std::mt19937 random(kSeed);
  StatisticsFile file{"abc", 3, "p", {{"cpu", "x"}}, {{"h", "one"}}, {Empty("a")}};
  Add(file.tensors[0], RandomValues(random, 20), "one");
  const auto good = WriteStatistics(file);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(ErrorOf([&] { ReadStatistics(std::span(good).first(size), "f"); }), kNoError) << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= static_cast<uint8_t>(1 + random() % 255);
    EXPECT_NE(ErrorOf([&] { ReadStatistics(bad, "f"); }), kNoError) << at;
  }
}

TEST(StatisticsFileTest, CraftedContentBehindAGoodChecksumNeverCrashes) {
  std::mt19937 random(kSeed);
  StatisticsFile file{"abc", 3, "p", {{"cpu", "x"}}, {{"h", "one"}}, {Empty("a")}};
  Add(file.tensors[0], RandomValues(random, 20), "one");
  file.tensors[0].min_sample = {"h", "one", {{"x", {"p"}, 0}}};
  const auto good = WriteStatistics(file);
  for (int i = 0; i < 20000; ++i) {
    auto bytes = good;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      bytes[24 + random() % (bytes.size() - 24)] = static_cast<uint8_t>(random());
    const uint32_t crc = Crc32c(std::span(bytes).subspan(24));
    for (int b = 0; b < 4; ++b) bytes[12 + b] = static_cast<uint8_t>(crc >> (8 * b));
    const std::string error = ErrorOf([&] {
      // What is accepted has one encoding.
      EXPECT_EQ(WriteStatistics(ReadStatistics(bytes, "f")), bytes)
          << "seed " << kSeed << ", round " << i;
    });
    (void)error;  // an Error is fine, a crash is not
  }
}

}  // namespace
}  // namespace rshift
