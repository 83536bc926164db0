// kLayerNormF32, kInstanceNormF32: (x - mean) / sqrt(variance + epsilon) * scale + bias. Mean and
// variance (two passes) are summed in double, in the order of row_kernels.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/f32/makers.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// One NaN for all: which of several an operation hands on is the instruction set's choice.
constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();

// factor: 1 / sqrt(variance + epsilon). rms: with a mean of 0, whatever it is.
Normal NormalOf(const RowKernels& loops, const float* x, int64_t n, double epsilon,
                bool rms = false) {
  const auto count = static_cast<double>(n);
  const double mean = rms ? 0 : loops.sum(x, n, false) / count;
  return {mean, 1.0 / std::sqrt(loops.squares(x, n, mean) / count + epsilon), 0};
}

// x[n, :, c] for neighbouring channels of an NHWC image, in groups of kChannelGroup, which threads
// do not share.
constexpr int64_t kChannelGroup = 16, kMaxChannels = 256;

struct NhwcImage {
  int64_t pixels = 0, channels = 0;
  double epsilon = 0;
};

struct ChannelScale {
  const float* scale = nullptr;
  const float* bias = nullptr;  // may be null
};

void NormalizeChannels(const NhwcImage& image, const RowKernels& loops, const Columns& columns,
                       const ChannelScale& by, float* out) {
  double mean[kMaxChannels] = {}, factor[kMaxChannels] = {}, offset[kMaxChannels] = {};
  const auto pixels = static_cast<double>(image.pixels);
  loops.sum_columns(columns, false, mean);
  for (int64_t c = 0; c < columns.lanes; ++c) mean[c] /= pixels;
  loops.square_columns(columns, mean, factor);
  for (int64_t c = 0; c < columns.lanes; ++c) {
    factor[c] = by.scale[c] / std::sqrt(factor[c] / pixels + image.epsilon);
    offset[c] = by.bias != nullptr ? by.bias[c] : 0;
  }
  loops.normalize_columns(columns, mean, factor, offset, out);
  for (int64_t c = 0; c < columns.lanes; ++c) {
    if (!std::isnan(factor[c])) continue;
    for (int64_t p = 0; p < image.pixels; ++p) out[p * image.channels + c] = kQuietNan;
  }
}

std::unique_ptr<Step> MakeNhwcInstanceNorm(const StepContext& context, const NhwcImage& image) {
  const int64_t batch = context.Record(Field::kSrc).shape[0];
  const float* x = context.In<float>(Field::kSrc);
  const float* scale = context.In<float>(Field::kSrc2);
  const float* bias = context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr;
  float* out = context.Out<float>(Field::kDst);
  const int64_t groups = (image.channels + kChannelGroup - 1) / kChannelGroup;
  const RowKernels* loops = &RowKernelsFor(context.isa);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(batch * groups, 1, team);
    for (int64_t item = range.begin; item < range.end;) {
      const int64_t first = item % groups * kChannelGroup;
      const int64_t lanes =
          std::min({(range.end - item) * kChannelGroup, image.channels - first, kMaxChannels});
      const int64_t at = item / groups * image.pixels * image.channels + first;
      NormalizeChannels(image, *loops, {x + at, image.pixels, image.channels, lanes},
                        {scale + first, bias != nullptr ? bias + first : nullptr}, out + at);
      item += (lanes + kChannelGroup - 1) / kChannelGroup;
    }
  });
}

std::unique_ptr<Step> MakePlainInstanceNorm(const StepContext& context, int64_t pixels,
                                            double epsilon) {
  const Shape& shape = context.Record(Field::kSrc).shape;
  const int64_t planes = shape[0] * shape[1], channels = shape[1];
  const float* x = context.In<float>(Field::kSrc);
  const float* scale = context.In<float>(Field::kSrc2);
  const float* bias = context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr;
  float* out = context.Out<float>(Field::kDst);
  const RowKernels* loops = &RowKernelsFor(context.isa);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(planes, 1, team);
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const float* from = x + plane * pixels;
      float* to = out + plane * pixels;
      const int64_t channel = plane % channels;
      Normal normal = NormalOf(*loops, from, pixels, epsilon);
      normal.factor *= scale[channel];
      normal.offset = bias != nullptr ? bias[channel] : 0;
      loops->normalize_plane(from, to, pixels, normal);
      if (std::isnan(normal.factor)) std::fill_n(to, pixels, kQuietNan);
    }
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LayerNormF32& c) {
  const AxisView view = ViewAlong(context.Record(Field::kSrc).shape, c.axis);
  const int64_t rows = view.outer, size = view.size * view.inner;
  if (context.Record(Field::kDst).bytes() == 0) return NothingToDo();
  const double epsilon = c.epsilon;
  const bool rms = c.rms;
  const float* x = context.In<float>(Field::kSrc);
  const float* scale = context.In<float>(Field::kSrc2);
  const float* bias = context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr;
  float* out = context.Out<float>(Field::kDst);
  const RowKernels* loops = &RowKernelsFor(context.isa);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(rows, 1, team);
    for (int64_t row = range.begin; row < range.end; ++row) {
      const float* from = x + row * size;
      float* to = out + row * size;
      const Normal normal = NormalOf(*loops, from, size, epsilon, rms);
      loops->normalize_row(from, to, size, normal, scale, bias);
      if (std::isnan(normal.factor)) std::fill_n(to, size, kQuietNan);
    }
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::InstanceNormF32& c) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const bool nhwc = src.layout == Layout::kNhwc;
  const int64_t channels = nhwc ? src.shape.back() : src.shape[1];
  if (src.bytes() == 0) return NothingToDo();
  int64_t pixels = 1;
  for (size_t d = nhwc ? 1 : 2; d < src.shape.size() - (nhwc ? 1 : 0); ++d) pixels *= src.shape[d];
  if (nhwc) return MakeNhwcInstanceNorm(context, {pixels, channels, c.epsilon});
  return MakePlainInstanceNorm(context, pixels, c.epsilon);
}

}  // namespace rshift::f32
