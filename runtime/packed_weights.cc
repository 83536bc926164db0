#include "runtime/packed_weights.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/kernels/weight_sums.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

constexpr int64_t kPiece = 8192;  // bytes read while they are in the nearest cache

// A panel of one group: quads of four K positions, each of `width` channels.
struct Panel {
  int64_t offset = 0;         // of its first byte, from the first weight
  int64_t first_channel = 0;  // of all groups
  int64_t real = 0;           // channels that exist
  int64_t width = 0;
};

template <typename Visit>
void ForEachPanel(const PackedShape& shape, const Visit& visit) {
  for (int64_t group = 0; group < shape.groups; ++group) {
    for (int64_t first = 0; first < shape.n(); first += kPanelChannels) {
      visit(Panel{.offset = group * shape.group_bytes() + first * shape.k(),
                  .first_channel = group * shape.oc_per_group + first,
                  .real = std::min(kPanelChannels, shape.oc_per_group - first),
                  .width = std::min(kPanelChannels, shape.n() - first)});
    }
  }
}

// No byte of `count` words of four, ANDed with the mask, is set.
bool AllZero(const int8_t* bytes, int64_t count, uint32_t mask) {
  uint32_t any = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word;
    std::memcpy(&word, bytes + 4 * i, sizeof word);
    any |= word;
  }
  return (any & mask) == 0;
}

// Of each word of four K positions, those from `real` on.
uint32_t MaskFrom(int64_t real) {
  int8_t bytes[4];
  for (int64_t i = 0; i < 4; ++i) bytes[i] = i < real ? 0 : -1;
  uint32_t mask;
  std::memcpy(&mask, bytes, sizeof mask);
  return mask;
}

}  // namespace

std::vector<uint32_t> SumConvWeights(const PackedShape& shape, const int8_t* weights,
                                     const BeforeReading& before) {
  static const WeightSumFn sum = WeightSumFor(BestIsa());
  std::vector<uint32_t> sums(static_cast<size_t>(shape.groups * shape.oc_per_group));
  ForEachPanel(shape, [&](const Panel& panel) {
    uint32_t channels[kPanelChannels] = {};
    const int64_t quads = shape.k() / 4, most = kPiece / (4 * panel.width);
    for (int64_t quad = 0; quad < quads; quad += most) {
      const int64_t count = std::min(most, quads - quad);
      const int64_t offset = panel.offset + quad * 4 * panel.width;
      before(offset + count * 4 * panel.width);
      sum(weights + offset, count, panel.width, channels);
    }
    std::copy_n(channels, panel.real, sums.begin() + panel.first_channel);
  });
  return sums;
}

std::vector<uint32_t> SumDepthwiseWeights(int64_t channels, int64_t taps, const int8_t* weights) {
  std::vector<uint32_t> sums(static_cast<size_t>(channels));
  const int64_t row = RoundUp(channels, kPanelChannels);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < channels; ++c) {
      sums[static_cast<size_t>(c)] += static_cast<uint32_t>(int32_t{weights[tap * row + c]});
    }
  }
  return sums;
}

std::vector<int64_t> SumConvDistances(const PackedShape& shape, const int8_t* weights,
                                      const int32_t* zero_w) {
  std::vector<int64_t> sums(static_cast<size_t>(shape.groups * shape.oc_per_group));
  const int64_t ic4 = RoundUp(shape.ic_per_group, kDotProducts);
  ForEachPanel(shape, [&](const Panel& panel) {
    for (int64_t k = 0; k < shape.k(); ++k) {
      if (k % ic4 >= shape.ic_per_group) continue;
      const int8_t* row = weights + panel.offset + k / 4 * panel.width * 4 + k % 4;
      for (int64_t c = 0; c < panel.real; ++c) {
        const auto channel = static_cast<size_t>(panel.first_channel + c);
        const int32_t zero = zero_w == nullptr ? 0 : zero_w[channel];
        sums[channel] += std::abs(row[4 * c] - zero);
      }
    }
  });
  return sums;
}

std::vector<int64_t> SumDepthwiseDistances(int64_t channels, int64_t taps, const int8_t* weights,
                                           const int32_t* zero_w) {
  std::vector<int64_t> sums(static_cast<size_t>(channels));
  const int64_t row = RoundUp(channels, kPanelChannels);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < channels; ++c) {
      const int32_t zero = zero_w == nullptr ? 0 : zero_w[c];
      sums[static_cast<size_t>(c)] += std::abs(weights[tap * row + c] - zero);
    }
  }
  return sums;
}

bool ConvPaddingIsZero(const PackedShape& shape, const int8_t* weights) {
  const int64_t ic4 = RoundUp(shape.ic_per_group, kDotProducts), remainder = shape.ic_per_group % 4;
  if (remainder == 0 && shape.n() == shape.oc_per_group) return true;
  bool zero = true;
  ForEachPanel(shape, [&](const Panel& panel) {
    const int64_t line = panel.width * 4;
    const int8_t* at = weights + panel.offset;
    for (int64_t end = ic4; end <= shape.k() && remainder != 0; end += ic4) {
      zero &= AllZero(at + (end / 4 - 1) * line, panel.width, MaskFrom(remainder));
    }
    for (int64_t quad = 0; quad < shape.k() / 4 && panel.real < panel.width; ++quad) {
      zero &= AllZero(at + quad * line + panel.real * 4, panel.width - panel.real, MaskFrom(0));
    }
  });
  return zero;
}

bool DepthwisePaddingIsZero(int64_t channels, int64_t taps, const int8_t* weights) {
  const int64_t row = RoundUp(channels, kPanelChannels);
  bool zero = true;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int8_t* end = weights + (tap + 1) * row;
    zero &= std::all_of(end - (row - channels), end, [](int8_t w) { return w == 0; });
  }
  return zero;
}

}  // namespace rshift
