// Max pooling, NHWC. Works in blocks of channels, so that one pass over the taps serves them all.
#include <algorithm>

#include "runtime/kernels/dispatch.h"
#include "runtime/steps/pool_shape.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr int64_t kTogether = 32;  // channels whose maxima stay in registers

class MaxPoolF32Step : public Step {
 public:
  MaxPoolF32Step(const StepContext& context, const Window& window)
      : shape_(context, window),
        src_(context.In<float>(Field::kSrc)),
        dst_(context.Out<float>(Field::kDst)) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](const PoolBlock& b) {
      const auto tap_at = [&](int64_t ky, int64_t kx) {
        return src_ + b.c +
               shape_.Offset(b.image, b.y0 + ky * shape_.dilation_h, b.x0 + kx * shape_.dilation_w);
      };
      float* best = dst_ + b.m * shape_.dst_pitch + b.c;
      int64_t i = 0;
      for (; i + kTogether <= b.count; i += kTogether) {
        // The verifier has made sure that there is a tap inside the image: it is the start.
        float most[kTogether];
        std::copy_n(tap_at(b.rows.begin, b.columns.begin) + i, kTogether, most);
        for (int64_t ky = b.rows.begin; ky < b.rows.end; ++ky) {
          for (int64_t kx = b.columns.begin; kx < b.columns.end; ++kx) {
            const float* tap = tap_at(ky, kx) + i;
            for (int64_t k = 0; k < kTogether; ++k) most[k] = tap[k] > most[k] ? tap[k] : most[k];
          }
        }
        std::copy_n(most, kTogether, best + i);
      }
      for (; i < b.count; ++i) {
        float most = tap_at(b.rows.begin, b.columns.begin)[i];
        for (int64_t ky = b.rows.begin; ky < b.rows.end; ++ky) {
          for (int64_t kx = b.columns.begin; kx < b.columns.end; ++kx) {
            const float value = tap_at(ky, kx)[i];
            most = value > most ? value : most;
          }
        }
        best[i] = most;
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
  return std::make_unique<MaxPoolStep>(context, c.window);
}

}  // namespace rshift
