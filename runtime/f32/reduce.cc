// kReduceF32 over any set of axes. Every output is reduced on its own, in memory order and in double, so the result
// does not depend on the number of threads.
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
};

template <typename F>
void ForEachReduced(const Plan& plan, const float* base, const F& take) {
  for (int64_t row = 0; row < plan.reduced.total; ++row) {
    const float* at = base + plan.reduced.Offset(row);
    for (int64_t i = 0; i < plan.run; ++i) take(static_cast<double>(at[i * plan.run_stride]));
  }
}

template <ReduceMode kMode>
double ReduceOne(const Plan& plan, const float* base) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr bool kExtreme = kMode == ReduceMode::kMax || kMode == ReduceMode::kLogSumExp;
  double value = kExtreme ? -kInfinity : kMode == ReduceMode::kMin ? kInfinity
                                     : kMode == ReduceMode::kProd  ? 1.0
                                                                   : 0.0;
  ForEachReduced(plan, base, [&value](double x) {
    if constexpr (kExtreme) {
      value = x > value || x != x ? x : value;
    } else if constexpr (kMode == ReduceMode::kMin) {
      value = x < value || x != x ? x : value;
    } else if constexpr (kMode == ReduceMode::kProd) {
      value *= x;
    } else if constexpr (kMode == ReduceMode::kL1) {
      value += std::fabs(x);
    } else if constexpr (kMode == ReduceMode::kL2 || kMode == ReduceMode::kSumSquare) {
      value += x * x;
    } else {
      value += x;
    }
  });
  if constexpr (kMode == ReduceMode::kMean) return value / plan.count;
  if constexpr (kMode == ReduceMode::kL2) return std::sqrt(value);
  if constexpr (kMode == ReduceMode::kLogSum) return std::log(value);
  if constexpr (kMode == ReduceMode::kLogSumExp) {
    if (std::isinf(value) || value != value) return value;
    double sum = 0;
    ForEachReduced(plan, base, [&sum, value](double x) { sum += std::exp(x - value); });
    return value + std::log(sum);
  }
  return value;
}

using ReduceFunction = double (*)(const Plan& plan, const float* base);

// By ReduceMode.
constexpr ReduceFunction kFunctions[] = {
    ReduceOne<ReduceMode::kMean>, ReduceOne<ReduceMode::kSum>,       ReduceOne<ReduceMode::kMax>,
    ReduceOne<ReduceMode::kMin>,  ReduceOne<ReduceMode::kProd>,      ReduceOne<ReduceMode::kL1>,
    ReduceOne<ReduceMode::kL2>,   ReduceOne<ReduceMode::kSumSquare>, ReduceOne<ReduceMode::kLogSumExp>,
    ReduceOne<ReduceMode::kLogSum>,
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
  RequireShape(NumElements(context.Record(Field::kDst).shape) == plan.kept.total, context, Field::kDst,
               "the source's without the reduced axes");
  const ReduceFunction reduce = kFunctions[mode];
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = Part(plan.kept.total, 16, team);
    for (int64_t i = range.begin; i < range.end; ++i) {
      out[i] = static_cast<float>(reduce(plan, in + plan.kept.Offset(i)));
    }
  });
}

}  // namespace rshift::f32
