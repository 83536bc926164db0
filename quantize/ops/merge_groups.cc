#include "quantize/ops/merge_groups.h"

#include <algorithm>

#include "quantize/ops/conv_cost.h"

namespace rshift {
namespace {

// Of a pixel.
int64_t CostOf(int64_t groups, const Shape& w, int64_t together) {
  return groups / together * PixelCost(w[0] / groups * together, w[2] * w[3], w[1] * together);
}

}  // namespace

int64_t GroupsPerCommand(int64_t groups, const Shape& weights) {
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
