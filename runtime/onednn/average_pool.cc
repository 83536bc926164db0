// kAveragePoolF32, NHWC. The divisor is the number of taps inside the image or, counting pads,
// inside image and pads; taps that only ceil_mode adds behind the pads never count.
#include <algorithm>
#include <array>

#include "isa/ops/field_list.h"
#include "runtime/f32/step_tools.h"
#include "runtime/onednn/makers.h"

namespace rshift::f32 {
namespace {

constexpr int64_t kChannelBlock = 64;

struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;
};

// Taps [begin, end) of a window lie inside the image; `counted` of them enter the divisor.
struct Taps {
  int64_t origin = 0;  // image coordinate of tap 0
  int64_t begin = 0, end = 0;
  int64_t counted = 0;
};

Taps TapsAt(const Axis& axis, int64_t out, bool count_pads) {
  Taps taps;
  taps.origin = out * axis.stride - axis.pad_before;
  // The first tap at or behind `bound`.
  const auto first = [&](int64_t bound) {
    const int64_t distance = std::max<int64_t>(bound - taps.origin, 0);
    return std::min(axis.kernel, (distance + axis.dilation - 1) / axis.dilation);
  };
  taps.begin = first(0);
  taps.end = std::max(taps.begin, first(axis.in));
  taps.counted = taps.end - taps.begin;
  if (count_pads) {
    // Nothing lies before the pads: the first window starts on them.
    const int64_t room = axis.in + axis.pad_after - 1 - taps.origin;
    taps.counted = room < 0 ? 0 : std::min(axis.kernel, room / axis.dilation + 1);
  }
  return taps;
}

struct Plan {
  Axis h, w;
  int64_t batch = 1, channels = 1;
  bool count_pads = false;
};

// Output (n, y, x), channels [begin, begin + width). Summed in double, in memory order.
void PoolBlock(const Plan& plan, const float* image, const Taps& rows, const Taps& columns,
               int64_t width, float* out) {
  std::array<double, kChannelBlock> sums{};
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const int64_t y = rows.origin + i * plan.h.dilation;
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      const int64_t x = columns.origin + j * plan.w.dilation;
      const float* from = image + (y * plan.w.in + x) * plan.channels;
#pragma omp simd
      for (int64_t c = 0; c < width; ++c) sums[c] += from[c];
    }
  }
  const int64_t counted = rows.counted * columns.counted;
  const double divisor = counted > 0 ? static_cast<double>(counted) : 1.0;
  for (int64_t c = 0; c < width; ++c) out[c] = static_cast<float>(sums[c] / divisor);
}

Axis AxisOf(const StepContext& context, bool vertical) {
  const Window w = isa::ReadWindow(*context.command);
  const size_t dim = vertical ? 1 : 2;
  const int64_t in = context.Record(Field::kSrc).shape[dim];
  const int64_t out = context.Record(Field::kDst).shape[dim];
  if (vertical) return {in, out, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top, w.pad_bottom};
  return {in, out, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left, w.pad_right};
}

Plan MakePlan(const StepContext& context) {
  for (const Field field : {Field::kDst, Field::kSrc}) {
    RequireType(context, field, {DType::kF32});
    RequireShape(context.Record(field).shape.size() == 4, context, field, "4 dimensions");
  }
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  RequireShape(dst[0] == src[0] && dst[3] == src[3], context, Field::kDst,
               "the source's batch and channels");
  Plan plan{AxisOf(context, true), AxisOf(context, false), src[0], src[3],
            (context.command->Get(Field::kFlags) & 1) != 0};
  for (const Axis* axis : {&plan.h, &plan.w}) {
    RSHIFT_REQUIRE(axis->kernel >= 1 && axis->stride >= 1 && axis->dilation >= 1,
                   ErrorCode::kCorrupt, Where(context),
                   ": the window is empty, expected kernel, stride and dilation of at least 1: ",
                   "compile the model again");
  }
  return plan;
}

}  // namespace

std::unique_ptr<Step> MakeAveragePool(const StepContext& context) {
  const Plan plan = MakePlan(context);
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  const int64_t blocks = (plan.channels + kChannelBlock - 1) / kChannelBlock;
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(plan.batch * plan.h.out * plan.w.out * blocks, 1, team);
    for (int64_t item = range.begin; item < range.end; ++item) {
      const int64_t channel = item % blocks * kChannelBlock, pixel = item / blocks;
      const int64_t x = pixel % plan.w.out, y = pixel / plan.w.out % plan.h.out;
      const int64_t n = pixel / plan.w.out / plan.h.out;
      const float* image = in + n * plan.h.in * plan.w.in * plan.channels + channel;
      PoolBlock(plan, image, TapsAt(plan.h, y, plan.count_pads), TapsAt(plan.w, x, plan.count_pads),
                std::min(plan.channels - channel, kChannelBlock),
                out + pixel * plan.channels + channel);
    }
  });
}

}  // namespace rshift::f32
