// kConvF32 and kConvTransposeF32 without a library, NHWC. Of each phase (conv_phases.h) the inputs
// of some output pixels are gathered, widened to double, and multiplied with panels of the weights;
// of depthwise ones the taps are read where they are.
#include <algorithm>
#include <array>
#include <vector>

#include "runtime/f32/conv_phases.h"
#include "runtime/f32/packed_product.h"
#include "runtime/f32/portable.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

struct ConvShape {
  int64_t batch = 1, ih = 1, iw = 1, ic = 1, oh = 1, ow = 1, oc = 1, groups = 1;
  bool transposed = false;
  int64_t kernel = 1;  // taps of the window

  int64_t group_in() const { return ic / groups; }
  int64_t group_out() const { return oc / groups; }
  bool depthwise() const { return groups == ic && groups == oc; }
  // Of one weight as ONNX stores them: [OC, IC/g, taps], transposed [IC, OC/g, taps].
  int64_t WeightPlace(int64_t group, int64_t in, int64_t out, int64_t tap) const {
    const int64_t row = transposed ? (group * group_in() + in) * group_out() + out
                                   : (group * group_out() + out) * group_in() + in;
    return row * kernel + tap;
  }
};

template <typename C>
ConvShape ReadShape(const StepContext& context, const C& c, bool transposed) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  RequireShape(dst[0] == src[0], context, Field::kDst, "the source's batch");
  return {src[0], src[1], src[2],   src[3],     dst[1],
          dst[2], dst[3], c.groups, transposed, c.window.kernel_h * c.window.kernel_w};
}

// An output pixel of a phase.
struct Pixel {
  int64_t n = 0, y = 0, x = 0;
};
Pixel PixelAt(const ConvPhase& phase, int64_t index) {
  const int64_t row = index / phase.x.count;
  return {row / phase.y.count, row % phase.y.count, index % phase.x.count};
}
void Advance(const ConvPhase& phase, Pixel* pixel) {
  if (++pixel->x < phase.x.count) return;
  pixel->x = 0;
  if (++pixel->y < phase.y.count) return;
  pixel->y = 0;
  ++pixel->n;
}

class PortableConv : public Step {
 public:
  PortableConv(const StepContext& context, const Window& window, const Clamp& clamp,
               const ConvShape& shape)
      : kernels_(&RowKernelsFor(context.isa).product),
        shape_(shape),
        phases_(ConvPhases(window, context.Record(Field::kDst).shape, shape.transposed)),
        clamp_(clamp),
        scratch_(context.scratch),
        src_(context.In<float>(Field::kSrc)),
        weights_(context.In<float>(Field::kWeights)),
        dst_(context.Out<float>(Field::kDst)),
        constant_(context.Record(Field::kWeights).region == Region::kConst) {}

  size_t memory_bytes() const override { return packed_.size(); }

 protected:
  // Memory for the weights of all phases, `floats` long, which are packed now when they are
  // constant; the others by each thread into its scratch memory, behind `bytes` of it.
  void Allocate(const StepContext& context, size_t floats, size_t bytes) {
    own_bytes_ = (bytes + 63) / 64 * 64;
    thread_bytes_ = own_bytes_ + (constant_ ? 0 : (floats * sizeof(float) + 63) / 64 * 64);
    scratch_->Reserve(
        WithinBufferLimits(context, thread_bytes_ * static_cast<size_t>(context.threads)));
    if (constant_) packed_ = AlignedBuffer(WithinBufferLimits(context, floats * sizeof(float)));
  }
  std::byte* Own(const Team& team) const {
    return scratch_->data() + static_cast<size_t>(team.index) * thread_bytes_;
  }
  // Null where the tap lies outside the image.
  const float* Input(const ConvPhase& phase, const Pixel& pixel, const PhaseTap& tap) const {
    const int64_t y = pixel.y * phase.y.in_step + tap.y, x = pixel.x * phase.x.in_step + tap.x;
    if (y < 0 || y >= shape_.ih || x < 0 || x >= shape_.iw) return nullptr;
    return src_ + ((pixel.n * shape_.ih + y) * shape_.iw + x) * shape_.ic;
  }
  float* Output(const ConvPhase& phase, const Pixel& pixel) const {
    const int64_t y = phase.y.first + pixel.y * phase.y.step;
    const int64_t x = phase.x.first + pixel.x * phase.x.step;
    return dst_ + ((pixel.n * shape_.oh + y) * shape_.ow + x) * shape_.oc;
  }
  int64_t Pixels(const ConvPhase& phase) const {
    return shape_.batch * phase.y.count * phase.x.count;
  }

  const ProductKernels* kernels_;
  ConvShape shape_;
  std::vector<ConvPhase> phases_;
  Clamp clamp_;
  Scratch* scratch_;
  const float *src_, *weights_;
  float* dst_;
  bool constant_;
  AlignedBuffer packed_;
  size_t own_bytes_ = 0, thread_bytes_ = 0;
};

class DenseConv final : public PortableConv {
 public:
  DenseConv(const StepContext& context, const Window& window, const Clamp& clamp,
            const ConvShape& shape)
      : PortableConv(context, window, clamp, shape),
        zeros_(static_cast<size_t>(shape.group_in()) * sizeof(float)),
        bias_(context, shape.groups, shape.group_out(), Panels(*kernels_, 0, shape.group_out()),
              *kernels_) {
    size_t floats = 0;
    for (const ConvPhase& phase : phases_) {
      const int64_t depth = static_cast<int64_t>(phase.taps.size()) * shape_.group_in();
      panels_.emplace_back(*kernels_, depth, shape_.group_out());
      first_weight_.push_back(floats);
      floats += panels_.back().floats() * static_cast<size_t>(shape_.groups);
      at_once_.push_back(RowsAtOnce(*kernels_, depth, Pixels(phase)));
      doubles_ = std::max(doubles_, static_cast<size_t>(at_once_.back() * depth));
      most_rows_ = std::max(most_rows_, at_once_.back());
    }
    Allocate(context, floats,
             doubles_ * sizeof(double) + static_cast<size_t>(most_rows_) * sizeof(float*) +
                 bias_.thread_floats() * sizeof(float));
    if (constant_) PackAll(reinterpret_cast<float*>(packed_.data()));
  }

  size_t memory_bytes() const override { return packed_.size() + bias_.bytes(); }

  void Run(const Team& team) noexcept override {
    std::byte* own = Own(team);
    auto* x = reinterpret_cast<double*>(own);
    auto** out = reinterpret_cast<float**>(x + doubles_);
    auto* w = reinterpret_cast<float*>(constant_ ? packed_.data()
                                                 : reinterpret_cast<uint8_t*>(own + own_bytes_));
    if (!constant_) PackAll(w);
    const float* bias = bias_.Get(reinterpret_cast<float*>(out + most_rows_));
    for (size_t p = 0; p < phases_.size(); ++p) {
      const Range range = ThreadRange(Pixels(phases_[p]), kernels_->rows, team);
      for (int64_t at = range.begin; at < range.end; at += at_once_[p])
        RunBlock(p, at, std::min(at_once_[p], range.end - at), x, out, w + first_weight_[p], bias);
    }
  }

 private:
  void PackAll(float* to) const {
    for (size_t p = 0; p < phases_.size(); ++p) {
      for (int64_t g = 0; g < shape_.groups; ++g)
        PackGroup(p, g, to + first_weight_[p] + panels_[p].floats() * static_cast<size_t>(g));
    }
  }

  void PackGroup(size_t p, int64_t group, float* to) const {
    std::fill_n(to, panels_[p].floats(), 0.0f);
    int64_t k = 0;
    for (const PhaseTap& tap : phases_[p].taps) {
      for (int64_t in = 0; in < shape_.group_in(); ++in, ++k) {
        for (int64_t out = 0; out < shape_.group_out(); ++out)
          to[panels_[p].Place(k, out)] = weights_[shape_.WeightPlace(group, in, out, tap.place)];
      }
    }
  }

  void RunBlock(size_t p, int64_t first, int64_t rows, double* x, float** out, const float* w,
                const float* bias) const {
    const ConvPhase& phase = phases_[p];
    const int64_t depth = static_cast<int64_t>(phase.taps.size()) * shape_.group_in();
    const int64_t padded = panels_[p].count() * kernels_->columns;
    for (int64_t g = 0; g < shape_.groups; ++g) {
      Pixel pixel = PixelAt(phase, first);
      for (int64_t row = 0; row < rows; row += kernels_->rows) {
        const int64_t count = std::min(kernels_->rows, rows - row);
        std::array<Pixel, kMaxProductRows> pixels;
        for (int64_t r = 0; r < count; ++r, Advance(phase, &pixel)) {
          pixels[static_cast<size_t>(r)] = pixel;
          out[row + r] = Output(phase, pixel) + g * shape_.group_out();
        }
        Gather(phase, pixels, count, g, x + row * depth);
      }
      MultiplyBlock(*kernels_, {x, depth, rows, out}, panels_[p],
                    w + panels_[p].floats() * static_cast<size_t>(g), bias + g * padded, clamp_);
    }
  }

  // [taps, channels of the group][pixels]
  void Gather(const ConvPhase& phase, const std::array<Pixel, kMaxProductRows>& pixels,
              int64_t count, int64_t group, double* to) const {
    const auto* zeros = reinterpret_cast<const float*>(zeros_.data());
    const int64_t channels = shape_.group_in();
    std::array<const float*, kMaxProductRows> from;
    for (const PhaseTap& tap : phase.taps) {
      for (int64_t r = 0; r < count; ++r) {
        const float* input = Input(phase, pixels[static_cast<size_t>(r)], tap);
        from[static_cast<size_t>(r)] = input == nullptr ? zeros : input + group * channels;
      }
      kernels_->widen(from.data(), count, channels, to);
      to += channels * count;
    }
  }

  AlignedBuffer zeros_;
  PaddedBias bias_;
  std::vector<Panels> panels_;  // of each phase, as all below
  std::vector<size_t> first_weight_;
  std::vector<int64_t> at_once_;  // pixels
  size_t doubles_ = 0;
  int64_t most_rows_ = 0;
};

class DepthwiseConv final : public PortableConv {
 public:
  DepthwiseConv(const StepContext& context, const Window& window, const Clamp& clamp,
                const ConvShape& shape)
      : PortableConv(context, window, clamp, shape),
        zeros_(static_cast<size_t>(shape.oc) * sizeof(float)),
        bias_(context.Has(Field::kSrc3) ? context.In<float>(Field::kSrc3)
                                        : reinterpret_cast<const float*>(zeros_.data())) {
    const auto taps = static_cast<size_t>(shape.kernel);
    Allocate(context, taps * static_cast<size_t>(shape.oc), 2 * taps * sizeof(float*));
    if (constant_) Pack(reinterpret_cast<float*>(packed_.data()));
  }

  size_t memory_bytes() const override { return packed_.size() + zeros_.size(); }

  void Run(const Team& team) noexcept override {
    std::byte* own = Own(team);
    auto** x = reinterpret_cast<const float**>(own);
    const float** w = x + shape_.kernel;
    auto* packed = reinterpret_cast<float*>(
        constant_ ? packed_.data() : reinterpret_cast<uint8_t*>(own + own_bytes_));
    if (!constant_) Pack(packed);
    DepthwiseTaps taps{
        .x = x, .w = w, .lanes = shape_.oc, .bias = bias_, .lo = clamp_.lo, .hi = clamp_.hi};
    for (const ConvPhase& phase : phases_) {
      const Range range = ThreadRange(Pixels(phase), 1, team);
      if (range.begin == range.end) continue;
      Pixel pixel = PixelAt(phase, range.begin);
      for (int64_t at = range.begin; at < range.end; ++at, Advance(phase, &pixel)) {
        taps.taps = 0;
        for (const PhaseTap& tap : phase.taps) {
          const float* input = Input(phase, pixel, tap);
          if (input == nullptr) continue;
          x[taps.taps] = input;
          w[taps.taps++] = packed + tap.place * shape_.oc;
        }
        taps.out = Output(phase, pixel);
        kernels_->depthwise(taps);
      }
    }
  }

 private:
  // [taps of the window][channels]
  void Pack(float* to) const {
    for (int64_t tap = 0; tap < shape_.kernel; ++tap) {
      for (int64_t c = 0; c < shape_.oc; ++c) *to++ = weights_[c * shape_.kernel + tap];
    }
  }

  AlignedBuffer zeros_;
  const float* bias_;
};

template <typename C>
std::unique_ptr<Step> MakeConv(const StepContext& context, const C& c, bool transposed) {
  const ConvShape shape = ReadShape(context, c, transposed);
  if (NumElements(context.Record(Field::kDst).shape) == 0) return NothingToDo();
  if (shape.depthwise()) return std::make_unique<DepthwiseConv>(context, c.window, c.clamp, shape);
  return std::make_unique<DenseConv>(context, c.window, c.clamp, shape);
}

}  // namespace

std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::ConvF32& c) {
  return MakeConv(context, c, false);
}

std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::ConvTransposeF32& c) {
  return MakeConv(context, c, true);
}

}  // namespace rshift::f32
