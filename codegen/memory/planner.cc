#include "codegen/memory/planner.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/aligned.h"
#include "base/error.h"
#include "codegen/memory/placement.h"

namespace rshift {
namespace {

// Keys that sort buffers for placement, ascending; ties go by index.
using Key = std::tuple<int64_t, int64_t>;
using KeyOf = Key (*)(const Buffer&);
constexpr std::array<KeyOf, 5> kOrders = {
    [](const Buffer& b) {
      return Key{-b.size, b.first};
    },  // big ones first
    [](const Buffer& b) {
      return Key{-(b.last - b.first), -b.size};
    },  // long lives first
    [](const Buffer& b) {
      return Key{-b.size * (b.last - b.first + 1), b.first};
    },  // both
    [](const Buffer& b) {
      return Key{b.first, -b.size};
    },  // in time
    [](const Buffer& b) {
      return Key{-b.last, -b.size};
    },  // backwards in time
};

Order SortedBy(const std::vector<Buffer>& buffers, KeyOf key) {
  Order order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return key(buffers[a]) < key(buffers[b]); });
  return order;
}

}  // namespace

ArenaPlan PlanArena(const std::vector<Buffer>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    RSHIFT_REQUIRE(buffers[i].size > 0 && buffers[i].first <= buffers[i].last, ErrorCode::kInternal,
                   "buffer ", i, " has ", buffers[i].size, " bytes and lives from ",
                   buffers[i].first, " to ", buffers[i].last, ", expected a size and a life");
  }
  if (const std::optional<ArenaPlan> plan = PlaceEndToEnd(buffers, SortedBy(buffers, kOrders[0])))
    return *plan;
  const PlacementProblem problem(buffers);
  std::optional<ArenaPlan> best;
  Order best_order;
  for (const KeyOf key : kOrders) {
    Order order = SortedBy(buffers, key);
    ArenaPlan plan = PlaceInOrder(problem, order);
    if (best && plan.arena >= best->arena) continue;
    best = std::move(plan);
    best_order = std::move(order);
    if (best->arena == problem.lower_bound) return *best;
  }
  return HillClimb(problem, std::move(best_order));
}

std::string ValidatePlan(const std::vector<Buffer>& buffers, const ArenaPlan& plan) {
  if (plan.offsets.size() != buffers.size()) {
    return Cat(plan.offsets.size(), " offsets for ", buffers.size(), " buffers");
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t begin = plan.offsets[i], end = begin + buffers[i].size;
    if (begin < 0 || begin % static_cast<int64_t>(kBufferAlignment) != 0 || end > plan.arena) {
      return Cat("buffer ", i, " at ", begin, "..", end, " is not aligned or leaves the arena of ",
                 plan.arena);
    }
  }
  // Buffers alive by their place: as long as none overlap, a new one can only meet its neighbours.
  std::map<int64_t, int32_t> alive;
  const Order starts = SortedBy(buffers, [](const Buffer& b) { return Key{b.first, 0}; });
  const Order ends = SortedBy(buffers, [](const Buffer& b) { return Key{b.last, 0}; });
  auto end = ends.begin();
  for (const int32_t next : starts) {
    for (; buffers[*end].last < buffers[next].first; ++end) alive.erase(plan.offsets[*end]);
    const auto above = alive.lower_bound(plan.offsets[next]);
    const auto meets = [&](int32_t other) {
      return plan.offsets[next] < plan.offsets[other] + buffers[other].size &&
             plan.offsets[other] < plan.offsets[next] + buffers[next].size;
    };
    int32_t met = -1;
    if (above != alive.end() && meets(above->second)) met = above->second;
    if (above != alive.begin() && meets(std::prev(above)->second)) met = std::prev(above)->second;
    if (met >= 0)
      return Cat("buffers ", std::min(met, next), " and ", std::max(met, next), " overlap");
    alive.emplace(plan.offsets[next], next);
  }
  return "";
}

}  // namespace rshift
