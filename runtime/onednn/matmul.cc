// kMatMulF32: [..., M, K] x [..., K, N] with the leading dimensions broadcast.
#include "runtime/onednn/makers.h"
#include "runtime/onednn/onednn_step.h"

namespace rshift::f32 {
namespace {

using dnnl::memory;

memory::desc Plain(const memory::dims& dims) {
  return memory::desc(dims, memory::data_type::f32, Strides(dims));
}

memory::dims WithRank(const Shape& shape, size_t rank) {
  memory::dims dims(rank - shape.size(), 1);
  dims.insert(dims.end(), shape.begin(), shape.end());
  return dims;
}

struct MatMulDescription {
  Operands operands;
  memory::desc weights;  // of the primitive: any format where a reorder pays
};

MatMulDescription Describe(const StepContext& context) {
  const Shape& a = context.Record(Field::kSrc).shape;
  const Shape& b = context.Record(Field::kSrc2).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  MatMulDescription d;
  d.operands.weights_field = Field::kSrc2;
  const int64_t k = a.back(), n = b.back();
  size_t rank = 2;
  if (NumElements(b) == k * n) {
    // One matrix for all rows: the leading dimensions of the source are rows too.
    const int64_t rows = NumElements(dst) / n;
    d.operands.src = Plain({rows, k});
    d.operands.weights = Plain({k, n});
    d.operands.dst = Plain({rows, n});
  } else {
    rank = dst.size();
    d.operands.src = Plain(WithRank(a, rank));
    d.operands.weights = Plain(WithRank(b, rank));
    d.operands.dst = Plain(WithRank(dst, rank));
  }
  const bool prepack = rank == 2 && context.Record(Field::kSrc2).region == Region::kConst;
  d.weights = prepack ? memory::desc({k, n}, memory::data_type::f32, memory::format_tag::any)
                      : d.operands.weights;
  if (context.Has(Field::kSrc3)) d.operands.bias = Plain(WithRank({n}, rank));
  return d;
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMulF32& c) {
  for (const Field field : {Field::kDst, Field::kSrc, Field::kSrc2}) {
    RequireShape(NumElements(context.Record(field).shape) > 0, context, field,
                 "no empty dimension");
  }
  return WithOneDnn(context, [&] {
    const MatMulDescription d = Describe(context);
    const dnnl::matmul::desc desc =
        d.operands.bias.is_zero()
            ? dnnl::matmul::desc(d.operands.src, d.weights, d.operands.dst)
            : dnnl::matmul::desc(d.operands.src, d.weights, d.operands.bias, d.operands.dst);
    const dnnl::matmul primitive(
        dnnl::matmul::primitive_desc(desc, Attributes(c.clamp), CpuEngine()));
    return MakePrimitiveStep(context, primitive, d.operands);
  });
}

}  // namespace rshift::f32
