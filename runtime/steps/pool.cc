// Max and average pooling, NHWC. Works in blocks of channels, so that one pass over the taps serves
// them all.
#include <algorithm>

#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr int64_t kBlock = 256;  // channels

// The window's taps along one dimension that lie inside [lo, hi): first and past-the-last tap.
struct Taps {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};

// Taps k in [0, kernel) with lo <= start + k * dilation < hi.
Taps TapsInside(int64_t start, int64_t kernel, int64_t dilation, int64_t lo, int64_t hi) {
  const auto first_at_least = [&](int64_t bound) {
    const int64_t distance = bound - start;
    if (distance <= 0) return int64_t{0};
    // Divisions are slow beside a small window's work.
    return std::min(kernel, dilation == 1 ? distance : (distance + dilation - 1) / dilation);
  };
  const int64_t begin = first_at_least(lo);
  return {begin, std::max(begin, first_at_least(hi))};
}

struct PoolShape {
  int64_t batch, ih, iw, channels, oh, ow;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t pad_top, pad_left, pad_bottom, pad_right;

  explicit PoolShape(const StepContext& context) {
    const Shape& src = context.Record(Field::kSrc).shape;
    const Shape& dst = context.Record(Field::kDst).shape;
    const Command& c = *context.command;
    batch = src[0], ih = src[1], iw = src[2], channels = src[3], oh = dst[1], ow = dst[2];
    kernel_h = c.Get(Field::kKernelH), kernel_w = c.Get(Field::kKernelW);
    stride_h = c.Get(Field::kStrideH), stride_w = c.Get(Field::kStrideW);
    dilation_h = c.Get(Field::kDilationH), dilation_w = c.Get(Field::kDilationW);
    pad_top = c.Get(Field::kPadTop), pad_left = c.Get(Field::kPadLeft);
    pad_bottom = c.Get(Field::kPadBottom), pad_right = c.Get(Field::kPadRight);
  }

  // Calls f(m, c, count, y0, x0, rows, columns) for each output pixel of this thread and block of
  // channels; (y0, x0) is the input position of tap (0, 0), rows and columns the taps inside the
  // image.
  template <typename F>
  void ForEach(const Team& team, const F& f) const {
    const int64_t blocks = (channels + kBlock - 1) / kBlock;
    const Range part = Part(batch * oh * ow * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t m = item / blocks, c = item % blocks * kBlock;
      const int64_t y0 = m / ow % oh * stride_h - pad_top, x0 = m % ow * stride_w - pad_left;
      f(m, c, std::min(kBlock, channels - c), y0, x0, TapsInside(y0, kernel_h, dilation_h, 0, ih),
        TapsInside(x0, kernel_w, dilation_w, 0, iw));
    }
  }

  // Index of the first channel of an input pixel.
  int64_t Offset(int64_t m, int64_t y, int64_t x) const {
    return ((m / ow / oh * ih + y) * iw + x) * channels;
  }

  // The taps inside the image, for the kernels.
  PoolWindow Window(const uint8_t* src, int64_t m, int64_t c, int64_t y0, int64_t x0,
                    const Taps& rows, const Taps& columns) const {
    return {
        .base = src + c + Offset(m, y0 + rows.begin * dilation_h, x0 + columns.begin * dilation_w),
        .rows = rows.count(),
        .columns = columns.count(),
        .row_step = dilation_h * iw * channels,
        .column_step = dilation_w * channels};
  }
};

class MaxPoolF32Step : public Step {
 public:
  explicit MaxPoolF32Step(const StepContext& context)
      : shape_(context),
        src_(context.In<float>(Field::kSrc)),
        dst_(context.Out<float>(Field::kDst)) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](int64_t m, int64_t c, int64_t count, int64_t y0, int64_t x0,
                                const Taps& rows, const Taps& columns) {
      float* best = dst_ + m * shape_.channels + c;
      // The verifier has made sure that there is a tap inside the image: it is the start.
      const int64_t y = y0 + rows.begin * shape_.dilation_h,
                    x = x0 + columns.begin * shape_.dilation_w;
      std::copy_n(src_ + shape_.Offset(m, y, x) + c, count, best);
      for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
        for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
          const float* tap =
              src_ + c + shape_.Offset(m, y0 + ky * shape_.dilation_h, x0 + kx * shape_.dilation_w);
          for (int64_t i = 0; i < count; ++i) best[i] = tap[i] > best[i] ? tap[i] : best[i];
        }
      }
    });
  }

 private:
  PoolShape shape_;
  const float* src_;
  float* dst_;
};

class MaxPoolStep : public Step {
 public:
  explicit MaxPoolStep(const StepContext& context)
      : shape_(context),
        src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        is_signed_(context.Record(Field::kSrc).dtype == DType::kS8),
        kernels_(KernelsFor(context.isa)) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](int64_t m, int64_t c, int64_t count, int64_t y0, int64_t x0,
                                const Taps& rows, const Taps& columns) {
      kernels_.max_pool(shape_.Window(src_, m, c, y0, x0, rows, columns), count, is_signed_,
                        dst_ + m * shape_.channels + c);
    });
  }

 private:
  PoolShape shape_;
  const uint8_t* src_;
  uint8_t* dst_;
  bool is_signed_;
  const KernelTable& kernels_;
};

class AveragePoolStep : public Step {
 public:
  explicit AveragePoolStep(const StepContext& context)
      : shape_(context),
        src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        zero_x_(context.Record(Field::kSrc).zero_point),
        is_signed_(context.Record(Field::kSrc).dtype == DType::kS8),
        include_pad_((context.command->Get(Field::kFlags) & 1) != 0),
        kernels_(KernelsFor(context.isa)),
        average_(ElementwiseFor(context.isa).average) {
    finish_.scale = context.command->GetFloat(Field::kScaleF);
    finish_.offset = context.command->GetFloat(Field::kOffsetF);
    finish_.lo = static_cast<int32_t>(context.command->Get(Field::kClampLoQ));
    finish_.hi = static_cast<int32_t>(context.command->Get(Field::kClampHiQ));
  }

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](int64_t m, int64_t c, int64_t count, int64_t y0, int64_t x0,
                                const Taps& rows, const Taps& columns) {
      alignas(64) int32_t sum[kBlock];
      kernels_.sum_pool(shape_.Window(src_, m, c, y0, x0, rows, columns), count, is_signed_, sum);
      const int64_t inside = rows.count() * columns.count();
      const int64_t taps = include_pad_ ? PaddedTaps(y0, x0) : inside;
      AverageArgs finish = finish_;
      finish.sum = sum;
      finish.y = dst_ + m * shape_.channels + c;
      finish.taps = static_cast<int32_t>(taps);
      finish.pads = static_cast<int32_t>((taps - inside) * zero_x_);
      average_(finish, count);
    });
  }

 private:
  // Taps in the image or its pads; those that ceil_mode adds beyond do not count.
  int64_t PaddedTaps(int64_t y0, int64_t x0) const {
    const PoolShape& s = shape_;
    return TapsInside(y0, s.kernel_h, s.dilation_h, -s.pad_top, s.ih + s.pad_bottom).count() *
           TapsInside(x0, s.kernel_w, s.dilation_w, -s.pad_left, s.iw + s.pad_right).count();
  }

  PoolShape shape_;
  const uint8_t* src_;
  uint8_t* dst_;
  int32_t zero_x_;
  bool is_signed_, include_pad_;
  AverageArgs finish_;
  const KernelTable& kernels_;
  decltype(ElementwiseTable::average) average_;
};

std::unique_ptr<Step> MakeMaxPool(const StepContext& context) {
  if (context.Record(Field::kSrc).dtype == DType::kF32)
    return std::make_unique<MaxPoolF32Step>(context);
  return std::make_unique<MaxPoolStep>(context);
}

std::unique_ptr<Step> MakeAveragePool(const StepContext& context) {
  return std::make_unique<AveragePoolStep>(context);
}

}  // namespace

void RegisterPoolSteps() {
  RegisterStep(Opcode::kMaxPool, MakeMaxPool);
  RegisterStep(Opcode::kAveragePool, MakeAveragePool);
}

}  // namespace rshift
