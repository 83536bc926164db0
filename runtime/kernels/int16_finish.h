// Accumulators of convolutions and matrix products of 16-bit integers, to numbers of 8 or 16 bits.
// The same values on every instruction set: quantize/numerics/int16.h, RequantizeWideBy.
#ifndef RSHIFT_RUNTIME_KERNELS_INT16_FINISH_H_
#define RSHIFT_RUNTIME_KERNELS_INT16_FINISH_H_

#include <cstdint>

#include "isa/functions.h"
#include "runtime/kernels/finish.h"
#include "runtime/kernels/int16.h"

namespace rshift {

// kHalfUp where every factor is below 1/2: a result is the high half of a 64-bit product, shifted
// on: ((sum multiplier + offset) >> 32) >> rshift, the offset with the bias and the half of the
// rounding.
struct S16HighWords {
  const int32_t* multiplier = nullptr;  // below 2^31; null where some factor is 1/2 or more
  const int32_t* rshift = nullptr;
  const int64_t* even = nullptr;  // the offsets of channels 0, 2, ...
  const int64_t* odd = nullptr;   // of channels 1, 3, ...
};

// Records of channels, unpacked, under one of the roundings of conv_s16. Readable up to a multiple
// of 32 channels.
//   kHalfUp: Multiplier / 2^rshift without the 7 zeros of numerics::RequantizeWide, rshift in
//     [0, 62].
//   kTwoStep, kTwoStepUp: as in the record. Accumulators fit 32 bits.
//   kDoubleAway: `scale`, finite.
struct S16Channels {
  Rounding rounding = Rounding::kHalfUp;
  const int64_t* bias = nullptr;
  const int64_t* multiplier = nullptr;
  const int64_t* rshift = nullptr;
  const double* scale = nullptr;
  S16HighWords high = {};
};

// Sums [pixel][step], of which `count` channels go to dst, `pitch` bytes from pixel to pixel.
struct S16Tile {
  const int32_t* sums = nullptr;
  int64_t pixels = 0, step = 0, count = 0;
  uint8_t* dst = nullptr;
  int64_t pitch = 0;
  NarrowType type = NarrowType::kS16;
};

struct Int16FinishTable {
  // acc[i] + bias[i] by the record of channel i.
  void (*requantize)(const int64_t* acc, int64_t n, const S16Channels& channels,
                     const S16Bounds& bounds, int32_t* y) noexcept;
  // The same of sums of 32 bits, which no bias takes beyond them, to numbers of dst's type.
  void (*finish_tile)(const S16Tile& tile, const S16Channels& channels,
                      const S16Bounds& bounds) noexcept;
};
const Int16FinishTable& Int16FinishFor(Isa isa);

// kHalfUp with a result of s16, for convolutions of bytes: Multiplier / 2^rshift as S16Channels has
// them.
FinishFn FinishToInt16(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_INT16_FINISH_H_
