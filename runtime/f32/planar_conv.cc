// kConvPlanarF32: each channel is a plane.
#include <algorithm>

#include "runtime/f32/makers.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

class DepthwisePlanes final : public Step {
 public:
  DepthwisePlanes(const StepContext& context, const isa::ConvPlanarF32& c)
      : run_(RowKernelsFor(context.isa).plane_convolution),
        x_(context.In<float>(Field::kSrc)),
        w_(context.In<float>(Field::kWeights)),
        bias_(context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr),
        out_(context.Out<float>(Field::kDst)) {
    const Shape& src = context.Record(Field::kSrc).shape;
    const Shape& dst = context.Record(Field::kDst).shape;
    const Window& w = c.window;
    planes_ = dst[0] * dst[1], channels_ = dst[1];
    filter_ = {.height = src[2],
               .width = src[3],
               .lo = c.clamp.lo,
               .hi = c.clamp.hi,
               .kernel_h = w.kernel_h,
               .kernel_w = w.kernel_w,
               .stride_h = w.stride_h,
               .stride_w = w.stride_w,
               .dilation_h = w.dilation_h,
               .dilation_w = w.dilation_w,
               .pad_top = w.pad_top,
               .pad_left = w.pad_left,
               .rows = dst[2],
               .outputs = dst[3],
               .in_double = context.portable};
  }

  void Run(const Team& team) noexcept override {
    PlaneFilter filter = filter_;
    const int64_t rows = filter.rows;
    const Range range = ThreadRange(planes_ * rows, 1, team);
    for (int64_t at = range.begin; at < range.end;) {
      const int64_t plane = at / rows, channel = plane % channels_;
      filter.x = x_ + plane * filter.height * filter.width;
      filter.w = w_ + channel * filter.kernel_h * filter.kernel_w;
      filter.bias = bias_ != nullptr ? bias_[channel] : 0.0f;
      filter.first = at % rows;
      filter.end = std::min(rows, filter.first + range.end - at);
      filter.out = out_ + plane * rows * filter.outputs;
      run_(filter);
      at += filter.end - filter.first;
    }
  }

 private:
  void (*run_)(const PlaneFilter&) noexcept;
  const float *x_, *w_, *bias_;
  float* out_;
  int64_t planes_ = 0, channels_ = 1;
  PlaneFilter filter_;
};

class PlanesByPoints final : public Step {
 public:
  PlanesByPoints(const StepContext& context, const isa::ConvPlanarF32& c)
      : run_(RowKernelsFor(context.isa).plane_product) {
    const Shape& src = context.Record(Field::kSrc).shape;
    const Shape& dst = context.Record(Field::kDst).shape;
    images_ = dst[0];
    product_ = {.x = context.In<float>(Field::kSrc),
                .w = context.In<float>(Field::kWeights),
                .bias = context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr,
                .out = context.Out<float>(Field::kDst),
                .depth = src[1],
                .rows = dst[1],
                .pixels = dst[2] * dst[3],
                .lo = c.clamp.lo,
                .hi = c.clamp.hi,
                .in_double = context.portable};
  }

  void Run(const Team& team) noexcept override {
    const Range range = ThreadRange(product_.pixels, kCacheLine, team);
    PlaneProduct product = product_;
    product.first = range.begin;
    product.end = range.end;
    for (int64_t image = 0; image < images_; ++image) {
      run_(product);
      product.x += product.depth * product.pixels;
      product.out += product.rows * product.pixels;
    }
  }

 private:
  void (*run_)(const PlaneProduct&) noexcept;
  int64_t images_ = 0;
  PlaneProduct product_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvPlanarF32& c) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  const Window& w = c.window;
  const bool points = c.groups == 1 && w.kernel_h == 1 && w.kernel_w == 1 && w.stride_h == 1 &&
                      w.stride_w == 1 && src[2] == dst[2] && src[3] == dst[3];
  if (points) return std::make_unique<PlanesByPoints>(context, c);
  return std::make_unique<DepthwisePlanes>(context, c);
}

}  // namespace rshift::f32
