#include "runtime/packed_weights.h"

#include <algorithm>
#include <cstdlib>

namespace rshift {
namespace {

// Lines of four K positions of one group: the first `ic` positions of each tap exist.
void SumGroup(const PackedShape& shape, const int8_t* weights, const int32_t* zero_w,
              int64_t first_channel, WeightSums* sums) {
  const int64_t ic4 = RoundUp(shape.ic_per_group, 4), n = shape.n();
  for (int64_t first = 0; first < n; first += 64) {
    const int64_t width = std::min<int64_t>(64, n - first);
    for (int64_t kk = 0; kk < shape.k(); kk += 4) {
      const int64_t real = std::min<int64_t>(4, shape.ic_per_group - kk % ic4);
      for (int64_t c = 0; c < width; ++c, weights += 4) {
        const bool exists = first + c < shape.oc_per_group;
        const int32_t zero = exists && zero_w != nullptr ? zero_w[first_channel + first + c] : 0;
        int64_t plain = 0, absolute = 0;
        for (int64_t i = 0; i < (exists ? real : 0); ++i) {
          plain += weights[i];
          absolute += std::abs(weights[i] - zero);
        }
        for (int64_t i = exists ? real : 0; i < 4; ++i) sums->padding_is_zero &= weights[i] == 0;
        if (exists) {
          const auto channel = static_cast<size_t>(first_channel + first + c);
          sums->plain[channel] += plain;
          sums->absolute[channel] += absolute;
        }
      }
    }
  }
}

}  // namespace

WeightSums SumConvWeights(const PackedShape& shape, const int8_t* weights, const int32_t* zero_w) {
  const auto channels = static_cast<size_t>(shape.groups * shape.oc_per_group);
  WeightSums sums{std::vector<int64_t>(channels), std::vector<int64_t>(channels)};
  for (int64_t group = 0; group < shape.groups; ++group) {
    SumGroup(shape, weights + group * shape.group_bytes(), zero_w, group * shape.oc_per_group,
             &sums);
  }
  return sums;
}

WeightSums SumDepthwiseWeights(int64_t channels, int64_t taps, const int8_t* weights,
                               const int32_t* zero_w) {
  const auto count = static_cast<size_t>(channels);
  WeightSums sums{std::vector<int64_t>(count), std::vector<int64_t>(count)};
  const int64_t row = RoundUp(channels, 64);
  for (int64_t tap = 0; tap < taps; ++tap, weights += row) {
    for (int64_t c = 0; c < channels; ++c) {
      sums.plain[static_cast<size_t>(c)] += weights[c];
      sums.absolute[static_cast<size_t>(c)] +=
          std::abs(weights[c] - (zero_w == nullptr ? 0 : zero_w[c]));
    }
    for (int64_t c = channels; c < row; ++c) sums.padding_is_zero &= weights[c] == 0;
  }
  return sums;
}

}  // namespace rshift
