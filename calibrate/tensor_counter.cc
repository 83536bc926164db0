#include "calibrate/tensor_counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "calibrate/value_scan.h"

namespace rshift {
namespace {

constexpr size_t kBlock = 1024;  // values that are looked at twice while the first cache holds them
constexpr uint64_t kMaxValues = std::numeric_limits<uint32_t>::max();
constexpr size_t kLargeTensor = 4096;            // values from which a window pays
constexpr size_t kMostKept = 16 * kLargeTensor;  // of far_, from one sample to the next
// Once so many values of a sample lie in the bin of the highest, it is a clipped tensor's.
constexpr uint64_t kShareOfClipped = 64;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The rule's limit of finite masks; where no value lies above it, there is nothing to mask, and the
// values are ordinary ones (Softmax looks at differences only).
float MaskLimit(std::span<const float> values, float limit) {
  if (limit == -kInfinity) return limit;
  const bool any = std::any_of(values.begin(), values.end(),
                               [&](float v) { return v > limit && std::isfinite(v); });
  return any ? limit : -kInfinity;
}

// Those that are no finite masks; copied to `kept` when there may be any.
std::span<const float> WithoutMasks(std::span<const float> values, float limit, float* kept) {
  if (limit == -kInfinity) return values;
  size_t count = 0;
  for (const float v : values) {
    kept[count] = v;  // overwritten by the next one when it is a mask
    count += v <= limit && v != -kInfinity ? 0 : 1;
  }
  return {kept, count};
}

uint32_t Octave(float magnitude) {
  return std::bit_cast<uint32_t>(magnitude) >> Histogram::kPageShift;
}

// The bin of a magnitude in the window.
uint32_t BinOf(float magnitude, uint32_t first) {
  return (std::bit_cast<uint32_t>(magnitude) >> Histogram::kBinShift) - (first << 10) +
         OctaveWindow::kFirstBin;
}

// The largest finite |x|, or of a tensor that is not all zeros a smaller one: of every 16th block.
float ApproximateReach(std::span<const float> values) {
  constexpr size_t kLooked = 256, kSkipped = 15 * kLooked;
  const auto reach_of = [](std::span<const float> part) {
    const Extremes found = FiniteExtremes(part, -kInfinity);
    const float reach = std::max({0.0f, -found.low, found.high});
    return reach == kInfinity ? 0 : reach;  // nothing is finite
  };
  float reach = 0;
  for (size_t begin = 0; begin < values.size(); begin += kLooked + kSkipped)
    reach =
        std::max(reach, reach_of(values.subspan(begin, std::min(kLooked, values.size() - begin))));
  return reach > 0 ? reach : reach_of(values);
}

OctaveWindow ChooseWindow(std::span<const float> values, const TensorMemory& memory) {
  if (values.size() < kLargeTensor) return {};
  const float largest = memory.reach > 0 ? memory.reach : ApproximateReach(values);
  // Its last octave is the one above, which may come next.
  const uint32_t first =
      std::min(std::max(Octave(largest) + 2, OctaveWindow::kOctaves + 1) - OctaveWindow::kOctaves,
               OctaveWindow::kLastFirst);
  return {first, memory.is_clipped ? BinOf(memory.reach, first) : OctaveWindow::kBins};
}

void CountBins(std::span<const uint16_t> bins, uint32_t* counters) {
  const size_t whole = bins.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8) {
    const uint16_t* at = bins.data() + i;
    ++counters[at[0]];
    ++counters[at[1]];
    ++counters[at[2]];
    ++counters[at[3]];
    ++counters[at[4]];
    ++counters[at[5]];
    ++counters[at[6]];
    ++counters[at[7]];
  }
  for (size_t i = whole; i < bins.size(); ++i) ++counters[bins[i]];
}

bool AreFinite(const float* values, size_t count) {
  constexpr uint32_t kExponent = 0x7f800000u;
  uint32_t others = 0;
#pragma omp simd reduction(| : others)
  for (size_t i = 0; i < count; ++i) {
    const uint32_t exponent = std::bit_cast<uint32_t>(values[i]) & kExponent;
    others |= static_cast<uint32_t>(exponent == kExponent);
  }
  return others == 0;
}

// The page's counters for `most` more values; nullptr once they have 64 bits. One call for each
// page and sample, as a rule.
[[gnu::noinline]] uint32_t* OpenPage(Histogram& histogram, uint32_t id, uint32_t most) {
  return histogram.pages[id].Open(most);
}

}  // namespace

size_t TensorCounter::TakeFinite(size_t begin, size_t end, const InfinityRule& rule) {
  if (AreFinite(far_.data() + begin, end - begin)) return end;
  size_t kept = begin;
  for (size_t i = begin; i < end; ++i) {
    const float v = far_[i];
    far_[kept] = v;
    if (std::isfinite(v)) {
      ++kept;
      continue;
    }
    const bool passes = (rule.negative && v == -kInfinity) || (rule.positive && v == kInfinity);
    if (passes)
      ++skipped_;
    else if (std::isfinite(refused_))
      refused_ = v;
  }
  return kept;
}

void TensorCounter::Count(std::span<const float> values, const InfinityRule& rule,
                          const std::string& name, const std::string& sample,
                          const TensorMemory& memory) {
  RSHIFT_REQUIRE(values.size() <= kMaxValues, ErrorCode::kUnsupported, "tensor '", name, "' has ",
                 values.size(), " values, calibration counts at most ", kMaxValues,
                 " of one sample");
  Forget();
  window_ = ChooseWindow(values, memory);
  if (window_.first != OctaveWindow::kNothing) {
    counters_.resize(OctaveWindow::kBins);
    counted_ = true;
  }
  const float mask_limit = MaskLimit(values, rule.mask_limit);
  std::array<uint16_t, kBlock + kScanPadding> near;
  std::array<float, kBlock> unmasked;
  uint64_t nonzeros = 0, masks = 0, frequent = 0;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto whole = values.subspan(begin, std::min(kBlock, values.size() - begin));
    const auto block = WithoutMasks(whole, mask_limit, unmasked.data());
    masks += whole.size() - block.size();
    if (far_.size() < far_count_ + kBlock + kScanPadding)
      far_.resize(2 * (far_count_ + kBlock + kScanPadding));
    SplitValues found;
    ScanValues(block, window_, lanes_, near.data(), far_.data() + far_count_, found);
    CountBins(std::span(near).first(found.near), counters_.data());
    frequent += found.frequent;
    lowest_ = std::min(lowest_, found.lowest);
    far_count_ = TakeFinite(far_count_, far_count_ + found.far, rule);
    nonzeros += found.near + found.far + found.frequent;
  }
  if (frequent > 0) counters_[window_.frequent] += static_cast<uint32_t>(frequent);
  skipped_ += masks;
  if (!std::isfinite(refused_)) {
    const float refused = refused_;
    Forget();
    Fail(ErrorCode::kInvalidInput, "tensor '", name, "', sample '", sample, "': ", refused,
         " found; calibration needs finite values (check the sample and the preprocessing)");
  }
  count_ = values.size() - skipped_;
  zeros_ = values.size() - nonzeros - masks;
  if (count_ == 0) return;
  extremes_ = skipped_ > 0 ? FiniteExtremes(values, mask_limit) : lanes_.Join();
  // A zero gets no sign: which of two comes first would depend on the order of the samples.
  extremes_.low += 0.0f;
  extremes_.high += 0.0f;
  peak_ = std::max(-extremes_.low, extremes_.high);
}

void TensorCounter::AddTo(TensorStatistics& into, const RecordedSample& sample,
                          TensorMemory& memory) {
  into.infinities += skipped_;
  if (count_ > 0) {
    TakeExtremes(into, extremes_.low, sample, extremes_.high, sample);
    into.count += count_;
    into.histogram.zeros += zeros_;
    ++into.peaks[PeakBin(*peak_)];
    memory.is_clipped = IsClipped();
    AddWindowTo(into.histogram, memory);
    AddFarTo(into.histogram);
    memory.reach = std::max(memory.reach, *peak_);
  }
  const std::optional<float> peak = peak_;
  Forget();
  peak_ = peak;
}

bool TensorCounter::IsClipped() const {
  if (!counted_) return false;
  const uint32_t bin = BinOf(*peak_, window_.first);
  return bin < OctaveWindow::kSign && counters_[bin] > count_ / kShareOfClipped;
}

void TensorCounter::AddWindowTo(Histogram& into, TensorMemory& memory) {
  if (!counted_) return;
  if (memory.first != window_.first) {
    memory.first = window_.first;
    memory.pages.fill(nullptr);
  }
  const auto most = static_cast<uint32_t>(count_);
  for (const uint32_t sign : {0u, 1u}) {
    const float reach = std::max(sign == 0 ? extremes_.high : -extremes_.low, 0.0f);
    const uint32_t last = std::min(Octave(reach), window_.first + OctaveWindow::kOctaves - 1);
    for (uint32_t octave = window_.first + lowest_; octave <= last; ++octave) {
      const uint32_t place = sign * OctaveWindow::kOctaves + octave - window_.first;
      const size_t bin = sign * OctaveWindow::kSign + ((octave - window_.first + 1) << 10);
      const std::span<uint32_t, HistogramPage::kBins> counts(counters_.data() + bin,
                                                             HistogramPage::kBins);
      HistogramPage*& page = memory.pages[place];
      if (page == nullptr) {
        if (IsZeroPage(counts)) continue;
        page = &into.pages[sign << 8 | octave];
      }
      page->Take(counts, most);
    }
  }
  counted_ = false;
}

void TensorCounter::AddFarTo(Histogram& into) {
  std::array<uint32_t*, kPageIds> narrow{};  // of pages that were looked up
  const auto count = static_cast<uint32_t>(far_count_);
  const float* far = far_.data();
  for (uint32_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(far[i]);
    const uint32_t id = bits >> Histogram::kPageShift;
    const uint32_t bin = (bits >> Histogram::kBinShift) % HistogramPage::kBins;
    uint32_t* page = narrow[id];
    if (page == nullptr) [[unlikely]] {
      page = narrow[id] = OpenPage(into, id, count);
      if (page == nullptr) {
        into.pages[id].Add(bin, 1);
        continue;
      }
    }
    ++page[bin];
  }
}

void TensorCounter::Forget() {
  if (counted_) std::fill(counters_.begin(), counters_.end(), 0);
  counted_ = false;
  if (far_.size() > kMostKept) far_ = std::vector<float>();  // a rare sample's
  far_count_ = 0;
  lanes_.Forget();
  lowest_ = OctaveWindow::kOctaves;
  extremes_ = {};
  peak_.reset();
  count_ = zeros_ = skipped_ = 0;
  refused_ = 0;
}

}  // namespace rshift
