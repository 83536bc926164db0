#include "calibrate/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/error.h"
#include "calibrate/environment.h"
#include "calibrate/tensor_counter.h"

namespace rshift {
namespace {

// The interval of one bin on the positive side; `page` without its sign.
std::pair<double, double> BinInterval(uint32_t page, int bin) {
  const uint32_t low_bits =
      (page << Histogram::kPageShift) | (static_cast<uint32_t>(bin) << Histogram::kBinShift);
  const uint32_t high_bits = low_bits + (1u << Histogram::kBinShift);
  const double low = std::bit_cast<float>(low_bits);
  // The last bin of the largest octave ends where infinity begins.
  const double high =
      high_bits == 0x7f800000u ? std::ldexp(1.0, 128) : std::bit_cast<float>(high_bits);
  return {low, high};
}

constexpr uint32_t kNegative = 0x100;  // of a page: the sign

size_t UsedBins(const HistogramPage& page) {
  size_t used = 0;
  for (size_t i = 0; i < HistogramPage::kBins; ++i) used += page[i] != 0 ? 1 : 0;
  return used;
}

constexpr int kPeakShift = Histogram::kPageShift - 2;

// "a + b" as a set of names. On machines of one kind both are equal.
std::string Union(const std::string& a, const std::string& b) {
  constexpr std::string_view kBetween = " + ";
  std::set<std::string> names;
  for (const std::string& text : {a, b}) {
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(kBetween, at), text.size());
      names.insert(text.substr(at, end - at));
      at = end + kBetween.size();
    }
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : std::string(kBetween)) + name;
  return all;
}

}  // namespace

uint32_t PeakBin(float magnitude) { return std::bit_cast<uint32_t>(magnitude) >> kPeakShift; }

float PeakBinLow(uint32_t bin) { return std::bit_cast<float>(bin << kPeakShift); }

void Add(TensorStatistics& statistics, std::span<const float> values, const std::string& sample,
         const InfinityRule& rule) {
  TensorCounter counter;
  TensorMemory nothing;
  counter.Count(values, rule, statistics.name, sample, nothing);
  counter.AddTo(statistics, {.sha256 = {}, .name = sample, .sources = {}}, nothing);
}

void TakeExtremes(TensorStatistics& into, float min, const RecordedSample& min_sample, float max,
                  const RecordedSample& max_sample) {
  const bool first = into.count == 0;
  if (first || min < into.min || (min == into.min && min_sample < into.min_sample))
    into.min_sample = min_sample;
  if (first || max > into.max || (max == into.max && max_sample < into.max_sample))
    into.max_sample = max_sample;
  into.min = first ? min : std::min(into.min, min);
  into.max = first ? max : std::max(into.max, max);
}

void Merge(TensorStatistics& into, const TensorStatistics& other) {
  for (const auto& [bin, samples] : other.peaks) into.peaks[bin] += samples;
  MergePart(into, other);
}

void MergePart(TensorStatistics& into, const TensorStatistics& other) {
  into.infinities += other.infinities;
  if (other.count == 0) return;
  TakeExtremes(into, other.min, other.min_sample, other.max, other.max_sample);
  into.count += other.count;
  into.histogram.zeros += other.histogram.zeros;
  for (const auto& [page, counts] : other.histogram.pages) {
    HistogramPage& bins = into.histogram.pages[page];
    for (size_t i = 0; i < HistogramPage::kBins; ++i) bins.Add(i, counts[i]);
  }
}

std::vector<WeightedBin> Bins(const TensorStatistics& statistics) {
  const std::map<uint32_t, HistogramPage>& pages = statistics.histogram.pages;
  const auto first_negative = pages.lower_bound(kNegative);
  size_t count = statistics.histogram.zeros > 0 ? 1 : 0;
  for (const auto& [page, counts] : pages) count += UsedBins(counts);
  std::vector<WeightedBin> bins;
  bins.reserve(count);
  // Larger magnitudes come first.
  for (auto page = pages.end(); page != first_negative;) {
    --page;
    for (size_t i = HistogramPage::kBins; i-- > 0;) {
      const uint64_t values = page->second[i];
      if (values == 0) continue;
      const auto [low, high] = BinInterval(page->first & ~kNegative, static_cast<int>(i));
      bins.push_back({-high, -low, values});
    }
  }
  if (statistics.histogram.zeros > 0) bins.push_back({0, 0, statistics.histogram.zeros});
  for (auto page = pages.begin(); page != first_negative; ++page) {
    for (size_t i = 0; i < HistogramPage::kBins; ++i) {
      const uint64_t values = page->second[i];
      if (values == 0) continue;
      const auto [low, high] = BinInterval(page->first, static_cast<int>(i));
      bins.push_back({low, high, values});
    }
  }
  return bins;
}

namespace {

// The shards of [begin, end) are of one set; calls visit(begin, end) for each.
template <typename Visit>
void ForEachSet(const std::vector<ShardId>& shards, const Visit& visit) {
  for (auto begin = shards.begin(); begin != shards.end();) {
    const auto end = std::find_if(begin, shards.end(), [&](const ShardId& shard) {
      return shard.set != begin->set || shard.count != begin->count;
    });
    visit(begin, end);
    begin = end;
  }
}

std::vector<ShardId> WithoutCompleteSets(const std::vector<ShardId>& shards) {
  std::vector<ShardId> left;
  ForEachSet(shards, [&](auto begin, auto end) {
    if (end - begin != begin->count) left.insert(left.end(), begin, end);
  });
  return left;
}

}  // namespace

std::string MissingShards(const StatisticsFile& file) {
  constexpr size_t kMaxNamed = 10;
  std::string missing;
  size_t count = 0;
  ForEachSet(file.shards, [&](auto begin, auto end) {
    auto at = begin;
    for (uint32_t index = 0; index < begin->count; ++index) {
      if (at != end && at->index == index)
        ++at;
      else if (++count <= kMaxNamed)
        missing += Cat(count == 1 ? "" : ", ", index, "/", begin->count);
    }
  });
  if (count > kMaxNamed) missing += Cat(" and ", count - kMaxNamed, " more");
  return missing;
}

namespace {

// As if nothing had been left to a trial: its tensors as the model has them, in place of the scaled
// ones.
void DropTrial(StatisticsFile& file) {
  std::map<std::string, std::string> unequalized;  // by the scaled name
  for (const ChannelExponents& entry : file.trial)
    unequalized[Cat(entry.tensor, kEqualizedSuffix)] = Cat(entry.tensor, kUnequalizedSuffix);
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < file.tensors.size(); ++i) places[file.tensors[i].name] = i;
  std::set<size_t> moved;
  for (const auto& [scaled, plain] : unequalized) {
    const auto from = places.find(plain), to = places.find(scaled);
    if (from == places.end() || to == places.end()) continue;
    file.tensors[to->second] = std::move(file.tensors[from->second]);
    file.tensors[to->second].name = ModelName(scaled);
    moved.insert(from->second);
  }
  size_t place = 0;
  std::erase_if(file.tensors, [&](const TensorStatistics&) { return moved.contains(place++); });
  file.trial.clear();
}

}  // namespace

void Merge(StatisticsFile& into, const StatisticsFile& other) {
  const auto refuse = [](const char* what) {
    Fail(ErrorCode::kInvalidInput, "statistics cannot be merged: ", what);
  };
  if (into.model_sha256 != other.model_sha256) refuse("they are of different models");
  if (into.pass_list_version != other.pass_list_version)
    refuse("they were made with different pass lists");
  if (into.preprocess != other.preprocess) refuse("they were made with different preprocessing");
  if (IsPortable(into.environment) != IsPortable(other.environment))
    refuse("some were measured with --portable and some without (measure all of them alike)");
  // Machines with samples of their own try other tensors: what is common is the model without.
  if (into.trial != other.trial) {
    StatisticsFile without = other;
    DropTrial(into);
    DropTrial(without);
    return Merge(into, without);
  }
  if (into.equalization != other.equalization)
    refuse(
        "their tensors were equalized differently (give all runs --equalize TABLE.yaml of the "
        "first, or --equalize off)");
  if (into.tensors.size() != other.tensors.size()) refuse("they hold different tensors");
  std::vector<std::pair<std::string, std::string>> all;
  std::merge(into.samples.begin(), into.samples.end(), other.samples.begin(), other.samples.end(),
             std::back_inserter(all));
  for (const auto& sample : other.samples) {
    if (std::binary_search(into.samples.begin(), into.samples.end(), sample)) {
      refuse(Cat("both hold sample '", sample.second, "'").c_str());
    }
  }
  for (size_t i = 0; i < into.tensors.size(); ++i) {
    if (into.tensors[i].name != other.tensors[i].name) refuse("they hold different tensors");
  }
  std::vector<ShardId> shards;
  std::merge(into.shards.begin(), into.shards.end(), other.shards.begin(), other.shards.end(),
             std::back_inserter(shards));
  into.shards = WithoutCompleteSets(shards);
  into.samples = std::move(all);
  into.recorded.insert(into.recorded.end(), other.recorded.begin(), other.recorded.end());
  KeepLowest(into.recorded);
  for (const auto& [key, value] : other.environment) {
    const auto [at, is_new] = into.environment.try_emplace(key, value);
    if (!is_new) at->second = Union(at->second, value);
  }
  for (size_t i = 0; i < into.tensors.size(); ++i) Merge(into.tensors[i], other.tensors[i]);
}

}  // namespace rshift
