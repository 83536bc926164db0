#include "codegen/packing/packing.h"

#include "base/error.h"

namespace rshift {

std::vector<int8_t> PackConvWeights(const PackedShape& shape, std::span<const int8_t> weights) {
  const int64_t expected = shape.groups * shape.oc_per_group * shape.ic_per_group * shape.taps;
  Require(static_cast<int64_t>(weights.size()) == expected, ErrorCode::kInternal,
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

std::vector<int8_t> PackConvolution(const PackedShape& shape, int64_t taps,
                                    std::span<const int8_t> weights) {
  if (shape.taps == taps) return PackConvWeights(shape, weights);
  // [OC][IC][tap] -> [OC][tap][IC], the order in which a patch is gathered.
  const int64_t rows = shape.groups * shape.oc_per_group, ic = shape.ic_per_group / taps;
  Require(static_cast<int64_t>(weights.size()) == rows * ic * taps, ErrorCode::kInternal,
          "PackConvolution: ", weights.size(), " weights, expected ", rows * ic * taps);
  std::vector<int8_t> gathered(weights.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < ic * taps; ++i) {
      gathered[row * ic * taps + i % taps * ic + i / taps] = weights[row * ic * taps + i];
    }
  }
  return PackConvWeights(shape, gathered);
}

std::vector<int8_t> PackDepthwiseWeights(int64_t channels, int64_t taps,
                                         std::span<const int8_t> weights) {
  Require(static_cast<int64_t>(weights.size()) == channels * taps, ErrorCode::kInternal,
          "PackDepthwiseWeights: ", weights.size(), " weights, expected ", channels * taps);
  const int64_t row = RoundUp(channels, 64);
  std::vector<int8_t> packed(taps * row);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) packed[tap * row + c] = weights[c * taps + tap];
  }
  return packed;
}

}  // namespace rshift
