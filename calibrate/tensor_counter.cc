#include "calibrate/tensor_counter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "calibrate/value_scan.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace rshift {
namespace {

constexpr size_t kBlock = 1024;  // values that are looked at twice while the first cache holds them
constexpr uint64_t kMaxPending = std::numeric_limits<uint32_t>::max();
constexpr size_t kLargeTensor = 8192;  // values from which a window pays
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

constexpr size_t kLine = 16;  // counters in a line of the caches

bool IsZero(const uint32_t* line) {
  uint32_t any = 0;
#pragma omp simd reduction(| : any)
  for (size_t i = 0; i < kLine; ++i) any |= line[i];
  return any == 0;
}

// Adds one page to another and leaves zeros. Lines of zeros are left alone: small magnitudes are
// rare, and the other page may be in memory.
void MovePortable(uint32_t* __restrict from, uint32_t* __restrict to) {
  for (size_t line = 0; line < Histogram::kPageBins; line += kLine) {
    if (IsZero(from + line)) continue;
    for (size_t i = line; i < line + kLine; ++i) {
      to[i] += from[i];
      from[i] = 0;
    }
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void MoveAvx2(uint32_t* __restrict from, uint32_t* __restrict to) {
  for (size_t line = 0; line < Histogram::kPageBins; line += kLine) {
    auto* source = reinterpret_cast<__m256i*>(from + line);
    const __m256i low = _mm256_loadu_si256(source), high = _mm256_loadu_si256(source + 1);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any) != 0) continue;
    auto* sum = reinterpret_cast<__m256i*>(to + line);
    _mm256_storeu_si256(sum, _mm256_add_epi32(_mm256_loadu_si256(sum), low));
    _mm256_storeu_si256(sum + 1, _mm256_add_epi32(_mm256_loadu_si256(sum + 1), high));
    _mm256_storeu_si256(source, _mm256_setzero_si256());
    _mm256_storeu_si256(source + 1, _mm256_setzero_si256());
  }
}
#endif

void MoveCounters(uint32_t* from, uint32_t* to) {
#ifdef __x86_64__
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return MoveAvx2(from, to);
#endif
  MovePortable(from, to);
}

bool IsZeroPage(const uint32_t* page) {
  for (size_t line = 0; line < Histogram::kPageBins; line += kLine) {
    if (!IsZero(page + line)) return false;
  }
  return true;
}

}  // namespace

void TensorCounter::Count(std::span<const float> nonzero, const InfinityRule& rule,
                          Directory& directory) {
  const auto count = [&](uint32_t bits) {
    const uintptr_t page = directory[bits >> Histogram::kPageShift];
    if (page == 0) [[unlikely]] {
      CountRare(std::bit_cast<float>(bits), rule, directory);
    } else {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the directory holds what no pointer may.
      ++*reinterpret_cast<uint32_t*>(page + sizeof(uint32_t) * (bits >> Histogram::kBinShift));
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
  ++MakePage(bits >> Histogram::kPageShift,
             directory)[(bits >> Histogram::kBinShift) & (Histogram::kPageBins - 1)];
}

uint32_t* TensorCounter::MakePage(uint32_t id, Directory& directory) {
  pages_.push_back({id, std::make_unique<Page>()});
  Enter(pages_.back(), directory);
  return pages_.back().counts->data();
}

OctaveWindow TensorCounter::ChooseWindow(std::span<const float> values) const {
  if (values.size() < kLargeTensor) return {};
  uint32_t top = top_;
  if (top == 0) {
    for (const float v : values.first(kBlock)) {
      if (std::isfinite(v)) top = std::max(top, Octave(std::abs(v)));
    }
  }
  // Its last octave is the one above, which may come next.
  const uint32_t first = std::max(top + 2, OctaveWindow::kOctaves + 1) - OctaveWindow::kOctaves;
  return {std::min(first, OctaveWindow::kLastFirst)};
}

void TensorCounter::TakeWindow(OctaveWindow window, const Extremes& extremes, uint32_t* counters,
                               Directory& directory) {
  if (window.first == OctaveWindow::kNothing) return;
  for (const uint32_t sign : {0u, 1u}) {
    const float reach = std::max(sign == 0 ? extremes.high : -extremes.low, 0.0f);
    const uint32_t last = std::min(Octave(reach), window.first + OctaveWindow::kOctaves - 1);
    for (uint32_t octave = window.first; octave <= last; ++octave) {
      uint32_t* from = counters + sign * OctaveWindow::kBinsOfSign +
                       (octave - window.first) * Histogram::kPageBins;
      const uint32_t id = sign << 8 | octave;
      if (directory[id] == 0 && IsZeroPage(from)) continue;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the directory holds what no pointer may.
      auto* to = reinterpret_cast<uint32_t*>(directory[id] + sizeof(Page) * id);
      MoveCounters(from, directory[id] != 0 ? to : MakePage(id, directory));
    }
  }
}

void TensorCounter::Add(std::span<const float> values, const InfinityRule& rule,
                        const std::string& name, const RecordedSample& sample) {
  static thread_local Directory directory{};  // all 0 between two calls, as the window's counters
  static thread_local std::vector<uint32_t> counters(OctaveWindow::kBins);
  if (values.size() > kMaxPending - pending_) Flush();
  RSHIFT_REQUIRE(values.size() <= kMaxPending, ErrorCode::kUnsupported, "tensor '", name, "' has ",
                 values.size(), " values, calibration counts at most ", kMaxPending,
                 " of one sample");
  skipped_ = 0;
  refused_ = 0;
  peak_.reset();
  Extremes extremes;
  uint64_t nonzeros = 0;
  const OctaveWindow window = ChooseWindow(values);
  const float mask_limit = MaskLimit(values, rule.mask_limit);
  std::array<uint16_t, kBlock + kScanPadding> near;
  std::array<float, kBlock + kScanPadding> far, unmasked;
  for (const OwnedPage& page : pages_) Enter(page, directory);
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto whole = values.subspan(begin, std::min(kBlock, values.size() - begin));
    const auto block = WithoutMasks(whole, mask_limit, unmasked.data());
    skipped_ += whole.size() - block.size();
    nonzeros += whole.size() - block.size();
    const SplitValues found = ScanValues(block, window, extremes, near.data(), far.data());
    CountBins(std::span(near).first(found.near), counters.data());
    Count(std::span(far).first(found.far), rule, directory);
    nonzeros += found.near + found.far;
  }
  TakeWindow(window, extremes, counters.data(), directory);
  for (const OwnedPage& page : pages_) directory[page.id] = 0;
  RSHIFT_REQUIRE(
      std::isfinite(refused_), ErrorCode::kInvalidInput, "tensor '", name, "', sample '",
      sample.name, "': ", refused_,
      " found; calibration needs finite values (check the sample and the preprocessing)");
  sum_.infinities += skipped_;
  if (skipped_ == values.size()) return;
  if (skipped_ > 0) extremes = FiniteExtremes(values, mask_limit);
  // A zero gets no sign: which of two comes first would depend on the order of the samples.
  const float low = extremes.low + 0.0f, high = extremes.high + 0.0f;
  TakeExtremes(sum_, low, sample, high, sample);
  sum_.count += values.size() - skipped_;
  sum_.histogram.zeros += values.size() - nonzeros;
  pending_ += nonzeros;
  peak_ = std::max(-low, high);
  top_ = std::max(top_, Octave(*peak_));
  ++sum_.peaks[PeakBin(*peak_)];
}

void TensorCounter::AddPagesTo(Histogram& into) const {
  for (const OwnedPage& page : pages_) {
    const Page& counts = *page.counts;
    const bool used = std::any_of(counts.begin(), counts.end(), [](uint32_t n) { return n != 0; });
    if (!used) continue;
    HistogramPage& bins = into.pages[page.id];
    for (size_t i = 0; i < counts.size(); ++i) bins.Add(i, counts[i]);
  }
}

void TensorCounter::ClearPages() {
  for (OwnedPage& page : pages_) page.counts->fill(0);
  pending_ = 0;
}

void TensorCounter::Flush() {
  AddPagesTo(sum_.histogram);
  ClearPages();
}

void TensorCounter::AddPartTo(TensorStatistics& into) const {
  MergePart(into, sum_);
  AddPagesTo(into.histogram);
}

void TensorCounter::AddTo(TensorStatistics& into) const {
  Merge(into, sum_);
  AddPagesTo(into.histogram);
}

void TensorCounter::Reset() {
  sum_ = TensorStatistics();
  ClearPages();
}

const TensorStatistics& TensorCounter::Sum() {
  Flush();
  return sum_;
}

}  // namespace rshift
