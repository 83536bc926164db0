#include "calibrate/tensor_counter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "calibrate/value_scan.h"

namespace rshift {
namespace {

constexpr int kPageShift = 23;                                    // below sign and exponent
constexpr int kBinShift = kPageShift - Histogram::kMantissaBits;  // below the 10 mantissa bits
constexpr size_t kBlock = 1024;  // values that are looked at twice while the first cache holds them
constexpr uint64_t kMaxPending = std::numeric_limits<uint32_t>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

void TensorCounter::Count(std::span<const float> nonzero, const InfinityRule& rule,
                          Directory& directory) {
  const auto count = [&](uint32_t bits) {
    const uintptr_t page = directory[bits >> kPageShift];
    if (page == 0) [[unlikely]] {
      CountRare(std::bit_cast<float>(bits), rule, directory);
    } else {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the directory holds what no pointer may.
      ++*reinterpret_cast<uint32_t*>(page + sizeof(uint32_t) * (bits >> kBinShift));
    }
  };
  const size_t whole = nonzero.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    uint64_t first = 0, second = 0;  // two values each: fewer loads
    std::memcpy(&first, nonzero.data() + i, sizeof(first));
    std::memcpy(&second, nonzero.data() + i + 2, sizeof(second));
    count(static_cast<uint32_t>(first));
    count(static_cast<uint32_t>(first >> 32));
    count(static_cast<uint32_t>(second));
    count(static_cast<uint32_t>(second >> 32));
  }
  for (size_t i = whole; i < nonzero.size(); ++i) count(std::bit_cast<uint32_t>(nonzero[i]));
}

void TensorCounter::Enter(const OwnedPage& page, Directory& directory) {
  directory[page.id] = reinterpret_cast<uintptr_t>(page.counts->data()) - sizeof(Page) * page.id;
}

void TensorCounter::CountRare(float value, const InfinityRule& rule, Directory& directory) {
  if (!std::isfinite(value)) {
    const bool passes =
        (rule.negative && value == -kInfinity) || (rule.positive && value == kInfinity);
    if (passes)
      ++skipped_;
    else if (std::isfinite(refused_))
      refused_ = value;
    return;
  }
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  pages_.push_back({bits >> kPageShift, std::make_unique<Page>()});
  Enter(pages_.back(), directory);
  ++(*pages_.back().counts)[(bits >> kBinShift) & (Histogram::kPageBins - 1)];
}

void TensorCounter::Add(std::span<const float> values, const InfinityRule& rule,
                        const std::string& name, const std::string& sample) {
  static thread_local Directory directory{};  // all 0 between two calls
  if (values.size() > kMaxPending - pending_) Flush();
  RSHIFT_REQUIRE(values.size() <= kMaxPending, ErrorCode::kUnsupported, "tensor '", name, "' has ",
                 values.size(), " values, calibration counts at most ", kMaxPending,
                 " of one sample");
  skipped_ = 0;
  refused_ = 0;
  peak_.reset();
  Extremes extremes;
  uint64_t nonzeros = 0;
  std::array<float, kBlock + kScanPadding> nonzero;
  for (const OwnedPage& page : pages_) Enter(page, directory);
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto block = values.subspan(begin, std::min(kBlock, values.size() - begin));
    const size_t found = ScanValues(block, extremes, nonzero.data());
    Count(std::span(nonzero).first(found), rule, directory);
    nonzeros += found;
  }
  for (const OwnedPage& page : pages_) directory[page.id] = 0;
  RSHIFT_REQUIRE(
      std::isfinite(refused_), ErrorCode::kInvalidInput, "tensor '", name, "', sample '", sample,
      "': ", refused_,
      " found; calibration needs finite values (check the sample and the preprocessing)");
  sum_.infinities += skipped_;
  if (skipped_ == values.size()) return;
  if (skipped_ > 0) extremes = FiniteExtremes(values);
  // A zero gets no sign: which of two comes first would depend on the order of the samples.
  const float low = extremes.low + 0.0f, high = extremes.high + 0.0f;
  sum_.min = sum_.count == 0 ? low : std::min(sum_.min, low);
  sum_.max = sum_.count == 0 ? high : std::max(sum_.max, high);
  sum_.count += values.size() - skipped_;
  sum_.histogram.zeros += values.size() - nonzeros;
  pending_ += nonzeros;
  peak_ = std::max(-low, high);
  ++sum_.peaks[PeakBin(*peak_)];
}

void TensorCounter::Flush() {
  for (OwnedPage& page : pages_) {
    Page& counts = *page.counts;
    const bool used = std::any_of(counts.begin(), counts.end(), [](uint32_t n) { return n != 0; });
    if (!used) continue;
    auto& bins = sum_.histogram.pages[page.id];
    for (size_t i = 0; i < counts.size(); ++i) bins[i] += counts[i];
    counts.fill(0);
  }
  pending_ = 0;
}

const TensorStatistics& TensorCounter::Sum() {
  Flush();
  return sum_;
}

}  // namespace rshift
