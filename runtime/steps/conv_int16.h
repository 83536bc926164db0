// What convolutions of 16-bit integers share: their geometry, the bounds of their sums, the records
// of their channels, and the input under a tile of output pixels.
#ifndef RSHIFT_RUNTIME_STEPS_CONV_INT16_H_
#define RSHIFT_RUNTIME_STEPS_CONV_INT16_H_

#include <memory>

#include "base/aligned.h"
#include "isa/ops/int16.h"
#include "runtime/kernels/int16_finish.h"
#include "runtime/kernels/kernels.h"
#include "runtime/step.h"

namespace rshift {

// The geometry of a convolution; a matrix product has one tap, its rows are pixels of one column.
struct S16Shape {
  Window window;
  int64_t batch = 1, ih = 1, iw = 1, ic = 0, oh = 1, ow = 1, oc = 0, groups = 1;
  int64_t pixels() const { return batch * oh * ow; }
  int64_t taps() const { return window.kernel_h * window.kernel_w; }
  int64_t group_ic() const { return ic / groups; }
  int64_t group_oc() const { return oc / groups; }
};

inline constexpr int64_t kMostSum = INT32_MAX;

// Over channels: the largest sum of |w|, the largest |w|, the largest accumulator.
struct WeightBounds {
  int64_t sum = 0, one = 1, accumulator = 0;
};
WeightBounds BoundsOfWeights(const int8_t* w, const uint8_t* records, int64_t channels,
                             int64_t products);

// The records of all channels, unpacked, groups of them `padded` entries apart: channel c of a
// group is entry group * padded + c; the others flush to 0.
class ChannelWords {
 public:
  ChannelWords(const StepContext& context, Rounding rounding, int64_t channels, int64_t per_group,
               int64_t padded);
  S16Channels At(int64_t entry) noexcept;
  size_t bytes() const { return memory_.size(); }

 private:
  int64_t* numbers(int64_t list) {
    return reinterpret_cast<int64_t*>(memory_.data()) + list * entries_;
  }
  // S16HighWords, two lists: multipliers and shifts, even and odd offsets.
  int32_t* high_words() { return reinterpret_cast<int32_t*>(numbers(3)); }
  int64_t* offsets() { return numbers(4); }
  void SetHighWords();
  const Rounding rounding_;
  AlignedBuffer memory_;
  int64_t entries_;
  bool has_high_words_;
};

// Rows of a tile, for kernels.
struct TileRows {
  int64_t first = 0, pixels = 0;  // the output pixels
  int64_t offset = 0;             // the first input channel
  const int16_t* zeros = nullptr;
};
// rows[tap * pixels + p]: the input under a tap of pixel first + p, zeros in the pads.
void SetTileRows(const S16Shape& shape, const int16_t* src, const TileRows& tile,
                 const int16_t** rows) noexcept;

// Of bytes, to s16: with kHalfUp, and accumulators that fit 32 bits.
std::unique_ptr<Step> MakeBytesToInt16(const StepContext& context, const isa::ConvS16& c);
std::unique_ptr<Step> MakeBytesToInt16(const StepContext& context, const isa::MatMulS16& c);

std::unique_ptr<Step> MakeDepthwiseS16(const StepContext& context, const S16Shape& shape,
                                       const ClampQ& clamp, Rounding rounding);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_CONV_INT16_H_
