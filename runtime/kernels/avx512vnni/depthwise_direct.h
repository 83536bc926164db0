// Depthwise convolution without columns in memory, for the common case: at most four kernel rows of
// three taps that are neighbours, no weight zero points, and a requantization that is one fused
// multiply-add. The columns under the next pixels stay in registers, of which a step drops as many
// as it loads. What a quarter is, depthwise.h says.
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_DIRECT_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_DIRECT_H_

#include "runtime/kernels/avx512vnni/depthwise_columns.h"

namespace rshift {
namespace {

constexpr int kDwTaps = 3;

inline bool RunsDirectly(const DepthwiseArgs& args, const DwPlan& plan) {
  const Window& w = args.window;
  return w.kernel_h <= 4 && w.kernel_w == kDwTaps && w.dilation_w == 1 &&
         (w.stride_w == 1 || (w.stride_w == 2 && plan.output_rows == 1)) &&
         args.requant.ratio != nullptr && args.requant.zero_w == nullptr && !args.requant.post_ops;
}

// The columns of some input rows, one after the other; with kHalves two at a time, `apart` columns
// from each other.
template <bool kHalves>
class DwColumns {
 public:
  // From column x on, which may lie outside; four: the last of the lines has weights.
  DwColumns(const DepthwiseArgs& args, const DwLines& lines, int64_t first, int64_t x,
            int64_t apart, bool four)
      : zeros_(args.zero_row + first),
        x_(x),
        width_(args.iw),
        apart_(apart),
        four_(four),
        flip_(_mm512_set1_epi8(static_cast<char>(args.src_signed ? 0x80 : 0))) {
    for (int r = 0; r < 4; ++r) {
      step_[r] = lines.step[r];
      at_[r] = Scalar(lines.at[r] + x * step_[r]);
    }
  }
  [[gnu::always_inline]] void Next(__m512i (&out)[4]) {
    const bool inside = IsInside(x_), other_inside = kHalves && IsInside(x_ + apart_);
    __m512i rows[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      if (r == 3 && !four_) {  // under weights of 0
        rows[r] = rows[0];
        continue;
      }
      const uint8_t* at = inside ? at_[r] : zeros_;
      rows[r] = _mm512_xor_si512(
          kHalves ? LoadHalves(at, other_inside ? at_[r] + apart_ * step_[r] : zeros_)
                  : _mm512_loadu_si512(at),
          flip_);
      at_[r] = Scalar(at_[r] + step_[r]);
    }
    ++x_;
    InterleaveRows(rows[0], rows[1], rows[2], rows[3], out);
  }

 private:
  bool IsInside(int64_t x) const {
    return static_cast<uint64_t>(x) < static_cast<uint64_t>(width_);
  }
  const uint8_t *at_[4], *zeros_;
  int64_t step_[4], x_, width_, apart_;
  bool four_;
  __m512i flip_;
};

// Loaded once for several uses: left to itself, g++ 12 makes each of them a load, of which there is
// one a cycle.
[[gnu::always_inline]] inline __m512i InRegister(__m512i x) {
  asm("" : "+v"(x));
  return x;
}

// P pixels from the columns under them -> bytes. `weights`: [taps][quarters].
template <typename S, int P, int kStride, int C>
[[gnu::always_inline]] inline void DirectPixels(const RequantArgs& q, const SaturatingPack<S>& pack,
                                                const __m512i (&columns)[C][4],
                                                const __m512i* weights, __m512i (&bytes)[P]) {
  __m512i v[4][P];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i bias = InRegister(_mm512_load_si512(q.bias + 16 * i));
#pragma GCC unroll 2
    for (int p = 0; p < P; ++p) v[i][p] = bias;
#pragma GCC unroll 3
    for (int kx = 0; kx < kDwTaps; ++kx) {
      const __m512i weight = P > 1 ? InRegister(weights[4 * kx + i]) : weights[4 * kx + i];
#pragma GCC unroll 2
      for (int p = 0; p < P; ++p) {
        v[i][p] = _mm512_dpbusd_epi32(v[i][p], columns[p * kStride + kx][i], weight);
      }
    }
    const S requantizer = S::Load(q, 16 * i);
#pragma GCC unroll 2
    for (int p = 0; p < P; ++p) v[i][p] = requantizer.Scale(v[i][p]);
  }
#pragma GCC unroll 2
  for (int p = 0; p < P; ++p) bytes[p] = pack.PackLanes(v[0][p], v[1][p], v[2][p], v[3][p]);
}

// `segment.pixels` pixels of kRows rows.
template <typename S, int kStride, int kRows, bool kHalves>
[[gnu::noinline]] void DirectRows(const DepthwiseArgs& args, const DwPlan& plan,
                                  const RequantArgs& requant, const PixelCursor& at,
                                  const DwSegment& segment) {
  // Stride 1: two pixels, and output rows, for each load of weights. Stride 2: their columns would
  // not fit the registers, but the weights of the one row do.
  constexpr bool kHolds = kStride == 2;
  constexpr int P = kHolds ? 1 : 2, kNew = P * kStride, kColumns = kNew + kDwTaps - kStride;
  constexpr int kOld = kColumns - kNew;
  const Window& w = args.window;
  DwColumns<kHalves> from(args, LinesUnder(args, kRows, segment.first, at, 0), segment.first,
                          at.x * kStride - w.pad_left, segment.apart * kStride,
                          w.kernel_h + (kRows - 1) * w.stride_h == 4);
  // Locals: bytes that are stored might be members, for all the compiler knows.
  const RequantArgs q = requant;
  const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
  const int64_t pitch = args.dst_pitch, row_pitch = args.ow * pitch;
  const int64_t pixels = segment.pixels, count = segment.count;
  const int64_t apart_pixels = segment.apart_pixels, apart_bytes = segment.apart * pitch;
  const auto store = [&](__m512i bytes, int64_t pixel, uint8_t* to) {
    if (pixel < pixels) StoreBytes(bytes, to, count);
    if (!kHalves || pixel >= apart_pixels) return;
    StoreBytes(_mm512_castsi256_si512(_mm512_extracti64x4_epi64(bytes, 1)), to + apart_bytes,
               count);
  };
  __m512i held[kDwTaps * kDwQuarters];
#pragma GCC unroll 12
  for (int i = 0; i < kDwTaps * kDwQuarters; ++i) held[i] = plan.weights[i];
  __m512i columns[kColumns][4];
#pragma GCC unroll 2
  for (int c = 0; c < kOld; ++c) from.Next(columns[c]);
  uint8_t* dst = segment.dst;
  for (int64_t pixel = 0; pixel < pixels; pixel += P, dst += P * pitch) {
#pragma GCC unroll 2
    for (int c = 0; c < kNew; ++c) from.Next(columns[kOld + c]);
    const __m512i* weights = kHolds ? held : plan.weights;
    uint8_t* to = dst;
#pragma GCC unroll 2
    for (int row = 0; row < kRows; ++row, to += row_pitch, weights += kDwTaps * kDwQuarters) {
      __m512i bytes[P];
      DirectPixels<S, P, kStride>(q, pack, columns, weights, bytes);
#pragma GCC unroll 2
      for (int p = 0; p < P; ++p) store(bytes[p], pixel + p, to + p * pitch);
    }
#pragma GCC unroll 2
    for (int c = 0; c < kOld; ++c) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) columns[c][i] = columns[kNew + c][i];
    }
  }
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_DEPTHWISE_DIRECT_H_
