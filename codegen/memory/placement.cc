#include "codegen/memory/placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/aligned.h"

namespace rshift {
namespace {

constexpr int64_t kUnit = kBufferAlignment;

// The largest sum of live sizes; it can only change where a buffer's life begins.
int64_t LowerBound(const std::vector<Buffer>& buffers, const std::vector<int64_t>& sizes) {
  std::vector<std::pair<int64_t, int64_t>>
      events;  // time, change; a life ends after its last command
  for (size_t i = 0; i < buffers.size(); ++i) {
    events.emplace_back(buffers[i].first, sizes[i]);
    events.emplace_back(buffers[i].last + 1, -sizes[i]);
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = 0;
  for (const auto& [time, change] : events) most = std::max(most, live += change);
  return most;
}

std::vector<int64_t> RoundedSizes(const std::vector<Buffer>& buffers) {
  std::vector<int64_t> sizes;
  sizes.reserve(buffers.size());
  for (const Buffer& buffer : buffers) sizes.push_back((buffer.size + kUnit - 1) / kUnit * kUnit);
  return sizes;
}

}  // namespace

void ForEachPairAlive(const std::vector<Buffer>& buffers,
                      const std::function<void(int32_t, int32_t)>& f) {
  std::vector<int32_t> order(buffers.size()), alive;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return buffers[a].first < buffers[b].first; });
  for (const int32_t next : order) {
    std::erase_if(alive, [&](int32_t b) { return buffers[b].last < buffers[next].first; });
    for (const int32_t other : alive) f(other, next);
    alive.push_back(next);
  }
}

PlacementProblem::PlacementProblem(const std::vector<Buffer>& buffers)
    : sizes(RoundedSizes(buffers)), conflicts(buffers.size()) {
  ForEachPairAlive(buffers, [&](int32_t a, int32_t b) {
    conflicts[a].push_back(b);
    conflicts[b].push_back(a);
  });
  for (std::vector<int32_t>& list : conflicts) std::sort(list.begin(), list.end());
  lower_bound = LowerBound(buffers, sizes);
}

std::optional<ArenaPlan> PlaceEndToEnd(const std::vector<Buffer>& buffers, const Order& order) {
  const std::vector<int64_t> sizes = RoundedSizes(buffers);
  ArenaPlan plan;
  plan.lower_bound = LowerBound(buffers, sizes);
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != plan.lower_bound) return {};
  plan.offsets.resize(buffers.size());
  for (const int32_t buffer : order) {
    plan.offsets[buffer] = plan.arena;
    plan.arena += sizes[buffer];
  }
  return plan;
}

ArenaPlan PlaceInOrder(const PlacementProblem& problem, const Order& order) {
  ArenaPlan plan;
  plan.offsets.assign(problem.sizes.size(), -1);
  plan.lower_bound = problem.lower_bound;
  std::vector<std::pair<int64_t, int64_t>>
      taken;  // begin, end of placed buffers alive at the same time
  for (const int32_t buffer : order) {
    taken.clear();
    for (const int32_t other : problem.conflicts[buffer]) {
      const int64_t begin = plan.offsets[other];
      if (begin >= 0) taken.emplace_back(begin, begin + problem.sizes[other]);
    }
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - offset >= problem.sizes[buffer]) break;
      offset = std::max(offset, end);
    }
    plan.offsets[buffer] = offset;
    plan.arena = std::max(plan.arena, offset + problem.sizes[buffer]);
  }
  return plan;
}

}  // namespace rshift
