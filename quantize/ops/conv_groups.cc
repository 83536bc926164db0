#include "quantize/ops/conv_groups.h"

#include <algorithm>

namespace rshift {
namespace {

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Of a pixel, in products: what is multiplied, with padding, and the end of a tile of up to 32 or
// 64 channels.
int64_t CostOf(int64_t groups, const Shape& w, int64_t together) {
  constexpr int64_t kNarrow = 32, kPanel = 64, kNarrowEnd = 640, kPanelEnd = 1280;
  const int64_t channels = w[0] / groups * together;
  const int64_t products = RoundUp(channels, 16) * RoundUp(w[1] * together, 4) * w[2] * w[3];
  const int64_t end =
      channels <= kNarrow ? kNarrowEnd : RoundUp(channels, kPanel) / kPanel * kPanelEnd;
  return groups / together * (products + end);
}

}  // namespace

int64_t GroupsTogether(int64_t groups, const Shape& weights) {
  int64_t best = 1;
  for (int64_t together = 2; together <= groups; ++together) {
    if (groups % together != 0) continue;
    if (CostOf(groups, weights, together) < CostOf(groups, weights, best)) best = together;
  }
  return best;
}

std::vector<int8_t> JoinGroups(std::span<const int8_t> weights, const Shape& shape, int64_t groups,
                               int64_t together, std::span<const int32_t> fill) {
  const int64_t own = shape[1] * shape[2] * shape[3], per_group = shape[0] / groups;
  std::vector<int8_t> result;
  result.reserve(weights.size() * static_cast<size_t>(together));
  for (int64_t oc = 0; oc < shape[0]; ++oc) {
    const auto zero = static_cast<int8_t>(fill.empty() ? 0 : fill[oc]);
    const int64_t before = oc / per_group % together;
    const auto first = weights.begin() + oc * own;
    result.insert(result.end(), before * own, zero);
    result.insert(result.end(), first, first + own);
    result.insert(result.end(), (together - 1 - before) * own, zero);
  }
  return result;
}

}  // namespace rshift
