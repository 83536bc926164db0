// A convolution, or a matrix product as a 1x1 convolution over rows: arguments prepared once, the
// kernel of the session's instruction set called on each thread's share.
#ifndef RSHIFT_RUNTIME_STEPS_CONV_STEP_H_
#define RSHIFT_RUNTIME_STEPS_CONV_STEP_H_

#include <algorithm>

#include "codegen/packing/packing.h"
#include "isa/ops/all.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/requant_arrays.h"

namespace rshift {

// Weights of more than this, and more than there are activations, are read by one thread only. Else
// threads divide the pixels: what one wrote in the command before, it reads.
constexpr int64_t kSharedWeights = 256 * 1024;

class ConvStep : public Step {
 public:
  // `arrays(layout)` makes the requantization of the channels. args.weights: those of the command
  // where null, else packed ones that outlive the step.
  template <typename MakeArrays>
  ConvStep(const StepContext& context, ConvArgs args, const MakeArrays& arrays)
      : kernels_(KernelsFor(context.isa)),
        args_(args),
        zero_row_(MakeZeroRow(context.Record(Field::kSrc))),
        scratch_(0, 1) {
    const ConvDims dims{args_.groups,          args_.oc_per_group,    args_.ic_per_group,
                        args_.window.kernel_h, args_.window.kernel_w, args_.window.dilation_w};
    args_.stem_im2col = UsesStemIm2col(dims);
    const PackedShape packed = ConvPackedShape(dims);
    args_.src = context.In<uint8_t>(Field::kSrc);
    args_.dst = context.Out<uint8_t>(Field::kDst);
    if (args_.weights == nullptr) args_.weights = context.In<int8_t>(Field::kWeights);
    args_.zero_row = zero_row_.data();
    args_.src_signed = context.Record(Field::kSrc).dtype == DType::kS8;
    args_.src_pitch = RowPitch(context, Field::kSrc);
    args_.dst_pitch = OutputPitch(context);
    args_.ic4 = RoundUp(packed.ic_per_group, kDotProducts);
    args_.k = packed.k();
    args_.n = packed.n();
    args_.panels_per_group = (args_.n + kPanelChannels - 1) / kPanelChannels;
    requant_ = arrays(RequantLayout{.channels = args_.oc,
                                    .per_group = args_.oc_per_group,
                                    .padded = args_.n,
                                    .entries = args_.groups * args_.n,
                                    .products = packed.taps * packed.ic_per_group});
    args_.requant = requant_.args;
    args_.epilogue = context.epilogue;
    weights_dominate_ =
        packed.bytes() > std::max(kSharedWeights, args_.batch * args_.ih * args_.iw * args_.ic);
    if (kernels_.conv_scratch != nullptr)
      scratch_ = {kernels_.conv_scratch(args_), context.threads};
  }

  void Run(const Team& team) noexcept override { RunShare(args_, team); }

  size_t memory_bytes() const override {
    return zero_row_.size() + requant_.memory.size() + scratch_.bytes();
  }

 protected:
  // A thread's share by `args`, which differ from args() in what they point to alone.
  void RunShare(const ConvArgs& args, const Team& team) noexcept {
    const int64_t m = args_.batch * args_.oh * args_.ow;
    const int64_t panels = args_.groups * args_.panels_per_group;
    ConvRange range{0, m, 0, panels};
    const int64_t by_rows = (m + team.count - 1) / team.count * args_.groups * args_.n;
    if (SplitRows(by_rows, m * MostChannels(panels, team.count), !weights_dominate_)) {
      const Range part = ThreadRange(m, 1, team);  // tiles adapt to what is left
      range.m_begin = part.begin;
      range.m_end = part.end;
    } else {
      const Range part = ThreadRange(panels, 1, team);
      range.panel_begin = part.begin;
      range.panel_end = part.end;
    }
    if (range.m_begin < range.m_end && range.panel_begin < range.panel_end) {
      kernels_.conv(args, range, scratch_.For(team));
    }
  }

  const ConvArgs& args() const { return args_; }
  const RequantArrays& requant() const { return requant_; }

 private:
  // Of the panels a thread gets when they are divided.
  int64_t MostChannels(int64_t panels, int count) const {
    const auto before = [this](int64_t panel) {
      return panel / args_.panels_per_group * args_.n +
             panel % args_.panels_per_group * kPanelChannels;
    };
    int64_t most = 0;
    for (int i = 0; i < count; ++i) {
      const Range part = ThreadRange(panels, 1, {i, count});
      most = std::max(most, before(part.end) - before(part.begin));
    }
    return most;
  }

  const KernelTable& kernels_;
  ConvArgs args_;
  AlignedBuffer zero_row_;
  RequantArrays requant_;
  ThreadScratch scratch_;
  bool weights_dominate_ = false;
};

// The arguments that follow from the shapes of a command with a window and groups.
template <typename C>
ConvArgs ConvArgsOf(const StepContext& context, const C& c) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  const Window& w = c.window;
  return {.batch = src[0],
          .ih = src[1],
          .iw = src[2],
          .ic = src[3],
          .oh = dst[1],
          .ow = dst[2],
          .oc = dst[3],
          .groups = c.groups,
          .ic_per_group = src[3] / c.groups,
          .oc_per_group = dst[3] / c.groups,
          .window = w,
          .pointwise = w.kernel_h * w.kernel_w == 1 && w.stride_h == 1 && w.stride_w == 1 &&
                       w.pad_top + w.pad_left + w.pad_bottom + w.pad_right == 0};
}

// Of a matrix product: the rows are pixels.
inline ConvArgs MatMulArgsOf(const StepContext& context) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const int64_t k = src.back(), n = context.Record(Field::kDst).shape.back();
  const int64_t rows = NumElements(Shape(src.begin(), src.end() - 1));
  return {.ih = rows,
          .ic = k,
          .oh = rows,
          .oc = n,
          .ic_per_group = k,
          .oc_per_group = n,
          .pointwise = true};
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_CONV_STEP_H_
