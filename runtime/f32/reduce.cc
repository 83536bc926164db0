// kReduceF32 over any set of axes. A thread computes whole outputs, each in an order that depends
// on the shape only: of elements that are neighbours sixteen partial sums (row_kernels.h), of
// others one sum in memory order, in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/portable_math.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/reduce_plan.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Reduction {
  ReducePlan plan;
  ReduceOp mode = ReduceOp::kSum;
  const RowKernels* loops = nullptr;

  bool Extreme() const { return mode == ReduceOp::kMax || mode == ReduceOp::kMin; }
  bool Lowest() const { return mode == ReduceOp::kMin; }
  bool Absolute() const { return mode == ReduceOp::kL1; }
  bool Squares() const { return mode == ReduceOp::kL2 || mode == ReduceOp::kSumSquare; }
};

// One NaN for all: which of several an addition hands on is the instruction set's choice.
float Finish(const Reduction& reduction, double value) {
  switch (reduction.mode) {
    case ReduceOp::kMean:
      value /= static_cast<double>(reduction.plan.count);
      break;
    case ReduceOp::kL2:
      value = std::sqrt(value);
      break;
    case ReduceOp::kLogSum:
      value = portable::Log(value);
      break;
    case ReduceOp::kSum:
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kProd:
    case ReduceOp::kL1:
    case ReduceOp::kSumSquare:
    case ReduceOp::kLogSumExp:
      break;
  }
  return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
}

// An output whose elements are neighbours, or runs of neighbours.
float ReduceRow(const Reduction& r, const float* base) {
  const ReducePlan& plan = r.plan;
  double value = r.Extreme() ? (r.Lowest() ? kInfinity : -kInfinity) : 0.0;
  for (int64_t row = 0; row < plan.reduced.total; ++row) {
    const float* x = base + plan.reduced.Offset(row);
    if (r.Extreme()) {
      const double best = r.loops->extreme(x, plan.run, r.Lowest());
      const bool better = r.Lowest() ? best < value : best > value;
      value = better || best != best ? best : value;
    } else {
      value += r.Squares() ? r.loops->squares(x, plan.run, 0.0)
                           : r.loops->sum(x, plan.run, r.Absolute());
    }
  }
  return Finish(r, value);
}

// Wide enough to read whole pages of an image whose channels are reduced, narrow enough for L1.
constexpr int64_t kMaxLanes = 512;

// `lanes` neighbouring outputs.
void ReduceColumns(const Reduction& r, const float* base, int64_t lanes, float* out) {
  alignas(64) double sums[kMaxLanes], about[kMaxLanes];
  alignas(64) float extremes[kMaxLanes];
  const int64_t room = (lanes + 7) / 8 * 8;
  if (r.Extreme()) {
    std::fill_n(extremes, room, static_cast<float>(-kInfinity));
  } else {
    std::fill_n(sums, room, 0.0);
    if (r.Squares()) std::fill_n(about, room, 0.0);
  }
  for (int64_t row = 0; row < r.plan.reduced.total; ++row) {
    const Columns columns{base + r.plan.reduced.Offset(row), r.plan.run, r.plan.run_stride, lanes};
    if (r.Extreme()) {
      r.loops->extreme_columns(columns, r.Lowest(), extremes);
    } else if (r.Squares()) {
      r.loops->square_columns(columns, about, sums);
    } else {
      r.loops->sum_columns(columns, r.Absolute(), sums);
    }
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const double extreme = r.Lowest() ? -extremes[lane] : extremes[lane];
    out[lane] = Finish(r, r.Extreme() ? extreme : sums[lane]);
  }
}

void ReduceRange(const Reduction& r, const Range& range, const float* in, float* out) {
  const ReducePlan& plan = r.plan;
  const bool scalar = r.mode == ReduceOp::kProd || r.mode == ReduceOp::kLogSumExp;
  for (int64_t i = range.begin; i < range.end;) {
    const float* base = in + plan.kept.Offset(i);
    if (plan.rows && !scalar) {
      out[i++] = ReduceRow(r, base);
      continue;
    }
    const int64_t lanes = std::min(
        {scalar ? kMaxScalarLanes : kMaxLanes, plan.width - i % plan.width, range.end - i});
    if (r.mode == ReduceOp::kProd) {
      ReduceProduct(plan, base, lanes, out + i);
    } else if (scalar) {
      ReduceLogSumExp(plan, base, lanes, out + i);
    } else {
      ReduceColumns(r, base, lanes, out + i);
    }
    i += lanes;
  }
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ReduceF32& c) {
  if (context.Record(Field::kSrc).dtype != DType::kF32) return MakeIntegerReduction(context, c.op);
  const Reduction reduction{MakeReducePlan(context), c.op, &RowKernelsFor(context.isa)};
  const int64_t outputs = reduction.plan.kept.total;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom(
      [=](const Team& team) { ReduceRange(reduction, ThreadRange(outputs, 16, team), in, out); });
}

}  // namespace rshift::f32
