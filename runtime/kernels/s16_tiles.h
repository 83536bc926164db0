// Tiles of convolutions of 16-bit integers: plain structs for kernels.h. generic/reference.cc is
// the specification in code.
#ifndef RSHIFT_RUNTIME_KERNELS_S16_TILES_H_
#define RSHIFT_RUNTIME_KERNELS_S16_TILES_H_

#include <cstdint>

namespace rshift {

// One tile of a convolution of 16-bit integers (conv_s16): sums of products of some output pixels
// and the 64 channels of one panel.
constexpr int64_t kS16Pixels = 12;
constexpr int64_t kS16Channels = 64;
// Packed weights beyond so many bytes meet blocks of tiles, whose row pointers take so many bytes
// at most (those of one tile, where these are more): steps/conv_int16.cc, predict_work.cc.
constexpr int64_t kS16HeldWeights = int64_t{1} << 19, kS16BlockRows = int64_t{1} << 15;
struct ConvS16Tile {
  int64_t pixels = 0;    // 1 to kS16Pixels
  int64_t channels = 0;  // of the panel that count: the first ones
  int64_t taps = 0;
  // [tap][pixel]: the first input channel under a tap. Readable up to an even number of channels.
  const int16_t* const* rows = nullptr;
  int64_t pairs = 0;  // of input channels, of each tap
  // [tap][pair][64][2], taps `tap_step` numbers apart; the second of an odd last pair is 0.
  const int16_t* weights = nullptr;
  int64_t tap_step = 0;
  int32_t* sums = nullptr;  // [pixel][64]; the caller has proved that they fit
};
using ConvS16Fn = void (*)(const ConvS16Tile& tile) noexcept;

// The same of a filter for each channel: up to 64 channels from `offset` on. Taps come in pairs;
// the second of an odd last pair has weights of 0.
struct DepthwiseS16Tile {
  int64_t pixels = 0;    // 1 to kS16Pixels
  int64_t channels = 0;  // 1 to kS16Channels
  int64_t offset = 0;    // of the first channel
  int64_t pairs = 0;
  // [tap][pixel]: the first channel under a tap, 2 * pairs taps. Readable 32 numbers past the last.
  const int16_t* const* rows = nullptr;
  // [pair][64][2], pairs `pair_step` numbers apart.
  const int16_t* weights = nullptr;
  int64_t pair_step = 0;
  int32_t* sums = nullptr;  // [pixel][64]; the caller has proved that they fit
};
using DepthwiseS16Fn = void (*)(const DepthwiseS16Tile& tile) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_S16_TILES_H_
