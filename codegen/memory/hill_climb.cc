#include <algorithm>

#include "codegen/memory/placement.h"

namespace rshift {
namespace {

// The same numbers on every platform, unlike the distributions of <random>.
class SplitMix64 {
 public:
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t Below(size_t limit) { return static_cast<int64_t>(Next() % limit); }

 private:
  uint64_t state_ = 1;
};

// About a second of work at most, whatever the problem.
int64_t StepCount(const PlacementProblem& problem) {
  int64_t work = 1;  // of one placement
  for (const std::vector<int32_t>& conflicts : problem.conflicts) {
    work += static_cast<int64_t>(conflicts.size()) + 8;
  }
  return std::clamp<int64_t>(int64_t{40'000'000} / work, 10, 20'000);
}

// Buffers that end at the top of the arena: only moving one of these can lower it.
Order Highest(const PlacementProblem& problem, const ArenaPlan& plan) {
  Order result;
  for (size_t i = 0; i < problem.sizes.size(); ++i) {
    if (plan.offsets[i] + problem.sizes[i] == plan.arena) result.push_back(static_cast<int32_t>(i));
  }
  return result;
}

}  // namespace

ArenaPlan HillClimb(const PlacementProblem& problem, Order order) {
  SplitMix64 random;
  ArenaPlan current = PlaceInOrder(problem, order);
  ArenaPlan best = current;
  const int64_t steps = StepCount(problem);
  for (int64_t step = 0; step < steps && best.arena > problem.lower_bound; ++step) {
    const Order highest = Highest(problem, current);
    const int32_t top = highest[random.Below(highest.size())];
    const std::vector<int32_t>& below = problem.conflicts[top];
    if (below.empty()) break;
    // Either the top buffer itself or one that stands in its way is placed at another time.
    const int32_t moved = random.Below(2) == 0 ? top : below[random.Below(below.size())];
    Order candidate = order;
    const auto place = std::find(candidate.begin(), candidate.end(), moved);
    std::iter_swap(place, candidate.begin() + random.Below(candidate.size()));
    ArenaPlan plan = PlaceInOrder(problem, candidate);
    if (plan.arena > current.arena) continue;
    current = std::move(plan);
    order = std::move(candidate);
    if (current.arena < best.arena) best = current;
  }
  return best;
}

}  // namespace rshift
