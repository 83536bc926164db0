// kConvF32 and kConvTransposeF32.
//
// oneDNN counts dimensions in the order N, C, H, W whatever the memory order is. Weights, as ONNX
// stores them:
//   convolution  [OC, IC/g, KH, KW]  -> oneDNN [g, OC/g, IC/g, KH, KW], tag goihw
//   transposed   [IC, OC/g, KH, KW]  -> oneDNN [g, OC/g, IC/g, KH, KW], tag giohw (channels swapped
//   in memory)
#include "isa/ops/field_list.h"
#include "runtime/onednn/makers.h"
#include "runtime/onednn/onednn_step.h"

namespace rshift::f32 {
namespace {

using dnnl::memory;

// One spatial dimension. `pad_after` is what the output size makes of it, which for a convolution
// is at most the file's and may be below 0 (input that no window reaches).
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;
};

struct Problem {
  int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  Axis h, w;
};

Axis AxisOf(const StepContext& context, bool vertical) {
  const Window w = isa::ReadWindow(*context.command);
  const size_t dim = vertical ? 1 : 2;
  const int64_t in = context.Record(Field::kSrc).shape[dim];
  const int64_t out = context.Record(Field::kDst).shape[dim];
  if (vertical) return {in, out, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top, w.pad_bottom};
  return {in, out, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left, w.pad_right};
}

// The small side of the window slides over the large one: large + pads covers (small - 1) strides
// and one window.
void FitPadAfter(const StepContext& context, bool transposed, Axis* axis) {
  const int64_t large = transposed ? axis->out : axis->in;
  const int64_t small = transposed ? axis->in : axis->out;
  const int64_t extent = (axis->kernel - 1) * axis->dilation + 1;
  const int64_t needed = (small - 1) * axis->stride + extent - large - axis->pad_before;
  const bool fits =
      transposed || (needed <= axis->pad_after && needed > axis->pad_after - axis->stride);
  RequireShape(fits, context, Field::kDst, "the size its window, strides and pads give");
  axis->pad_after = needed;
}

Problem ReadProblem(const StepContext& context, bool transposed) {
  for (const Field field : {Field::kDst, Field::kSrc, Field::kWeights}) {
    RequireType(context, field, {DType::kF32});
    RequireShape(context.Record(field).shape.size() == 4, context, field, "4 dimensions");
    RequireShape(NumElements(context.Record(field).shape) > 0, context, field,
                 "no empty dimension");
  }
  const Shape& src = context.Record(Field::kSrc).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  Problem p{src[0],
            src[3],
            dst[3],
            context.command->Get(Field::kGroups),
            AxisOf(context, true),
            AxisOf(context, false)};
  RSHIFT_REQUIRE(p.groups >= 1 && p.in_channels % p.groups == 0 && p.out_channels % p.groups == 0,
                 ErrorCode::kCorrupt, Where(context), ": groups is ", p.groups,
                 ", expected a divisor of ", p.in_channels, " and ", p.out_channels,
                 " channels: compile the model again");
  RequireShape(dst[0] == p.batch, context, Field::kDst, "the source's batch");
  const Shape weights =
      transposed ? Shape{p.in_channels, p.out_channels / p.groups, p.h.kernel, p.w.kernel}
                 : Shape{p.out_channels, p.in_channels / p.groups, p.h.kernel, p.w.kernel};
  RequireShape(context.Record(Field::kWeights).shape == weights, context, Field::kWeights,
               ToString(weights).c_str());
  if (context.Has(Field::kSrc3)) {
    RequireType(context, Field::kSrc3, {DType::kF32});
    RequireShape(NumElements(context.Record(Field::kSrc3).shape) == p.out_channels, context,
                 Field::kSrc3, "one element per output channel");
  }
  FitPadAfter(context, transposed, &p.h);
  FitPadAfter(context, transposed, &p.w);
  return p;
}

// What a desc of either primitive takes.
struct Description {
  Operands operands;
  memory::desc any_weights;
  memory::dims strides, dilates, pads_before, pads_after;
};

Description Describe(const StepContext& context, const Problem& p, bool transposed) {
  constexpr auto kF32 = memory::data_type::f32;
  using tag = memory::format_tag;
  Description d;
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
template <typename Primitive>
dnnl::primitive MakePrimitive(const Description& d, dnnl::algorithm algorithm, const Clamp& clamp) {
  const typename Primitive::desc desc(dnnl::prop_kind::forward_inference, algorithm, d.operands.src,
                                      d.any_weights, d.operands.bias, d.operands.dst, d.strides,
                                      d.dilates, d.pads_before, d.pads_after);
  return Primitive(typename Primitive::primitive_desc(desc, Attributes(clamp), CpuEngine()));
}

}  // namespace

std::unique_ptr<Step> MakeConv(const StepContext& context) {
  const Problem problem = ReadProblem(context, false);
  return WithOneDnn(context, [&] {
    const Description d = Describe(context, problem, false);
    const dnnl::primitive primitive = MakePrimitive<dnnl::convolution_forward>(
        d, dnnl::algorithm::convolution_direct, ReadClamp(context));
    return MakePrimitiveStep(context, primitive, d.operands);
  });
}

std::unique_ptr<Step> MakeConvTranspose(const StepContext& context) {
  const Problem problem = ReadProblem(context, true);
  return WithOneDnn(context, [&] {
    const Description d = Describe(context, problem, true);
    const dnnl::primitive primitive = MakePrimitive<dnnl::deconvolution_forward>(
        d, dnnl::algorithm::deconvolution_direct, ReadClamp(context));
    return MakePrimitiveStep(context, primitive, d.operands);
  });
}

}  // namespace rshift::f32
