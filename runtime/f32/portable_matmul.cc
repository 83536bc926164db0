// kMatMulF32 without a library: [..., M, K] x [..., K, N] with the leading dimensions broadcast.
#include <algorithm>
#include <array>
#include <vector>

#include "runtime/f32/broadcast.h"
#include "runtime/f32/packed_product.h"
#include "runtime/f32/portable.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

struct Problem {
  int64_t batch = 1, m = 1, k = 1, n = 1;
  std::vector<int64_t> a, b;  // where the matrices of each product begin
};

Problem ReadProblem(const StepContext& context) {
  const Shape& a = context.Record(Field::kSrc).shape;
  const Shape& b = context.Record(Field::kSrc2).shape;
  const Shape& dst = context.Record(Field::kDst).shape;
  Problem p{1, dst[dst.size() - 2], a.back(), b.back(), {}, {}};
  if (NumElements(b) == p.k * p.n) {
    // One matrix for all rows: the leading dimensions of the source are rows too.
    p.m = NumElements(dst) / p.n;
    p.a = p.b = {0};
    return p;
  }
  const auto lead = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
  const Shape dims = lead(dst), lead_a = lead(a), lead_b = lead(b);
  p.batch = NumElements(dims);
  const auto starts = [&](const Shape& own, int64_t matrix) {
    const Shape strides = Strides(own);
    std::vector<int64_t> all;
    for (int64_t i = 0; i < p.batch; ++i) {
      int64_t rest = i, at = 0;
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
        const size_t skipped = dims.size() - own.size();
        if (d >= skipped && own[d - skipped] != 1) at += rest % dims[d] * strides[d - skipped];
      }
      all.push_back(at * matrix);
    }
    return all;
  };
  p.a = starts(lead_a, p.m * p.k);
  p.b = starts(lead_b, p.k * p.n);
  return p;
}

class PortableMatMul final : public Step {
 public:
  PortableMatMul(const StepContext& context, const isa::MatMulF32& c)
      : kernels_(&RowKernelsFor(context.isa).product),
        problem_(ReadProblem(context)),
        panels_(*kernels_, problem_.k, problem_.n),
        bias_(context, 1, problem_.n, panels_, *kernels_),
        clamp_(c.clamp),
        at_once_(RowsAtOnce(*kernels_, problem_.k, problem_.m)),
        scratch_(context.scratch),
        a_(context.In<float>(Field::kSrc)),
        b_(context.In<float>(Field::kSrc2)),
        dst_(context.Out<float>(Field::kDst)) {
    constant_ = context.Record(Field::kSrc2).region == Region::kConst && problem_.b.size() == 1;
    doubles_ = static_cast<size_t>(at_once_ * problem_.k);
    // The rows' addresses, what is widened, and a matrix that the program computes.
    size_t bytes = doubles_ * sizeof(double) + static_cast<size_t>(at_once_) * sizeof(float*) +
                   bias_.thread_floats() * sizeof(float);
    if (constant_) {
      packed_ = AlignedBuffer(WithinBufferLimits(context, panels_.floats() * sizeof(float)));
      panels_.Pack(b_, reinterpret_cast<float*>(packed_.data()));
    } else {
      bytes += panels_.floats() * sizeof(float);
    }
    thread_bytes_ = (bytes + 63) / 64 * 64;
    scratch_->Reserve(
        WithinBufferLimits(context, thread_bytes_ * static_cast<size_t>(context.threads)));
  }

  size_t memory_bytes() const override { return packed_.size() + bias_.bytes(); }

  void Run(const Team& team) noexcept override {
    std::byte* own = scratch_->data() + static_cast<size_t>(team.index) * thread_bytes_;
    auto* x = reinterpret_cast<double*>(own);
    auto** out = reinterpret_cast<float**>(x + doubles_);
    auto* own_bias = reinterpret_cast<float*>(out + at_once_);
    const float* bias = bias_.Get(own_bias);
    float* packed = own_bias + bias_.thread_floats();
    const float* w = constant_ ? reinterpret_cast<const float*>(packed_.data()) : packed;
    const Range range = ThreadRange(problem_.batch * problem_.m, kernels_->rows, team);
    int64_t ready = -1;  // whose matrix is in `packed`
    for (int64_t at = range.begin; at < range.end;) {
      const int64_t i = at / problem_.m, row = at % problem_.m;
      const int64_t rows = std::min({at_once_, problem_.m - row, range.end - at});
      const int64_t b = problem_.b[static_cast<size_t>(i)];
      if (!constant_ && ready != b) panels_.Pack(b_ + b, packed);
      ready = b;
      Widen(a_ + problem_.a[static_cast<size_t>(i)] + row * problem_.k, rows, x);
      for (int64_t r = 0; r < rows; ++r) out[r] = dst_ + (at + r) * problem_.n;
      MultiplyBlock(*kernels_, {x, problem_.k, rows, out}, panels_, w, bias, clamp_);
      at += rows;
    }
  }

 private:
  // Rows of k, tile by tile.
  void Widen(const float* from, int64_t rows, double* to) const {
    std::array<const float*, kMaxProductRows> x;
    for (int64_t row = 0; row < rows; row += kernels_->rows) {
      const int64_t count = std::min(kernels_->rows, rows - row);
      for (int64_t r = 0; r < count; ++r) x[static_cast<size_t>(r)] = from + (row + r) * problem_.k;
      kernels_->widen(x.data(), count, problem_.k, to);
      to += count * problem_.k;
    }
  }

  const ProductKernels* kernels_;
  Problem problem_;
  Panels panels_;
  AlignedBuffer packed_;
  PaddedBias bias_;
  Clamp clamp_;
  int64_t at_once_ = 0;
  Scratch* scratch_;
  const float *a_, *b_;
  float* dst_;
  bool constant_ = false;
  size_t doubles_ = 0, thread_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakePortableStep(const StepContext& context, const isa::MatMulF32& c) {
  for (const Field field : {Field::kDst, Field::kSrc, Field::kSrc2}) {
    RequireShape(NumElements(context.Record(field).shape) > 0, context, field,
                 "no empty dimension");
  }
  return std::make_unique<PortableMatMul>(context, c);
}

}  // namespace rshift::f32
