// The reductions that are rare, or wait for std::exp.
#include <cmath>
#include <limits>

#include "base/portable_math.h"
#include "runtime/f32/reduce_plan.h"

namespace rshift::f32 {
namespace {

using Lanes = std::array<double, kMaxScalarLanes>;

// Calls take(lane, element) for the elements of `lanes` neighbouring outputs, in memory order for
// each of them.
template <typename F>
void ForEachReduced(const ReducePlan& plan, const float* base, int64_t lanes, const F& take) {
  for (int64_t row = 0; row < plan.reduced.total; ++row) {
    const float* at = base + plan.reduced.Offset(row);
    for (int64_t i = 0; i < plan.run; ++i, at += plan.run_stride) {
      for (int64_t lane = 0; lane < lanes; ++lane) take(lane, static_cast<double>(at[lane]));
    }
  }
}

}  // namespace

void ReduceProduct(const ReducePlan& plan, const float* base, int64_t lanes, float* out) {
  Lanes values;
  values.fill(1.0);
  ForEachReduced(plan, base, lanes, [&](int64_t lane, double x) { values[lane] *= x; });
  for (int64_t lane = 0; lane < lanes; ++lane) out[lane] = static_cast<float>(values[lane]);
}

void ReduceLogSumExp(const ReducePlan& plan, const float* base, int64_t lanes, float* out) {
  Lanes highest, sums{};
  highest.fill(-std::numeric_limits<double>::infinity());
  ForEachReduced(plan, base, lanes, [&](int64_t lane, double x) {
    if (x > highest[lane] || x != x) highest[lane] = x;
  });
  ForEachReduced(plan, base, lanes,
                 [&](int64_t lane, double x) { sums[lane] += portable::Exp(x - highest[lane]); });
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const double top = highest[lane];
    out[lane] = static_cast<float>(std::isfinite(top) ? top + portable::Log(sums[lane]) : top);
  }
}

}  // namespace rshift::f32
