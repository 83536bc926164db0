// Conv, MatMul (a 1x1 convolution over rows) and Depthwise: arguments prepared once, the kernel of
// the session's instruction set called on each thread's share.
#include "isa/ops/conv.h"

#include <algorithm>
#include <cstring>

#include "codegen/packing/packing.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/step.h"
#include "runtime/steps/flattened_rows.h"
#include "runtime/steps/requant_arrays.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

WindowArgs MakeWindow(const Window& w) {
  return {.kernel_h = w.kernel_h,
          .kernel_w = w.kernel_w,
          .stride_h = w.stride_h,
          .stride_w = w.stride_w,
          .dilation_h = w.dilation_h,
          .dilation_w = w.dilation_w,
          .pad_top = w.pad_top,
          .pad_left = w.pad_left};
}

bool IsPointwise(const Window& w) {
  return w.kernel_h * w.kernel_w == 1 && w.stride_h == 1 && w.stride_w == 1 &&
         w.pad_top + w.pad_left + w.pad_bottom + w.pad_right == 0;
}

// One pixel of zero points with the slack kernels may read.
AlignedBuffer MakeZeroRow(const TensorRecord& src) {
  const auto channels = static_cast<size_t>(src.shape.back());
  AlignedBuffer row(channels + kBufferSlack);
  std::memset(row.data(), static_cast<uint8_t>(src.zero_point), row.size());
  return row;
}

// Elements from pixel to pixel of dst; numbers in f32 have no pitch (FinishToFloat).
int64_t OutputPitch(const StepContext& context) {
  const TensorRecord& dst = context.Record(Field::kDst);
  return dst.dtype == DType::kF32 ? dst.shape.back() : RowPitch(context, Field::kDst);
}

// Each thread's own piece of one buffer.
class Scratch {
 public:
  Scratch(size_t bytes, int threads)
      : stride_((bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment),
        memory_(stride_ * static_cast<size_t>(threads)) {}
  size_t bytes() const { return memory_.size(); }
  void* For(const Team& team) { return memory_.data() + stride_ * static_cast<size_t>(team.index); }

 private:
  size_t stride_;
  AlignedBuffer memory_;
};

// Two ways to divide a grid, by the largest share of a thread under each: rows, or columns, or the
// preferred one when the other is less than a tenth better.
bool SplitRows(int64_t by_rows, int64_t by_columns, bool prefer_rows) {
  return prefer_rows ? by_rows <= by_columns + by_columns / 10
                     : by_rows + by_rows / 10 < by_columns;
}

// Weights of more than this, and more than there are activations, are read by one thread only. Else
// threads divide the pixels: what one wrote in the command before, it reads.
constexpr int64_t kSharedWeights = 256 * 1024;

class ConvStep : public Step {
 public:
  ConvStep(const StepContext& context, ConvArgs args)
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
    args_.weights = context.In<int8_t>(Field::kWeights);
    args_.zero_row = zero_row_.data();
    args_.src_signed = context.Record(Field::kSrc).dtype == DType::kS8;
    args_.src_pitch = RowPitch(context, Field::kSrc);
    args_.dst_pitch = OutputPitch(context);
    args_.ic4 = RoundUp(packed.ic_per_group, 4);
    args_.k = packed.k();
    args_.n = packed.n();
    args_.panels_per_group = (args_.n + kPanelChannels - 1) / kPanelChannels;
    requant_ = MakeRequantArrays(context, {.channels = args_.oc,
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

  void Run(const Team& team) noexcept override {
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
      kernels_.conv(args_, range, scratch_.For(team));
    }
  }

  size_t memory_bytes() const override {
    return zero_row_.size() + requant_.memory.size() + scratch_.bytes();
  }

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
  Scratch scratch_;
  bool weights_dominate_ = false;
};

std::unique_ptr<Step> MakeConv(const StepContext& context) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  ConvArgs args{.batch = src[0],
                .ih = src[1],
                .iw = src[2],
                .ic = src[3],
                .oh = dst[1],
                .ow = dst[2],
                .oc = dst[3]};
  const auto conv = isa::Read<isa::Conv>(*context.command);
  args.groups = conv.groups;
  args.ic_per_group = args.ic / args.groups;
  args.oc_per_group = args.oc / args.groups;
  args.window = MakeWindow(conv.window);
  args.pointwise = IsPointwise(conv.window);
  return std::make_unique<ConvStep>(context, args);
}

std::unique_ptr<Step> MakeMatMul(const StepContext& context) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const int64_t k = src.back(), n = context.Record(Field::kDst).shape.back();
  const int64_t rows = NumElements(Shape(src.begin(), src.end() - 1));
  const ConvArgs args{.ih = rows,
                      .ic = k,
                      .oh = rows,
                      .oc = n,
                      .ic_per_group = k,
                      .oc_per_group = n,
                      .pointwise = true};
  return std::make_unique<ConvStep>(context, args);
}

const KernelTable& DepthwiseKernels(const StepContext& context) {
  const Window w = isa::ReadWindow(*context.command);
  const bool distant = HasDistantTaps(w.kernel_h, w.kernel_w, w.dilation_w);
  return KernelsFor(distant && context.isa == Isa::kAvx512Vnni ? Isa::kAvx2 : context.isa);
}

class DepthwiseStep : public Step {
 public:
  explicit DepthwiseStep(const StepContext& context)
      : kernels_(DepthwiseKernels(context)),
        zero_row_(MakeZeroRow(context.Record(Field::kSrc))),
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
             .window = MakeWindow(isa::ReadWindow(*context.command))};
    requant_ =
        MakeRequantArrays(context, {.channels = args_.channels,
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

  void Run(const Team& team) noexcept override {
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
      kernels_.depthwise(args_, range, scratch_.For(team));
    }
  }

  size_t memory_bytes() const override {
    return zero_row_.size() + requant_.memory.size() + scratch_.bytes();
  }

 private:
  const KernelTable& kernels_;
  DepthwiseArgs args_;
  AlignedBuffer zero_row_;
  RequantArrays requant_;
  Scratch scratch_;
};

}  // namespace

void RegisterConvSteps() {
  RegisterStep(Opcode::kConv, MakeConv);
  RegisterStep(Opcode::kMatMul, MakeMatMul);
  RegisterStep(Opcode::kDepthwise, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<DepthwiseStep>(context);
  });
}

}  // namespace rshift
