// kConvF32 and kConvTransposeF32.
//
// oneDNN counts dimensions in the order N, C, H, W whatever the memory order is. Weights, as ONNX
// stores them:
//   convolution  [OC, IC/g, KH, KW]  -> oneDNN [g, OC/g, IC/g, KH, KW], tag goihw
//   transposed   [IC, OC/g, KH, KW]  -> oneDNN [g, OC/g, IC/g, KH, KW], tag giohw (channels swapped
//   in memory)
#include <utility>
#include <vector>

#include "runtime/onednn/makers.h"
#include "runtime/onednn/onednn_step.h"

namespace rshift::f32 {
namespace {

using dnnl::memory;

// One spatial dimension.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;
};

struct Problem {
  int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  Axis h, w;
};

// The pad behind that the output size makes of it, which for a convolution is at most the file's
// and may be below 0 (input that no window reaches). The small side of the window slides over the
// large one: large + pads covers (small - 1) strides and one window.
void FitPadAfter(bool transposed, Axis* axis) {
  const int64_t large = transposed ? axis->out : axis->in;
  const int64_t small = transposed ? axis->in : axis->out;
  const int64_t extent = (axis->kernel - 1) * axis->dilation + 1;
  axis->pad_after = (small - 1) * axis->stride + extent - large - axis->pad_before;
}

template <typename C>
Problem ReadProblem(const StepContext& context, const C& c, bool transposed) {
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  RequireShape(dst[0] == src[0], context, Field::kDst, "the source's batch");
  const Window& w = c.window;
  Problem p{src[0],
            src[3],
            dst[3],
            c.groups,
            {src[1], dst[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top},
            {src[2], dst[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left}};
  FitPadAfter(transposed, &p.h);
  FitPadAfter(transposed, &p.w);
  return p;
}

// What a desc of either primitive takes.
struct ConvDescription {
  Operands operands;
  memory::desc any_weights;
  memory::dims strides, dilates, pads_before, pads_after;
};

ConvDescription Describe(const StepContext& context, const Problem& p, bool transposed) {
  constexpr auto kF32 = memory::data_type::f32;
  using tag = memory::format_tag;
  ConvDescription d;
  d.operands.src = memory::desc({p.batch, p.in_channels, p.h.in, p.w.in}, kF32, tag::nhwc);
  d.operands.dst = memory::desc({p.batch, p.out_channels, p.h.out, p.w.out}, kF32, tag::nhwc);
  const int64_t oc = p.out_channels / p.groups, ic = p.in_channels / p.groups;
  if (p.groups == 1) {
    const memory::dims dims{oc, ic, p.h.kernel, p.w.kernel};
    d.operands.weights = memory::desc(dims, kF32, transposed ? tag::iohw : tag::oihw);
    d.any_weights = memory::desc(dims, kF32, tag::any);
  } else {
    const memory::dims dims{p.groups, oc, ic, p.h.kernel, p.w.kernel};
    d.operands.weights = memory::desc(dims, kF32, transposed ? tag::giohw : tag::goihw);
    d.any_weights = memory::desc(dims, kF32, tag::any);
  }
  if (context.Has(Field::kSrc3)) d.operands.bias = memory::desc({p.out_channels}, kF32, tag::x);
  d.strides = {p.h.stride, p.w.stride};
  d.dilates = {p.h.dilation - 1, p.w.dilation - 1};
  d.pads_before = {p.h.pad_before, p.w.pad_before};
  d.pads_after = {p.h.pad_after, p.w.pad_after};
  return d;
}

// Primitive: dnnl::convolution_forward or dnnl::deconvolution_forward; an empty bias desc means
// none.
template <typename Primitive, typename C>
std::unique_ptr<Step> MakeFor(const StepContext& context, const C& c, bool transposed,
                              dnnl::algorithm algorithm) {
  const Problem problem = ReadProblem(context, c, transposed);
  return WithOneDnn(context, [&] {
    const ConvDescription d = Describe(context, problem, transposed);
    const typename Primitive::desc desc(
        dnnl::prop_kind::forward_inference, algorithm, d.operands.src, d.any_weights,
        d.operands.bias, d.operands.dst, d.strides, d.dilates, d.pads_before, d.pads_after);
    const Primitive primitive(
        typename Primitive::primitive_desc(desc, Attributes(c.clamp), CpuEngine()));
    return MakePrimitiveStep(context, primitive, d.operands);
  });
}

// Whether windows meet edge to edge and fill the output: no output adds up two of them.
bool IsTiling(const Axis& axis) {
  return axis.in > 0 && axis.kernel == axis.stride && axis.dilation == 1 && axis.pad_before == 0 &&
         axis.out == axis.in * axis.stride;
}

// [IC, OC, KH, KW] -> [KH, IC, KW, OC].
std::vector<float> RowsOfWindows(const float* weights, const Problem& p) {
  const int64_t oc = p.out_channels, kh = p.h.kernel, kw = p.w.kernel;
  std::vector<float> rows(static_cast<size_t>(p.in_channels * oc * kh * kw));
  for (int64_t c = 0; c < p.in_channels; ++c) {
    for (int64_t k = 0; k < oc; ++k) {
      for (int64_t i = 0; i < kh * kw; ++i) {
        const int64_t row = i / kw * p.in_channels + c;
        rows[static_cast<size_t>((row * kw + i % kw) * oc + k)] = *weights++;
      }
    }
  }
  return rows;
}

// Windows that meet edge to edge: row i of all windows that a row of the source makes is one row of
// the output, and so the product of that source row [W, IC] with [IC, KW OC]. As one product,
// broadcast over i and over the source's rows. It takes between a half (2 channels in a row) and a
// hundredth of what oneDNN's deconvolution does.
std::unique_ptr<Step> MakeTiling(const StepContext& context, const Problem& p, const Clamp& clamp) {
  constexpr auto kF32 = memory::data_type::f32;
  const int64_t kh = p.h.kernel, row = p.w.kernel * p.out_channels, rows = p.batch * p.h.in;
  Operands operands;
  const memory::dims src{1, rows, p.w.in, p.in_channels}, dst{kh, rows, p.w.in, row};
  operands.src = memory::desc(src, kF32, Strides(src));
  operands.dst = memory::desc(dst, kF32, {p.w.in * row, kh * p.w.in * row, row, 1});
  const memory::dims weights{kh, 1, p.in_channels, row};
  operands.weights = memory::desc(weights, kF32, Strides(weights));
  WithinBufferLimits(context, operands.weights.get_size());
  operands.own_weights =
      RowsOfWindows(reinterpret_cast<const float*>(context.In(Field::kWeights)), p);
  if (context.Has(Field::kSrc3)) {
    const auto* bias = reinterpret_cast<const float*>(context.In(Field::kSrc3));
    for (int64_t j = 0; j < p.w.kernel; ++j)
      operands.own_bias.insert(operands.own_bias.end(), bias, bias + p.out_channels);
    operands.bias = memory::desc({1, 1, 1, row}, kF32, memory::format_tag::abcd);
  }
  const dnnl::matmul::desc desc =
      operands.bias.is_zero()
          ? dnnl::matmul::desc(operands.src, operands.weights, operands.dst)
          : dnnl::matmul::desc(operands.src, operands.weights, operands.bias, operands.dst);
  const dnnl::matmul primitive(dnnl::matmul::primitive_desc(desc, Attributes(clamp), CpuEngine()));
  return MakePrimitiveStep(context, primitive, std::move(operands));
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvF32& c) {
  return MakeFor<dnnl::convolution_forward>(context, c, false, dnnl::algorithm::convolution_direct);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvTransposeF32& c) {
  const auto is_constant = [&](Field field) {
    return !context.Has(field) || context.Record(field).region == Region::kConst;
  };
  const Problem problem = ReadProblem(context, c, true);
  if (c.groups == 1 && IsTiling(problem.h) && IsTiling(problem.w) && is_constant(Field::kWeights) &&
      is_constant(Field::kSrc3)) {
    return WithOneDnn(context, [&] { return MakeTiling(context, problem, c.clamp); });
  }
  return MakeFor<dnnl::deconvolution_forward>(context, c, true,
                                              dnnl::algorithm::deconvolution_direct);
}

}  // namespace rshift::f32
