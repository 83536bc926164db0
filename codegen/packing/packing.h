// Weight layouts of the integer kernels; the same bytes serve every instruction set, straight from
// the file.
//
// Convolution and MatMul (per group): panels of 64 output channels, the last panel narrowed to a
// multiple of 16:
//   [panel][K/4][panel width][4]   with the K order (kh, kw, ic padded to a multiple of 4) - s8,
//   zero padded.
// A stem convolution, whose few input channels would be mostly padding (ConvPackedShape), pads only
// the whole window: K order (kh, kw, ic), the end padded to a multiple of 4.
// One 16-channel column of one K step is one 64-byte line. Groups follow each other, each padded to
// its own panels. Depthwise: [KH*KW][C padded to 64] s8. RequantRecord tables: one record per
// output channel, in channel order, no padding.
#ifndef RSHIFT_CODEGEN_PACKING_PACKING_H_
#define RSHIFT_CODEGEN_PACKING_PACKING_H_

#include <cstdint>
#include <span>
#include <vector>

namespace rshift {

inline int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

struct PackedShape {
  int64_t groups = 1, oc_per_group = 0, ic_per_group = 0, taps = 1;  // taps = KH * KW
  int64_t k() const { return taps * RoundUp(ic_per_group, 4); }      // padded K
  int64_t n() const { return RoundUp(oc_per_group, 16); }            // padded N of one group
  int64_t group_bytes() const { return k() * n(); }
  int64_t bytes() const { return groups * group_bytes(); }
  // Offset of weight (oc within the group, tap, ic) inside a group.
  int64_t Offset(int64_t oc, int64_t tap, int64_t ic) const {
    const int64_t panel = oc / 64, first = panel * 64;
    const int64_t width = n() - first < 64 ? n() - first : 64;
    const int64_t kk = tap * RoundUp(ic_per_group, 4) + ic;
    return first * k() + (kk / 4) * width * 4 + (oc - first) * 4 + kk % 4;
  }
};

// True where a pixel's window is gathered and multiplied as one row of taps * IC values.
inline bool GathersPatches(int64_t groups, int64_t ic_per_group, int64_t taps) {
  return groups == 1 && taps > 1 && ic_per_group < 16 && ic_per_group % 4 != 0;
}
// The shape under which a convolution's weights are packed: with gathered patches that of the
// matrix product, taps = 1 and taps * IC channels.
inline PackedShape ConvPackedShape(int64_t groups, int64_t oc_per_group, int64_t ic_per_group,
                                   int64_t taps) {
  if (!GathersPatches(groups, ic_per_group, taps))
    return {groups, oc_per_group, ic_per_group, taps};
  return {groups, oc_per_group, ic_per_group * taps, 1};
}

// `weights` in ONNX order [OC, IC/groups, KH, KW] of a convolution with `taps` = KH * KW.
std::vector<int8_t> PackConvolution(const PackedShape& shape, int64_t taps,
                                    std::span<const int8_t> weights);
// The same where shape.taps is KH * KW (MatMul: pass [N, K, 1, 1]).
std::vector<int8_t> PackConvWeights(const PackedShape& shape, std::span<const int8_t> weights);
// `weights` [C, 1, KH, KW] -> [taps][RoundUp(C, 64)].
std::vector<int8_t> PackDepthwiseWeights(int64_t channels, int64_t taps,
                                         std::span<const int8_t> weights);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PACKING_PACKING_H_
