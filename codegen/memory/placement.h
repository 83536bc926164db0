// One placement: buffers take the lowest free address, in a given order. Not for use outside
// codegen/memory.
#ifndef RSHIFT_CODEGEN_MEMORY_PLACEMENT_H_
#define RSHIFT_CODEGEN_MEMORY_PLACEMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "codegen/memory/planner.h"

namespace rshift {

// Calls f(a, b) once for each pair of buffers that are alive together; takes no longer than sorting
// and these calls.
void ForEachPairAlive(const std::vector<Buffer>& buffers,
                      const std::function<void(int32_t, int32_t)>& f);

// Sizes in bytes rounded up to 64, and who is alive together with whom.
struct PlacementProblem {
  explicit PlacementProblem(const std::vector<Buffer>& buffers);

  std::vector<int64_t> sizes;
  std::vector<std::vector<int32_t>> conflicts;  // per buffer, ascending
  int64_t lower_bound = 0;
};

using Order = std::vector<int32_t>;

// First fit.
ArenaPlan PlaceInOrder(const PlacementProblem& problem, const Order& order);

// Where all are alive at one time, as in observable programs: one behind the other, which is what
// PlaceInOrder gives, without looking at pairs of thousands of buffers. Else nothing.
std::optional<ArenaPlan> PlaceEndToEnd(const std::vector<Buffer>& buffers, const Order& order);

// Swaps buffers of the order for a fixed number of steps that depends on the problem's size alone,
// keeping what is not worse; always the same result for the same input. Gives the best plan found,
// at best the lower bound.
ArenaPlan HillClimb(const PlacementProblem& problem, Order order);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_MEMORY_PLACEMENT_H_
