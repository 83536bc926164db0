// kResizeF32: linear and cubic interpolation, each dimension with its own taps, computed once, when
// the step is made.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "quantize/numerics/resize_taps.h"
#include "runtime/f32/broadcast.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

constexpr int kMaxResized = 4;

struct Tap {
  int64_t offset = 0;  // into the source, in elements
  float weight = 0;
};

// One dimension: output index i reads taps[i * per_output ...].
struct Dimension {
  int64_t size = 1;  // of the output
  int per_output = 1;
  std::vector<Tap> taps;
};

// Dimensions up to the last resized one, then `inner` neighbouring elements that share their taps.
struct Plan {
  std::vector<Dimension> dims;
  int64_t inner = 1;
  int combinations = 1;  // taps of one output in all dimensions but the last
};

// Products of the taps of output `row`, an index over all dimensions but the last; `taps` holds
// plan.combinations.
void CombineTaps(const Plan& plan, int64_t row, Tap* taps) {
  int count = 1;
  taps[0] = {0, 1.0f};
  for (size_t d = plan.dims.size() - 1; d-- > 0;) {
    const Dimension& dim = plan.dims[d];
    const Tap* own = &dim.taps[row % dim.size * dim.per_output];
    row /= dim.size;
    for (int k = dim.per_output - 1; k >= 0; --k) {  // backwards: slot 0 is read until the end
      for (int i = 0; i < count; ++i) {
        taps[k * count + i] = {taps[i].offset + own[k].offset, taps[i].weight * own[k].weight};
      }
    }
    count *= dim.per_output;
  }
}

constexpr int kMaxCombinations = 64;  // 4 taps in each of 3 dimensions

// out = out, or 0 at first, + x[0] * weight[0] + ... + x[3] * weight[3], in this order: one load
// and one store for four taps.
void AddFourTaps(const std::array<const float*, 4>& x, const std::array<float, 4>& weight,
                 bool first, int64_t count, float* out) {
  const float *a = x[0], *b = x[1], *c = x[2], *d = x[3];
  const float wa = weight[0], wb = weight[1], wc = weight[2], wd = weight[3];
  if (first) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      out[i] = 0.0f + a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
    }
  } else {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      out[i] = out[i] + a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
    }
  }
}

// One output position: `inner` elements.
void Interpolate(const Plan& plan, const Tap* row, const Tap* own, int per_output, const float* in,
                 float* out) {
  if (plan.inner == 1) {
    float sum = 0;
    for (int i = 0; i < plan.combinations; ++i) {
      for (int k = 0; k < per_output; ++k) {
        sum += in[row[i].offset + own[k].offset] * (row[i].weight * own[k].weight);
      }
    }
    *out = sum;
    return;
  }
  const int taps = plan.combinations * per_output;
  const auto source = [&](int t) {
    return in + row[t / per_output].offset + own[t % per_output].offset;
  };
  const auto weight = [&](int t) {
    return row[t / per_output].weight * own[t % per_output].weight;
  };
  int t = 0;
  for (; t + 4 <= taps; t += 4) {
    AddFourTaps({source(t), source(t + 1), source(t + 2), source(t + 3)},
                {weight(t), weight(t + 1), weight(t + 2), weight(t + 3)}, t == 0, plan.inner, out);
  }
  if (t == 0) std::fill_n(out, plan.inner, 0.0f);
  for (; t < taps; ++t) {
    const float* from = source(t);
    const float by = weight(t);
#pragma omp simd
    for (int64_t c = 0; c < plan.inner; ++c) out[c] += from[c] * by;
  }
}

void ResizeRange(const Plan& plan, const Range& range, const float* in, float* out) {
  std::array<Tap, kMaxCombinations> taps;
  const Dimension& last = plan.dims.back();
  int64_t row = -1;
  for (int64_t at = range.begin; at < range.end; ++at) {
    if (at / last.size != row) {
      row = at / last.size;
      CombineTaps(plan, row, taps.data());
    }
    const Tap* own = &last.taps[at % last.size * last.per_output];
    Interpolate(plan, taps.data(), own, last.per_output, in, out + at * plan.inner);
  }
}

Dimension MakeDimension(const numerics::ResizeAxis& axis, const isa::ResizeF32& c, int64_t stride) {
  Dimension dim;
  dim.size = axis.out;
  const bool linear = c.mode == ResizeMode::kLinear;
  const bool resized = axis.in != axis.out || axis.scale != 1.0f;
  dim.per_output = !resized ? 1 : linear ? 2 : 4;
  dim.taps.reserve(static_cast<size_t>(axis.out * dim.per_output));
  const auto append = [&](const auto& taps) {
    for (const numerics::ResizeTap& tap : taps)
      dim.taps.push_back({tap.index * stride, tap.weight});
  };
  for (int64_t i = 0; i < axis.out; ++i) {
    if (!resized) {
      dim.taps.push_back({i * stride, 1.0f});
    } else if (linear) {
      append(numerics::LinearTaps(axis, i));
    } else {
      append(numerics::CubicTaps(axis, c.cubic_a, c.exclude_outside, i));
    }
  }
  return dim;
}

Plan MakePlan(const StepContext& context, const isa::ResizeF32& c) {
  const Shape& in = context.Record(Field::kSrc).shape;
  const Shape& out = context.Record(Field::kDst).shape;
  RequireShape(!in.empty(), context, Field::kSrc, "at least one dimension");
  const float* scales = context.In<float>(Field::kList);
  const Shape strides = Strides(in);
  Plan plan;
  size_t used = in.size();
  while (used > 1 && in[used - 1] == out[used - 1] && scales[used - 1] == 1.0f) {
    plan.inner *= in[--used];
  }
  int resized = 0;
  for (size_t d = 0; d < used; ++d) {
    plan.dims.push_back(MakeDimension({c.coordinate, scales[d], in[d], out[d]}, c, strides[d]));
    resized += plan.dims.back().per_output > 1 ? 1 : 0;
    if (d + 1 < used) plan.combinations *= plan.dims.back().per_output;
  }
  RSHIFT_REQUIRE(resized <= kMaxResized, ErrorCode::kUnsupported, Where(context), ": resizes ",
                 resized, " dimensions, expected at most ", kMaxResized,
                 ": split it in two in the model");
  return plan;
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeF32& c) {
  RSHIFT_REQUIRE(
      c.mode != ResizeMode::kNearest, ErrorCode::kUnsupported, Where(context),
      ": mode is nearest, expected linear or cubic: nearest is the command resize_nearest");
  if (context.Record(Field::kDst).bytes() == 0) return NothingToDo();
  Plan plan = MakePlan(context, c);
  const int64_t positions = NumElements(context.Record(Field::kDst).shape) / plan.inner;
  const int64_t grain = plan.inner < 16 ? 16 : 1;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([plan = std::move(plan), positions, grain, in, out](const Team& team) {
    ResizeRange(plan, ThreadRange(positions, grain, team), in, out);
  });
}

}  // namespace rshift::f32
