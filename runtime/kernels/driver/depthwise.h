// Depthwise convolution, once for all instruction sets.
//
// The weights of two taps at once are widened to s16 and interleaved into the thread's scratch, so
// that one multiply-add (pairs of s16 -> s32, exact) serves two taps; weight zero points are taken
// off while widening (255 * 255 * 2 fits s32). Some output pixels at a time: where their taps lie
// is found once, then a block of kDwChannels channels after the other reads them, widens,
// interleaves, accumulates, and is requantized. An odd last tap is paired with zero weights.
//
// A unit provides `struct Unit` with
//   static constexpr int kDwChannels;
//   using Pair = two vectors of s32 accumulators (lo, hi halves of the interleaved channels)
//   // w1 may be null: zeros. zero_w is taken off each weight (kDwChannels of s16, or null) and the
//   // difference fits s16.
//   static void InterleaveWeights(const int8_t* w0, const int8_t* w1, const int16_t* zero_w,
//                                 int16_t* out);
//   static Pair Zero();
//   static void AddPair(Pair&, const uint8_t* x0, const uint8_t* x1, const int16_t* weights,
//                       bool is_signed);
//   // Sums with their bias, in the order of the channels.
//   static void StoreSums(const Pair&, const int32_t* bias, int32_t* row);
//   // Channels [0, count) of `pixels` rows -> bytes.
//   static void Finish(const RequantArgs&, int64_t entry, const int32_t (*rows)[kDwChannels],
//                      int64_t pixels, uint8_t* dst, int64_t dst_stride, int64_t count);
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_H_

#include "runtime/kernels/driver/conv.h"

namespace rshift {
namespace {

constexpr int64_t kDwPixels = 16;  // requantized together

inline int64_t TapPairs(const DepthwiseArgs& args) {
  return (args.window.kernel_h * args.window.kernel_w + 1) / 2;
}

// What a thread prepares for its channels and its next pixels, in its scratch.
template <typename Unit>
class DepthwiseScratch {
 public:
  DepthwiseScratch(const DepthwiseArgs& args, void* memory)
      : args_(args),
        pairs_(TapPairs(args)),
        rows_(static_cast<const uint8_t**>(memory)),
        offsets_(reinterpret_cast<int64_t*>(rows_ + kDwPixels * 2 * pairs_)),
        weights_(reinterpret_cast<int16_t*>(offsets_ + 2 * pairs_)) {
    FillTapOffsets(args.window, args.iw, args.src_pitch, offsets_);
    // What an odd last tap is paired with; its weights are 0.
    for (int64_t r = 0; r < kDwPixels; ++r) rows_[(r + 1) * 2 * pairs_ - 1] = args.zero_row;
  }
  static size_t Bytes(const DepthwiseArgs& args) {
    return static_cast<size_t>(TapPairs(args) * 2) *
           ((kDwPixels + 1) * sizeof(int64_t) + static_cast<size_t>(args.c64) * sizeof(int16_t));
  }

  int64_t pairs() const { return pairs_; }
  // Of the kDwChannels channels that begin `channel` behind the range's first, [pair][2][channel].
  int16_t* weights(int64_t channel) const { return weights_ + channel * 2 * pairs_; }
  // Of pixel r, by tap.
  const uint8_t* const* rows(int64_t r) const { return rows_ + r * 2 * pairs_; }

  void WidenWeights(const DepthwiseRange& range) const {
    const int64_t taps = args_.window.kernel_h * args_.window.kernel_w;
    alignas(64) int16_t zeros[Unit::kDwChannels];
    const int16_t* zero_w = args_.requant.zero_w == nullptr ? nullptr : zeros;
    for (int64_t first = range.c_begin; first < range.c_end; first += Unit::kDwChannels) {
      for (int64_t c = 0; zero_w != nullptr && c < Unit::kDwChannels; ++c)
        zeros[c] = static_cast<int16_t>(args_.requant.zero_w[first + c]);
      int16_t* to = weights(first - range.c_begin);
      for (int64_t p = 0; p < pairs_; ++p, to += 2 * Unit::kDwChannels) {
        const int8_t* w0 = args_.weights + 2 * p * args_.c64 + first;
        Unit::InterleaveWeights(w0, 2 * p + 1 < taps ? w0 + args_.c64 : nullptr, zero_w, to);
      }
    }
  }
  // The next `pixels`, at most kDwPixels.
  void FillRows(PixelCursor& cursor, int64_t pixels) const {
    for (int64_t r = 0; r < pixels; ++r) {
      FillTaps(args_, args_.window, cursor, offsets_, rows_ + r * 2 * pairs_, 1);
      Advance(cursor, args_.oh, args_.ow);
    }
  }

 private:
  const DepthwiseArgs& args_;
  const int64_t pairs_;
  const uint8_t** rows_;
  int64_t* offsets_;
  int16_t* weights_;
};

template <typename Unit>
void DriveDepthwise(const DepthwiseArgs& args, const DepthwiseRange& range, void* memory) noexcept {
  const DepthwiseScratch<Unit> scratch(args, memory);
  scratch.WidenWeights(range);
  const int64_t pairs = scratch.pairs();
  PixelCursor cursor = CursorAt(range.m_begin, args.oh, args.ow);
  alignas(64) int32_t sums[kDwPixels][Unit::kDwChannels];
  for (int64_t m = range.m_begin; m < range.m_end; m += kDwPixels) {
    const int64_t pixels = range.m_end - m < kDwPixels ? range.m_end - m : kDwPixels;
    scratch.FillRows(cursor, pixels);
    for (int64_t first = range.c_begin; first < range.c_end; first += Unit::kDwChannels) {
      const int64_t left = range.c_end - first;
      const int64_t count = left < Unit::kDwChannels ? left : Unit::kDwChannels;
      const int16_t* weights = scratch.weights(first - range.c_begin);
      for (int64_t r = 0; r < pixels; ++r) {
        const uint8_t* const* taps = scratch.rows(r);
        typename Unit::Pair acc = Unit::Zero();
        for (int64_t p = 0; p < pairs; ++p) {
          Unit::AddPair(acc, taps[2 * p] + first, taps[2 * p + 1] + first,
                        weights + p * 2 * Unit::kDwChannels, args.src_signed);
        }
        Unit::StoreSums(acc, args.requant.bias + first, sums[r]);
      }
      uint8_t* dst = args.dst + m * args.dst_pitch + first;
      Unit::Finish(args.requant, first, sums, pixels, dst, args.dst_pitch, count);
      if (args.epilogue.run != nullptr) args.epilogue.run(args.epilogue.state, dst, pixels, count);
    }
  }
}

template <typename Unit>
size_t DepthwiseScratchBytes(const DepthwiseArgs& args) noexcept {
  return DepthwiseScratch<Unit>::Bytes(args);
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_H_
