// kLayerNormF32, kInstanceNormF32: (x - mean) / sqrt(variance + epsilon) * scale + bias. Mean and
// variance (two passes) are summed in double, in memory order.
#include <array>
#include <cmath>

#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

void RequireFloats(const StepContext& context) {
  for (const Field field : {Field::kDst, Field::kSrc, Field::kSrc2}) {
    RequireType(context, field, {DType::kF32});
  }
  if (context.Has(Field::kSrc3)) RequireType(context, Field::kSrc3, {DType::kF32});
  RequireSameShape(context, Field::kDst, Field::kSrc);
}

void RequireCount(const StepContext& context, Field field, int64_t count) {
  if (!context.Has(field)) return;
  RequireShape(NumElements(context.Record(field).shape) == count, context, field,
               Cat(count, " elements").c_str());
}

struct Moments {
  double mean = 0;
  double inverse_deviation = 0;
};

Moments MomentsOf(const float* x, int64_t count, double epsilon) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  const double mean = sum / count;
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1.0 / std::sqrt(squares / count + epsilon)};
}

// x[n, :, c] for `width` neighbouring channels of an NHWC image: every value is read in memory
// order.
constexpr int64_t kChannelBlock = 16;

struct NhwcImage {
  int64_t pixels = 0, channels = 0;
  double epsilon = 0;
};

void NormalizeChannels(const NhwcImage& image, const float* x, const float* scale,
                       const float* bias, float* out, int64_t width) {
  std::array<double, kChannelBlock> mean{}, squares{};
  for (int64_t p = 0; p < image.pixels; ++p) {
    for (int64_t c = 0; c < width; ++c) mean[c] += x[p * image.channels + c];
  }
  for (int64_t c = 0; c < width; ++c) mean[c] /= image.pixels;
  for (int64_t p = 0; p < image.pixels; ++p) {
    for (int64_t c = 0; c < width; ++c) {
      const double difference = x[p * image.channels + c] - mean[c];
      squares[c] += difference * difference;
    }
  }
  std::array<double, kChannelBlock> factor{};
  for (int64_t c = 0; c < width; ++c) {
    factor[c] = scale[c] / std::sqrt(squares[c] / image.pixels + image.epsilon);
  }
  for (int64_t p = 0; p < image.pixels; ++p) {
    for (int64_t c = 0; c < width; ++c) {
      const int64_t at = p * image.channels + c;
      out[at] = static_cast<float>((x[at] - mean[c]) * factor[c] + (bias != nullptr ? bias[c] : 0));
    }
  }
}

std::unique_ptr<Step> MakeNhwcInstanceNorm(const StepContext& context, const NhwcImage& image) {
  const int64_t batch = context.Record(Field::kSrc).shape[0];
  const float* x = context.In<float>(Field::kSrc);
  const float* scale = context.In<float>(Field::kSrc2);
  const float* bias = context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr;
  float* out = context.Out<float>(Field::kDst);
  const int64_t blocks = (image.channels + kChannelBlock - 1) / kChannelBlock;
  return StepFrom([=](const Team& team) {
    const Range range = Part(batch * blocks, 1, team);
    for (int64_t item = range.begin; item < range.end; ++item) {
      const int64_t channel = item % blocks * kChannelBlock;
      const int64_t left = image.channels - channel;
      const int64_t at = item / blocks * image.pixels * image.channels + channel;
      NormalizeChannels(image, x + at, scale + channel, bias != nullptr ? bias + channel : nullptr,
                        out + at, left < kChannelBlock ? left : kChannelBlock);
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
  return StepFrom([=](const Team& team) {
    const Range range = Part(planes, 1, team);
    for (int64_t plane = range.begin; plane < range.end; ++plane) {
      const float* from = x + plane * pixels;
      float* to = out + plane * pixels;
      const int64_t channel = plane % channels;
      const Moments moments = MomentsOf(from, pixels, epsilon);
      const double factor = scale[channel] * moments.inverse_deviation;
      const double offset = bias != nullptr ? bias[channel] : 0;
      for (int64_t i = 0; i < pixels; ++i) {
        to[i] = static_cast<float>((from[i] - moments.mean) * factor + offset);
      }
    }
  });
}

}  // namespace

std::unique_ptr<Step> MakeLayerNorm(const StepContext& context) {
  RequireFloats(context);
  const Shape& shape = context.Record(Field::kSrc).shape;
  const AxisView view =
      ViewAlong(shape, RequireAxis(context, context.command->Get(Field::kAxis), shape.size()));
  const int64_t rows = view.outer, size = view.size * view.inner;
  RequireCount(context, Field::kSrc2, size);
  RequireCount(context, Field::kSrc3, size);
  const double epsilon = context.command->GetFloat(Field::kEpsilonF);
  const float* x = context.In<float>(Field::kSrc);
  const float* scale = context.In<float>(Field::kSrc2);
  const float* bias = context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3) : nullptr;
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = Part(rows, 1, team);
    for (int64_t row = range.begin; row < range.end; ++row) {
      const float* from = x + row * size;
      float* to = out + row * size;
      const Moments moments = MomentsOf(from, size, epsilon);
      for (int64_t i = 0; i < size; ++i) {
        const double normal = (from[i] - moments.mean) * moments.inverse_deviation;
        to[i] = static_cast<float>(normal * scale[i] + (bias != nullptr ? bias[i] : 0));
      }
    }
  });
}

std::unique_ptr<Step> MakeInstanceNorm(const StepContext& context) {
  RequireFloats(context);
  const TensorRecord& src = context.Record(Field::kSrc);
  RequireShape(src.shape.size() >= 3, context, Field::kSrc, "at least 3 dimensions");
  const bool nhwc = src.layout == Layout::kNhwc;
  const int64_t channels = nhwc ? src.shape.back() : src.shape[1];
  RequireCount(context, Field::kSrc2, channels);
  RequireCount(context, Field::kSrc3, channels);
  int64_t pixels = 1;
  for (size_t d = nhwc ? 1 : 2; d < src.shape.size() - (nhwc ? 1 : 0); ++d) pixels *= src.shape[d];
  const double epsilon = context.command->GetFloat(Field::kEpsilonF);
  if (nhwc) return MakeNhwcInstanceNorm(context, {pixels, channels, epsilon});
  return MakePlainInstanceNorm(context, pixels, epsilon);
}

}  // namespace rshift::f32
