// kSoftmaxF32 over any axis: exp(x - max) / sum, or x - max - log(sum). Sums run in double.
#include <algorithm>

#include "runtime/f32/makers.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// Lines whose elements are `inner` apart, up to kSoftmaxLanes neighbouring ones at a time.
void SoftmaxBlocks(const AxisView& view, const RowKernels& loops, const Range& blocks,
                   const float* in, float* out, bool log) {
  const int64_t in_row = (view.inner + kSoftmaxLanes - 1) / kSoftmaxLanes;
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const int64_t lane = block % in_row * kSoftmaxLanes;
    const int64_t at = block / in_row * view.size * view.inner + lane;
    const int64_t lanes = std::min(kSoftmaxLanes, view.inner - lane);
    loops.softmax_columns({in + at, view.size, view.inner, lanes}, out + at, log);
  }
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::SoftmaxF32& c) {
  const AxisView view = ViewAlong(context.Record(Field::kSrc).shape, c.axis);
  if (context.Record(Field::kDst).bytes() == 0) return NothingToDo();
  const bool log = c.log;
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  const RowKernels* loops = &RowKernelsFor(context.isa);
  if (view.inner == 1) {
    return StepFrom([=](const Team& team) {
      const Range rows = ThreadRange(view.outer, 1, team);
      const int64_t at = rows.begin * view.size;
      loops->softmax_rows(in + at, out + at, rows.end - rows.begin, view.size, log);
    });
  }
  const int64_t blocks = view.outer * ((view.inner + kSoftmaxLanes - 1) / kSoftmaxLanes);
  return StepFrom([=](const Team& team) {
    SoftmaxBlocks(view, *loops, ThreadRange(blocks, 1, team), in, out, log);
  });
}

}  // namespace rshift::f32
