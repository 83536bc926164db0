#include "calibrate/channel_scan.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace rshift {
namespace {

// Fewer channels than this are counted several rows at a time, each place on its own.
constexpr size_t kPlaces = 64;

// A loop over channels without a branch: the compiler makes vector instructions of it. Numbers that
// are not negative are ordered as their bits are.
[[gnu::always_inline]] inline void AddRows(const float* __restrict values, size_t rows,
                                           size_t channels, float* __restrict peak,
                                           double* __restrict squares) {
  constexpr int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  for (size_t row = 0; row < rows; ++row) {
    const float* x = values + row * channels;
#pragma omp simd
    for (size_t c = 0; c < channels; ++c) {
      const int32_t bits = std::bit_cast<int32_t>(x[c]) & kMagnitude;
      const int32_t finite = bits & -static_cast<int32_t>(bits < kInfinity);
      peak[c] = std::bit_cast<float>(std::max(std::bit_cast<int32_t>(peak[c]), finite));
      const auto magnitude = static_cast<double>(std::bit_cast<float>(finite));
      squares[c] += magnitude * magnitude;
    }
  }
}

void AddRowsPlain(const float* values, size_t rows, size_t channels, float* peak, double* squares) {
  AddRows(values, rows, channels, peak, squares);
}
#ifdef __x86_64__
[[gnu::target("avx2")]] void AddRowsAvx2(const float* values, size_t rows, size_t channels,
                                         float* peak, double* squares) {
  AddRows(values, rows, channels, peak, squares);
}
#endif

}  // namespace

std::vector<ChannelScanFunction> ChannelScanForms() {
  std::vector<ChannelScanFunction> forms{AddRowsPlain};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0) forms.push_back(AddRowsAvx2);
#endif
  return forms;
}

ChannelSums ScanChannels(std::span<const float> values, size_t channels) {
  static const ChannelScanFunction add_rows = ChannelScanForms().back();
  const size_t at_once = std::max<size_t>(1, kPlaces / channels), places = channels * at_once;
  ChannelSums sums{std::vector<float>(places, 0), std::vector<double>(places, 0)};
  const size_t rows = values.size() / places;
  add_rows(values.data(), rows, places, sums.peak.data(), sums.squares.data());
  for (size_t place = channels; place < places; ++place) {
    sums.peak[place % channels] = std::max(sums.peak[place % channels], sums.peak[place]);
    sums.squares[place % channels] += sums.squares[place];
  }
  sums.peak.resize(channels);
  sums.squares.resize(channels);
  const size_t done = rows * places;
  add_rows(values.data() + done, (values.size() - done) / channels, channels, sums.peak.data(),
           sums.squares.data());
  return sums;
}

}  // namespace rshift
