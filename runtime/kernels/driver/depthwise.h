// Depthwise convolution, once for all instruction sets.
//
// A block of kChannels channels at a time: the weights of two taps at once are widened to s16 and
// interleaved into the thread's scratch, so that one multiply-add (pairs of s16 -> s32, exact)
// serves two taps; weight zero points are taken off while widening (255 * 255 * 2 fits s32); then
// every output pixel reads its taps, widens, interleaves and accumulates. An odd last tap is paired
// with zero weights. Some pixels' accumulators are gathered and requantized together.
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

template <typename Unit>
void DepthwiseBlock(const DepthwiseArgs& args, const DepthwiseRange& range, int64_t first,
                    const int16_t* weights, const int64_t* offsets, const uint8_t** taps) {
  const int64_t pairs = TapPairs(args);
  const int64_t left = range.c_end - first;
  const int64_t count = left < Unit::kDwChannels ? left : Unit::kDwChannels;
  PixelCursor cursor = CursorAt(range.m_begin, args.oh, args.ow);
  alignas(64) int32_t rows[kDwPixels][Unit::kDwChannels];
  for (int64_t m = range.m_begin; m < range.m_end; m += kDwPixels) {
    const int64_t pixels = range.m_end - m < kDwPixels ? range.m_end - m : kDwPixels;
    for (int64_t r = 0; r < pixels; ++r) {
      FillTaps(args, args.window, cursor, offsets, taps, 1);
      Advance(cursor, args.oh, args.ow);
      typename Unit::Pair acc = Unit::Zero();
      for (int64_t p = 0; p < pairs; ++p) {
        Unit::AddPair(acc, taps[2 * p] + first, taps[2 * p + 1] + first,
                      weights + p * 2 * Unit::kDwChannels, args.src_signed);
      }
      Unit::StoreSums(acc, args.requant.bias + first, rows[r]);
    }
    uint8_t* dst = args.dst + m * args.dst_pitch + first;
    Unit::Finish(args.requant, first, rows, pixels, dst, args.dst_pitch, count);
    if (args.epilogue.run != nullptr) args.epilogue.run(args.epilogue.state, dst, pixels, count);
  }
}

template <typename Unit>
void DriveDepthwise(const DepthwiseArgs& args, const DepthwiseRange& range,
                    void* scratch) noexcept {
  const int64_t taps = args.window.kernel_h * args.window.kernel_w;
  const int64_t pairs = TapPairs(args);
  int16_t* weights = static_cast<int16_t*>(scratch);
  const uint8_t** rows = reinterpret_cast<const uint8_t**>(weights + pairs * 2 * Unit::kDwChannels);
  int64_t* offsets = reinterpret_cast<int64_t*>(rows + 2 * pairs);
  FillTapOffsets(args.window, args.iw, args.src_pitch, offsets);
  rows[2 * pairs - 1] = args.zero_row;  // what an odd last tap is paired with; its weights are 0
  alignas(64) int16_t zeros[Unit::kDwChannels];
  const int16_t* zero_w = args.requant.zero_w == nullptr ? nullptr : zeros;
  for (int64_t first = range.c_begin; first < range.c_end; first += Unit::kDwChannels) {
    for (int64_t c = 0; zero_w != nullptr && c < Unit::kDwChannels; ++c) {
      zeros[c] = static_cast<int16_t>(args.requant.zero_w[first + c]);
    }
    for (int64_t p = 0; p < pairs; ++p) {
      const int8_t* w0 = args.weights + 2 * p * args.c64 + first;
      Unit::InterleaveWeights(w0, 2 * p + 1 < taps ? w0 + args.c64 : nullptr, zero_w,
                              weights + p * 2 * Unit::kDwChannels);
    }
    DepthwiseBlock<Unit>(args, range, first, weights, offsets, rows);
  }
}

template <typename Unit>
size_t DepthwiseScratchBytes(const DepthwiseArgs& args) noexcept {
  const auto pairs = static_cast<size_t>(TapPairs(args));
  return pairs * 2 * Unit::kDwChannels * sizeof(int16_t) +
         pairs * 2 * (sizeof(const uint8_t*) + sizeof(int64_t));
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_DEPTHWISE_H_
