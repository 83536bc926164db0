// Weight layouts of the integer kernels; the same bytes serve every instruction set, straight from
// the file.
//
// Convolution and MatMul (per group): panels of 64 output channels, the last panel narrowed to a
// multiple of 16:
//   [panel][K/4][panel width][4]   with the K order (kh, kw, ic padded to a multiple of 4) - s8,
//   zero padded.
// A convolution of few channels (UsesStemIm2col) has K order (kh, kw, ic), padded to a multiple of
// 4 as a whole. One 16-channel column of one K step is one 64-byte line. Groups follow each other,
// each padded to its own panels. Depthwise: [KH*KW][C padded to 64] s8. ChannelRequant tables: one
// record per output channel, in channel order, no padding.
#ifndef RSHIFT_CODEGEN_PACKING_PACKING_H_
#define RSHIFT_CODEGEN_PACKING_PACKING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/round_up.h"
#include "codegen/packing/panel.h"

namespace rshift {

struct PackedShape {
  int64_t groups = 1, oc_per_group = 0, ic_per_group = 0;
  int64_t taps = 1;  // KH * KW, or 1 where windows are im2col rows
  int64_t k() const { return taps * RoundUp(ic_per_group, kDotProducts); }  // padded K
  int64_t n() const { return RoundUp(oc_per_group, kLineChannels); }        // padded N of one group
  int64_t group_bytes() const { return k() * n(); }
  int64_t bytes() const { return groups * group_bytes(); }
  // Offset of weight (oc within the group, tap, ic) inside a group.
  int64_t Offset(int64_t oc, int64_t tap, int64_t ic) const {
    const int64_t first = oc / kPanelChannels * kPanelChannels;
    const int64_t width = n() - first < kPanelChannels ? n() - first : kPanelChannels;
    const int64_t kk = tap * RoundUp(ic_per_group, kDotProducts) + ic;
    return first * k() + kk / kDotProducts * width * kDotProducts + (oc - first) * kDotProducts +
           kk % kDotProducts;
  }
};

struct ConvDims {
  int64_t groups = 1, oc_per_group = 0, ic_per_group = 0;
  int64_t kernel_h = 1, kernel_w = 1, dilation_w = 1;
};
// True where each pixel's few channels would be mostly padding: the whole window is then multiplied
// as one tap of KH * KW * IC channels, gathered from lines of neighbours in memory. Long lines cost
// more copying: only of at most three channels, as sound has.
inline bool UsesStemIm2col(const ConvDims& d) {
  const bool neighbours = d.groups == 1 && d.kernel_w > 1 && d.dilation_w == 1;
  const bool few = d.ic_per_group < 16 && d.ic_per_group % 4 != 0;
  if (!neighbours || !few) return false;
  return d.kernel_w <= (d.ic_per_group <= 3 ? 1024 : 64) / d.ic_per_group &&
         d.kernel_h <= 1024 / (d.kernel_w * d.ic_per_group);
}
// The shape under which a convolution's weights are packed.
inline PackedShape ConvPackedShape(const ConvDims& d) {
  const int64_t taps = d.kernel_h * d.kernel_w;
  if (UsesStemIm2col(d)) return {1, d.oc_per_group, taps * d.ic_per_group, 1};
  return {d.groups, d.oc_per_group, d.ic_per_group, taps};
}

// One filter for each channel: packed and computed in a way of its own.
inline bool IsDepthwise(int64_t groups, int64_t ic, int64_t oc) {
  return ic > 1 && groups == ic && oc == ic;
}

// `weights` in ONNX order [OC, IC/groups, KH, KW] -> ConvPackedShape(dims).
std::vector<int8_t> PackConvolution(const ConvDims& dims, std::span<const int8_t> weights);
// The same where shape.taps is KH * KW (MatMul: pass [N, K, 1, 1]).
std::vector<int8_t> PackConvWeights(const PackedShape& shape, std::span<const int8_t> weights);
// `weights` [K, N] -> the same of one tap.
std::vector<int8_t> PackMatMulWeights(int64_t k, int64_t n, std::span<const int8_t> weights);
// `weights` [C, 1, KH, KW] -> [taps][RoundUp(C, kPanelChannels)].
std::vector<int8_t> PackDepthwiseWeights(int64_t channels, int64_t taps,
                                         std::span<const int8_t> weights);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PACKING_PACKING_H_
