// Arena planning: where each buffer lives so that buffers alive at the same time do not overlap.
#ifndef RSHIFT_CODEGEN_MEMORY_PLANNER_H_
#define RSHIFT_CODEGEN_MEMORY_PLANNER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rshift {

struct Buffer {
  int64_t size = 0;             // bytes, > 0; planned in units of 64
  int64_t first = 0, last = 0;  // inclusive command indices between which it is alive
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // one per buffer, multiples of 64
  int64_t arena = 0;             // bytes
  int64_t lower_bound = 0;       // max over time of live bytes (rounded to 64)
};

// Greedy in several orders, stops at the lower bound; then a deterministic hill-climb with a fixed
// number of steps. Not guaranteed to be the best placement (NP-complete); the gap is reported.
ArenaPlan PlanArena(const std::vector<Buffer>& buffers);
// Empty when valid, else what overlaps.
std::string ValidatePlan(const std::vector<Buffer>& buffers, const ArenaPlan& plan);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_MEMORY_PLANNER_H_
