// Max pooling, NHWC. Works in blocks of channels, so that one pass over the taps serves them all.
#include <algorithm>
#include <limits>

#include "runtime/kernels/dispatch.h"
#include "runtime/steps/pool_shape.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class MaxPoolF32Step : public Step {
 public:
  MaxPoolF32Step(const StepContext& context, const Window& window)
      : shape_(context, window),
        src_(context.In<float>(Field::kSrc)),
        dst_(context.Out<float>(Field::kDst)),
        loops_(f32::RowKernelsFor(context.isa)) {}

  // The verifier has made sure that there is a tap inside the image.
  void Run(const Team& team) noexcept override {
    if (HasPlanes()) return RunPlanes(team);
    shape_.ForEach(team, [this](const PoolBlock& b) {
      loops_.window_highest(shape_.FloatWindow(src_, b), dst_ + b.m * shape_.dst_pitch + b.c);
    });
  }

 private:
  // Images of one channel, in windows that plane_row_highest has.
  bool HasPlanes() const {
    const bool dense = shape_.channels == 1 && shape_.src_pitch == 1 && shape_.dst_pitch == 1;
    const bool near = shape_.dilation_h == 1 && shape_.dilation_w == 1;
    return dense && near && (shape_.kernel_w == 2 || shape_.kernel_w == 3) && shape_.stride_w <= 2;
  }

  void RunPlanes(const Team& team) const noexcept {
    const Range range = ThreadRange(shape_.batch * shape_.oh, 1, team);
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t y0 = row % shape_.oh * shape_.stride_h - shape_.pad_top;
      const Taps taps = TapsInside(y0, shape_.kernel_h, 1, 0, shape_.ih);
      loops_.plane_row_highest({.x = src_ + shape_.Offset(row / shape_.oh, y0 + taps.begin, 0),
                                .rows = taps.count(),
                                .pitch = shape_.iw,
                                .columns = shape_.iw,
                                .first = -shape_.pad_left,
                                .kernel = shape_.kernel_w,
                                .stride = shape_.stride_w,
                                .outputs = shape_.ow},
                               dst_ + row * shape_.ow);
    }
  }

  PoolShape shape_;
  const float* src_;
  float* dst_;
  const f32::RowKernels& loops_;
};

class MaxPoolS16Step : public Step {
 public:
  MaxPoolS16Step(const StepContext& context, const Window& window)
      : shape_(context, window),
        src_(context.In<int16_t>(Field::kSrc)),
        dst_(context.Out<int16_t>(Field::kDst)) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](const PoolBlock& b) {
      int16_t* y = dst_ + b.m * shape_.dst_pitch + b.c;
      std::fill_n(y, b.count, std::numeric_limits<int16_t>::min());
      for (int64_t row = b.rows.begin; row < b.rows.end; ++row) {
        for (int64_t column = b.columns.begin; column < b.columns.end; ++column) {
          const int16_t* x = src_ + b.c +
                             shape_.Offset(b.image, b.y0 + row * shape_.dilation_h,
                                           b.x0 + column * shape_.dilation_w);
          for (int64_t c = 0; c < b.count; ++c) y[c] = std::max(y[c], x[c]);
        }
      }
    });
  }

 private:
  PoolShape shape_;
  const int16_t* src_;
  int16_t* dst_;
};

class MaxPoolStep : public Step {
 public:
  MaxPoolStep(const StepContext& context, const Window& window)
      : shape_(context, window),
        src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        is_signed_(context.Record(Field::kSrc).dtype == DType::kS8),
        epilogue_(context.epilogue),
        kernels_(KernelsFor(context.isa)) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](const PoolBlock& b) {
      uint8_t* dst = dst_ + b.m * shape_.dst_pitch + b.c;
      kernels_.max_pool(shape_.Window(src_, b), b.count, is_signed_, dst);
      if (epilogue_.run != nullptr) epilogue_.run(epilogue_.state, dst, 1, b.count);
    });
  }

 private:
  PoolShape shape_;
  const uint8_t* src_;
  uint8_t* dst_;
  bool is_signed_;
  EpilogueArgs epilogue_;
  const KernelTable& kernels_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MaxPool& c) {
  if (context.Record(Field::kSrc).dtype == DType::kF32)
    return std::make_unique<MaxPoolF32Step>(context, c.window);
  if (context.Record(Field::kSrc).dtype == DType::kS16)
    return std::make_unique<MaxPoolS16Step>(context, c.window);
  return std::make_unique<MaxPoolStep>(context, c.window);
}

}  // namespace rshift
