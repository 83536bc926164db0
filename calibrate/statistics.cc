#include "calibrate/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <set>

#include "base/error.h"

namespace rshift {
namespace {

constexpr int kPageShift = 23;                                    // below sign and exponent
constexpr int kBinShift = kPageShift - Histogram::kMantissaBits;  // below the 10 mantissa bits

float FirstBadValue(std::span<const float> values) {
  for (float v : values) {
    if (!std::isfinite(v)) return v;
  }
  return 0.0f;
}

// The interval of one bin on the positive side; `page` without its sign.
std::pair<double, double> BinInterval(uint32_t page, int bin) {
  const uint32_t low_bits = (page << kPageShift) | (static_cast<uint32_t>(bin) << kBinShift);
  const uint32_t high_bits = low_bits + (1u << kBinShift);
  const double low = std::bit_cast<float>(low_bits);
  // The last bin of the largest octave ends where infinity begins.
  const double high =
      high_bits == 0x7f800000u ? std::ldexp(1.0, 128) : std::bit_cast<float>(high_bits);
  return {low, high};
}

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

void Add(TensorStatistics& statistics, std::span<const float> values, const std::string& sample) {
  if (values.empty()) return;
  float low = values[0], high = values[0];
  bool finite = true;
  for (float v : values) {
    low = v < low ? v : low;
    high = v > high ? v : high;
    finite &= (v - v) == 0.0f;  // false for NaN and both infinities
  }
  RSHIFT_REQUIRE(
      finite, ErrorCode::kInvalidInput, "tensor '", statistics.name, "', sample '", sample,
      "': ", FirstBadValue(values),
      " found; calibration needs finite values (check the sample and the preprocessing)");
  statistics.min = statistics.count == 0 ? low : std::min(statistics.min, low);
  statistics.max = statistics.count == 0 ? high : std::max(statistics.max, high);
  statistics.count += values.size();
  Histogram& histogram = statistics.histogram;
  uint32_t current = ~0u;
  uint64_t* bins = nullptr;
  for (float v : values) {
    const uint32_t bits = std::bit_cast<uint32_t>(v);
    if ((bits << 1) == 0) {
      ++histogram.zeros;
      continue;
    }
    const uint32_t page = bits >> kPageShift;
    if (page != current) {
      bins = histogram.pages[page].data();  // a new page starts at zero; map nodes do not move
      current = page;
    }
    ++bins[(bits >> kBinShift) & (Histogram::kPageBins - 1)];
  }
}

void Merge(TensorStatistics& into, const TensorStatistics& other) {
  RSHIFT_REQUIRE(into.name == other.name, ErrorCode::kInternal, "merging tensor '", other.name,
                 "' into '", into.name, "'");
  if (other.count == 0) return;
  into.min = into.count == 0 ? other.min : std::min(into.min, other.min);
  into.max = into.count == 0 ? other.max : std::max(into.max, other.max);
  into.count += other.count;
  into.histogram.zeros += other.histogram.zeros;
  for (const auto& [page, counts] : other.histogram.pages) {
    auto& bins = into.histogram.pages[page];
    for (int i = 0; i < Histogram::kPageBins; ++i) bins[i] += counts[i];
  }
}

std::vector<WeightedBin> Bins(const TensorStatistics& statistics) {
  std::vector<WeightedBin> negative, positive;
  for (const auto& [page, counts] : statistics.histogram.pages) {
    const bool is_negative = (page & 0x100u) != 0;
    for (int i = 0; i < Histogram::kPageBins; ++i) {
      if (counts[i] == 0) continue;
      const auto [low, high] = BinInterval(page & 0xffu, i);
      if (is_negative)
        negative.push_back({-high, -low, counts[i]});
      else
        positive.push_back({low, high, counts[i]});
    }
  }
  std::reverse(negative.begin(), negative.end());  // larger magnitudes come first
  if (statistics.histogram.zeros > 0) negative.push_back({0, 0, statistics.histogram.zeros});
  negative.insert(negative.end(), positive.begin(), positive.end());
  return negative;
}

void Merge(StatisticsFile& into, const StatisticsFile& other) {
  const auto refuse = [](const char* what) {
    Fail(ErrorCode::kInvalidInput, "statistics cannot be merged: ", what);
  };
  if (into.model_sha256 != other.model_sha256) refuse("they are of different models");
  if (into.pass_list_version != other.pass_list_version)
    refuse("they were made with different pass lists");
  if (into.preprocess != other.preprocess) refuse("they were made with different preprocessing");
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
