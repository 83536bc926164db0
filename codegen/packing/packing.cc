#include "codegen/packing/packing.h"

#include "base/error.h"

namespace rshift {

std::vector<int8_t> PackConvWeights(const PackedShape& shape, std::span<const int8_t> weights) {
  const int64_t expected = shape.groups * shape.oc_per_group * shape.ic_per_group * shape.taps;
  RSHIFT_REQUIRE(static_cast<int64_t>(weights.size()) == expected, ErrorCode::kInternal,
                 "PackConvWeights: ", weights.size(), " weights, expected ", expected);
  std::vector<int8_t> packed(shape.bytes());
  const int8_t* source = weights.data();
  for (int64_t group = 0; group < shape.groups; ++group) {
    int8_t* base = packed.data() + group * shape.group_bytes();
    for (int64_t oc = 0; oc < shape.oc_per_group; ++oc) {
      for (int64_t ic = 0; ic < shape.ic_per_group; ++ic) {
        for (int64_t tap = 0; tap < shape.taps; ++tap) base[shape.Offset(oc, tap, ic)] = *source++;
      }
    }
  }
  return packed;
}

std::vector<int8_t> PackConvolution(const ConvDims& dims, std::span<const int8_t> weights) {
  const PackedShape shape = ConvPackedShape(dims);
  if (!UsesStemIm2col(dims)) return PackConvWeights(shape, weights);
  // [OC][IC][KH][KW] -> [OC][KH * KW * IC].
  const int64_t ic = dims.ic_per_group, kh = dims.kernel_h, kw = dims.kernel_w;
  const int64_t expected = dims.oc_per_group * ic * kh * kw;
  RSHIFT_REQUIRE(static_cast<int64_t>(weights.size()) == expected, ErrorCode::kInternal,
                 "PackConvolution: ", weights.size(), " weights, expected ", expected);
  std::vector<int8_t> windows(weights.size());
  const int8_t* source = weights.data();
  for (int64_t oc = 0; oc < dims.oc_per_group; ++oc) {
    for (int64_t c = 0; c < ic; ++c) {
      for (int64_t y = 0; y < kh; ++y) {
        for (int64_t x = 0; x < kw; ++x) windows[((oc * kh + y) * kw + x) * ic + c] = *source++;
      }
    }
  }
  return PackConvWeights(shape, windows);
}

std::vector<int8_t> PackMatMulWeights(int64_t k, int64_t n, std::span<const int8_t> weights) {
  std::vector<int8_t> transposed(weights.size());  // [N, K]: output channels first
  for (int64_t row = 0; row < k; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      transposed[column * k + row] = weights[row * n + column];
    }
  }
  return PackConvWeights({.groups = 1, .oc_per_group = n, .ic_per_group = k, .taps = 1},
                         transposed);
}

std::vector<int8_t> PackDepthwiseWeights(int64_t channels, int64_t taps,
                                         std::span<const int8_t> weights) {
  RSHIFT_REQUIRE(static_cast<int64_t>(weights.size()) == channels * taps, ErrorCode::kInternal,
                 "PackDepthwiseWeights: ", weights.size(), " weights, expected ", channels * taps);
  const int64_t row = RoundUp(channels, kPanelChannels);
  std::vector<int8_t> packed(taps * row);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) packed[tap * row + c] = weights[c * taps + tap];
  }
  return packed;
}

}  // namespace rshift
