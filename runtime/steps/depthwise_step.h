// A depthwise convolution: arguments prepared once, the kernel of the session's instruction set
// called on each thread's share.
#ifndef RSHIFT_RUNTIME_STEPS_DEPTHWISE_STEP_H_
#define RSHIFT_RUNTIME_STEPS_DEPTHWISE_STEP_H_

#include "codegen/packing/packing.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/requant_arrays.h"

namespace rshift {

inline const KernelTable& DepthwiseKernels(const StepContext& context, const Window& w) {
  const bool distant = HasDistantTaps(w.kernel_h, w.kernel_w, w.dilation_w);
  return KernelsFor(distant && context.isa == Isa::kAvx512Vnni ? Isa::kAvx2 : context.isa);
}

class DepthwiseStep : public Step {
 public:
  // `arrays(layout)` makes the requantization of the channels. zero_x: what pads hold, one for each
  // channel; null: the zero point of src.
  template <typename MakeArrays>
  DepthwiseStep(const StepContext& context, const Window& window, const MakeArrays& arrays,
                const uint8_t* zero_x = nullptr)
      : kernels_(DepthwiseKernels(context, window)),
        zero_row_(MakeZeroRow(context.Record(Field::kSrc), zero_x)),
        scratch_(0, 1) {
    const Shape& src = context.Record(Field::kSrc).shape;
    const Shape& dst = context.Record(Field::kDst).shape;
    args_ = {.src = context.In<uint8_t>(Field::kSrc),
             .dst = context.Out<uint8_t>(Field::kDst),
             .weights = context.In<int8_t>(Field::kWeights),
             .zero_row = zero_row_.data(),
             .src_signed = context.Record(Field::kSrc).dtype == DType::kS8,
             .batch = src[0],
             .ih = src[1],
             .iw = src[2],
             .oh = dst[1],
             .ow = dst[2],
             .channels = src[3],
             .c64 = RoundUp(src[3], kPanelChannels),
             .src_pitch = RowPitch(context, Field::kSrc),
             .dst_pitch = OutputPitch(context),
             .window = window};
    requant_ = arrays(RequantLayout{.channels = args_.channels,
                                    .per_group = args_.c64,
                                    .padded = args_.c64,
                                    .entries = args_.c64,
                                    .products = args_.window.kernel_h * args_.window.kernel_w});
    args_.requant = requant_.args;
    args_.epilogue = context.epilogue;
    if (kernels_.depthwise_scratch != nullptr) {
      scratch_ = {kernels_.depthwise_scratch(args_), context.threads};
    }
  }

  void Run(const Team& team) noexcept override { RunShare(args_, team); }

  size_t memory_bytes() const override {
    return zero_row_.size() + requant_.memory.size() + scratch_.bytes();
  }

 protected:
  // A thread's share by `args`, which differ from args() in what they point to alone.
  void RunShare(const DepthwiseArgs& args, const Team& team) noexcept {
    const int64_t rows = args_.batch * args_.oh;
    DepthwiseRange range{0, rows * args_.ow, 0, args_.channels};
    const int64_t blocks = args_.c64 / kPanelChannels;
    const int64_t by_rows = (rows + team.count - 1) / team.count * blocks;
    if (SplitRows(by_rows, (blocks + team.count - 1) / team.count * rows, true)) {
      const Range part = ThreadRange(rows, 1, team);
      range.m_begin = part.begin * args_.ow;
      range.m_end = part.end * args_.ow;
    } else {
      const Range part = ThreadRange(args_.channels, kPanelChannels, team);
      range.c_begin = part.begin;
      range.c_end = part.end;
    }
    if (range.m_begin < range.m_end && range.c_begin < range.c_end) {
      kernels_.depthwise(args, range, scratch_.For(team));
    }
  }

  const DepthwiseArgs& args() const { return args_; }
  const RequantArrays& requant() const { return requant_; }

 private:
  const KernelTable& kernels_;
  DepthwiseArgs args_;
  AlignedBuffer zero_row_;
  RequantArrays requant_;
  ThreadScratch scratch_;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_DEPTHWISE_STEP_H_
