// kReduceF32 over any set of axes. Every output is reduced on its own, in memory order and in
// double, so the result does not depend on the number of threads.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/f32/broadcast.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/modes.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// A walk over some of the source's dimensions, last one fastest.
struct Dims {
  int rank = 0;
  int64_t total = 1;
  std::array<int64_t, kMaxRank> size{}, stride{};

  void Append(int64_t dim, int64_t step) {
    size[rank] = dim;
    stride[rank] = step;
    total *= dim;
    ++rank;
  }
  int64_t Offset(int64_t index) const {
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; --d) {
      offset += index % size[d] * stride[d];
      index /= size[d];
    }
    return offset;
  }
};

struct Plan {
  Dims kept;
  Dims reduced;  // without its innermost dimension, which is `run`
  int64_t run = 1, run_stride = 0;
  int64_t count = 1;  // elements reduced for one output
  int64_t width = 1;  // outputs whose elements are neighbours: the last dimension, when it is kept
};

// Neighbouring outputs are reduced together, so that a channels-last image is read along its rows.
constexpr int64_t kMaxLanes = 16;
using Lanes = std::array<double, kMaxLanes>;

// Calls take(lane, element) for the elements of `lanes` neighbouring outputs, in memory order for
// each of them.
template <typename F>
void ForEachReduced(const Plan& plan, const float* base, int64_t lanes, const F& take) {
  for (int64_t row = 0; row < plan.reduced.total; ++row) {
    const float* at = base + plan.reduced.Offset(row);
    for (int64_t i = 0; i < plan.run; ++i, at += plan.run_stride) {
      for (int64_t lane = 0; lane < lanes; ++lane) take(lane, static_cast<double>(at[lane]));
    }
  }
}

template <ReduceMode kMode>
double Start() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kMode == ReduceMode::kMax || kMode == ReduceMode::kLogSumExp) return -kInfinity;
  if (kMode == ReduceMode::kMin) return kInfinity;
  return kMode == ReduceMode::kProd ? 1.0 : 0.0;
}

template <ReduceMode kMode>
double Join(double value, double x) {
  switch (kMode) {
    case ReduceMode::kMax:
    case ReduceMode::kLogSumExp:
      return x > value || x != x ? x : value;  // first pass: the maximum
    case ReduceMode::kMin:
      return x < value || x != x ? x : value;
    case ReduceMode::kProd:
      return value * x;
    case ReduceMode::kL1:
      return value + std::fabs(x);
    case ReduceMode::kL2:
    case ReduceMode::kSumSquare:
      return value + x * x;
    default:
      return value + x;
  }
}

// The second pass of LogSumExp: `values` holds the maxima.
void FinishLogSumExp(const Plan& plan, const float* base, int64_t lanes, Lanes* values) {
  Lanes sums{};
  ForEachReduced(plan, base, lanes,
                 [&](int64_t lane, double x) { sums[lane] += std::exp(x - (*values)[lane]); });
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (std::isfinite((*values)[lane])) (*values)[lane] += std::log(sums[lane]);
  }
}

template <ReduceMode kMode>
void ReduceLanes(const Plan& plan, const float* base, int64_t lanes, float* out) {
  Lanes values;
  values.fill(Start<kMode>());
  ForEachReduced(plan, base, lanes, [&values](int64_t lane, double x) {
    values[lane] = Join<kMode>(values[lane], x);
  });
  if (kMode == ReduceMode::kLogSumExp) FinishLogSumExp(plan, base, lanes, &values);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    double value = values[lane];
    if (kMode == ReduceMode::kMean) value /= plan.count;
    if (kMode == ReduceMode::kL2) value = std::sqrt(value);
    if (kMode == ReduceMode::kLogSum) value = std::log(value);
    out[lane] = static_cast<float>(value);
  }
}

using ReduceFunction = void (*)(const Plan& plan, const float* base, int64_t lanes, float* out);

// By ReduceMode.
constexpr ReduceFunction kFunctions[] = {
    ReduceLanes<ReduceMode::kMean>,      ReduceLanes<ReduceMode::kSum>,
    ReduceLanes<ReduceMode::kMax>,       ReduceLanes<ReduceMode::kMin>,
    ReduceLanes<ReduceMode::kProd>,      ReduceLanes<ReduceMode::kL1>,
    ReduceLanes<ReduceMode::kL2>,        ReduceLanes<ReduceMode::kSumSquare>,
    ReduceLanes<ReduceMode::kLogSumExp>, ReduceLanes<ReduceMode::kLogSum>,
};
static_assert(std::size(kFunctions) == kReduceModeCount);

Plan MakePlan(const StepContext& context) {
  const Shape& shape = context.Record(Field::kSrc).shape;
  RequireShape(shape.size() <= kMaxRank, context, Field::kSrc, "at most 8 dimensions");
  std::array<bool, kMaxRank> reduce{};
  const TensorRecord& list = context.Record(Field::kList);
  RequireType(context, Field::kList, {DType::kS64});
  const int64_t* axes = context.In<int64_t>(Field::kList);
  for (int64_t i = 0; i < NumElements(list.shape); ++i) {
    reduce[RequireAxis(context, axes[i], shape.size())] = true;
  }
  Plan plan;
  const Shape strides = Strides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    (reduce[d] ? plan.reduced : plan.kept).Append(shape[d], strides[d]);
  }
  plan.count = plan.reduced.total;
  if (!shape.empty() && !reduce[shape.size() - 1]) plan.width = shape.back();
  if (plan.reduced.rank > 0 && plan.count > 0) {
    const int last = --plan.reduced.rank;
    plan.run = plan.reduced.size[last];
    plan.run_stride = plan.reduced.stride[last];
    plan.reduced.total /= plan.run;
  }
  return plan;
}

}  // namespace

std::unique_ptr<Step> MakeReduce(const StepContext& context) {
  const int mode = RequireMode(context, Field::kMode, kReduceModeCount);
  RequireType(context, Field::kSrc, {DType::kF32});
  RequireType(context, Field::kDst, {DType::kF32});
  const Plan plan = MakePlan(context);
  RequireShape(NumElements(context.Record(Field::kDst).shape) == plan.kept.total, context,
               Field::kDst, "the source's without the reduced axes");
  const ReduceFunction reduce = kFunctions[mode];
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = Part(plan.kept.total, 16, team);
    for (int64_t i = range.begin; i < range.end;) {
      const int64_t lanes = std::min({kMaxLanes, plan.width - i % plan.width, range.end - i});
      reduce(plan, in + plan.kept.Offset(i), lanes, out + i);
      i += lanes;
    }
  });
}

}  // namespace rshift::f32
