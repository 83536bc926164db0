// The tile of a convolution of 16-bit integers, written once: an instruction set gives vectors of
// s32 and the product of two pairs of s16. For a unit to instantiate.
//   V::kVectors x V::kLanes channels at a time, of V::kPixels pixels.
//   Where no more channels are left than V::Narrow has, V::Narrow; the narrowest names itself.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_CONV_S16_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_CONV_S16_H_

#include <cstring>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// Two neighbours in memory as the 32 bits that a product of pairs takes.
inline int32_t PairAt(const int16_t* x) {
  int32_t pair;
  std::memcpy(&pair, x, sizeof pair);
  return pair;
}

// R pixels from `first` on, channels from `channel` on.
template <typename V, int R>
inline void DotS16(const ConvS16Tile& t, int64_t first, int64_t channel) {
  typename V::Vector acc[R][V::kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V::kVectors; ++v) acc[r][v] = V::Zero();
  }
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    const int16_t* x[R];
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) x[r] = t.rows[tap * t.pixels + first + r];
    const int16_t* w = t.weights + tap * t.tap_step + 2 * channel;
    for (int64_t pair = 0; pair < t.pairs; ++pair, w += 2 * kS16Channels) {
      typename V::Vector b[V::kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < V::kVectors; ++v) b[v] = V::Load(w + 2 * V::kLanes * v);
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) {
        const typename V::Vector a = V::Broadcast(PairAt(x[r] + 2 * pair));
#pragma GCC unroll 4
        for (int v = 0; v < V::kVectors; ++v) V::DotAccumulate(acc[r][v], a, b[v]);
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V::kVectors; ++v)
      V::Store(t.sums + (first + r) * kS16Channels + channel + V::kLanes * v, acc[r][v]);
  }
}

// The pixels that are left behind whole tiles, fewer than 2 R: by powers of two, since each number
// of pixels is a copy of the loop.
template <typename V, int R>
inline void DotRest(const ConvS16Tile& t, int64_t first, int64_t channel) {
  if (t.pixels - first >= R) {
    DotS16<V, R>(t, first, channel);
    first += R;
  }
  if constexpr (R > 1) DotRest<V, R / 2>(t, first, channel);
}

// Channels from `channel` on, one step of them.
template <typename V>
inline void DotColumn(const ConvS16Tile& t, int64_t channel) {
  int64_t first = 0;
  for (; first + V::kPixels <= t.pixels; first += V::kPixels)
    DotS16<V, V::kPixels>(t, first, channel);
  DotRest<V, (V::kPixels > 8 ? 8 : 4)>(t, first, channel);
}

template <typename V>
inline void DotChannels(const ConvS16Tile& t, int64_t channel) {
  if constexpr (V::Narrow::kVectors < V::kVectors) {
    if (t.channels - channel <= V::Narrow::kVectors * V::Narrow::kLanes)
      return DotChannels<typename V::Narrow>(t, channel);
  }
  DotColumn<V>(t, channel);
}

template <typename V>
void ConvS16(const ConvS16Tile& t) noexcept {
  for (int64_t channel = 0; channel < t.channels; channel += V::kVectors * V::kLanes)
    DotChannels<V>(t, channel);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_CONV_S16_H_
