// The tile of a depthwise convolution of 16-bit integers, written once: an instruction set gives
// vectors of s16 and of s32 and the sums of products of pairs. For a unit to instantiate.
//   V::kChannels at a time, of V::kPixels pixels. The numbers of two taps are joined into pairs
//   within each 128 bits; V::Deal brings weights into the order that this gives, V::Gather sums
//   back.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_S16_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_S16_H_

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// R pixels from `first` on, channels from `channel` on.
template <typename V, int R>
inline void DepthwiseS16Pixels(const DepthwiseS16Tile& t, int64_t first, int64_t channel) {
  using Vector = typename V::Vector;
  Vector low[R], high[R];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) low[r] = high[r] = V::Zero();
  const int16_t* w = t.weights + 2 * channel;
  for (int64_t pair = 0; pair < t.pairs; ++pair, w += t.pair_step) {
    Vector w_low = V::Load(w), w_high = V::Load(w + V::kChannels);
    V::Deal(w_low, w_high);
    const int16_t* const* a = t.rows + 2 * pair * t.pixels + first;
    const int16_t* const* b = a + t.pixels;
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const Vector x = V::Load(a[r] + t.offset + channel), y = V::Load(b[r] + t.offset + channel);
      V::DotAccumulate(low[r], V::LowPairs(x, y), w_low);
      V::DotAccumulate(high[r], V::HighPairs(x, y), w_high);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    V::Gather(low[r], high[r]);
    int32_t* sums = t.sums + (first + r) * kS16Channels + channel;
    V::Store(sums, low[r]);
    V::Store(sums + V::kChannels / 2, high[r]);
  }
}

// The pixels behind whole tiles, by powers of two.
template <typename V, int R>
inline void DepthwiseS16Rest(const DepthwiseS16Tile& t, int64_t first, int64_t channel) {
  if (t.pixels - first >= R) {
    DepthwiseS16Pixels<V, R>(t, first, channel);
    first += R;
  }
  if constexpr (R > 1) DepthwiseS16Rest<V, R / 2>(t, first, channel);
}

template <typename V>
void DepthwiseS16(const DepthwiseS16Tile& t) noexcept {
  for (int64_t channel = 0; channel < t.channels; channel += V::kChannels) {
    int64_t first = 0;
    for (; first + V::kPixels <= t.pixels; first += V::kPixels)
      DepthwiseS16Pixels<V, V::kPixels>(t, first, channel);
    DepthwiseS16Rest<V, (V::kPixels > 8 ? 8 : V::kPixels / 2)>(t, first, channel);
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_S16_H_
