#include "quantize/numerics/post_ops.h"

#include <cmath>

#include "quantize/numerics/float_scale.h"
#include "runtime/kernels/finish.h"
#include "runtime/kernels/generic/targets.h"

// Loops for the vectoriser (-O3 -fno-trapping-math, see CMakeLists.txt), one body compiled for each
// instruction set by function attributes, as in elementwise.cc.
namespace rshift {
namespace {

constexpr int64_t kMost = 64;  // channels of one call

#define RSHIFT_INLINE [[gnu::always_inline]] inline

// (float(acc) + bias_f) * scale for all channels.
RSHIFT_INLINE void Scale(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
                         float* value) {
  const float* scale = q.scale + entry;
  const float* bias = q.bias_f + entry;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    value[i] = numerics::ScaledAccumulator(acc[i], bias[i], scale[i]);
  }
}

template <PostOpKind kKind>
RSHIFT_INLINE void Function(const PostOp& op, int64_t count, float* value) {
  const float alpha = op.alpha, beta = op.beta, scale = op.scale;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    value[i] = scale * numerics::PostFunctionOf<kKind>(alpha, beta, value[i]);
  }
}

template <>
RSHIFT_INLINE void Function<PostOpKind::kLinear>(const PostOp& op, int64_t count, float* value) {
  const float alpha = op.alpha, beta = op.beta, scale = op.scale;
  if (alpha == 1 || beta == 0) {  // one rounding, by fma or without: a call less on old CPUs
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) value[i] = scale * (alpha * value[i] + beta);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) value[i] = scale * std::fma(alpha, value[i], beta);
}

RSHIFT_INLINE void ChannelLinear(const PostOp& op, int64_t entry, int64_t count, float* value) {
  const float* alpha = op.alphas.data() + entry;
  const float* beta = op.betas.data() + entry;
  const float scale = op.scale;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    value[i] = scale * numerics::ChannelLinear(alpha[i], beta[i], value[i]);
  }
}

RSHIFT_INLINE void ChannelRelu(const PostOp& op, int64_t entry, int64_t count, float* value) {
  const float* alpha = op.alphas.data() + entry;
  const float scale = op.scale;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    value[i] = scale * numerics::ChannelRelu(alpha[i], value[i]);
  }
}

template <typename T>
RSHIFT_INLINE void Sum(const PostOp& op, const T* addend, int64_t count, float* value) {
  const float scale = op.scale;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    value[i] = std::fma(scale, static_cast<float>(addend[i]), value[i]);
  }
}

RSHIFT_INLINE void Apply(const PostOpArgs& args, const PostOp& op, int64_t entry, int64_t count,
                         const uint8_t* addend, float* value) {
  switch (op.kind) {
    case PostOpKind::kSum:
      return args.addend_signed ? Sum(op, reinterpret_cast<const int8_t*>(addend), count, value)
                                : Sum(op, addend, count, value);
    case PostOpKind::kChannelLinear:
      return ChannelLinear(op, entry, count, value);
    case PostOpKind::kChannelRelu:
      return ChannelRelu(op, entry, count, value);
    case PostOpKind::kRelu:
      return Function<PostOpKind::kRelu>(op, count, value);
    case PostOpKind::kLinear:
      return Function<PostOpKind::kLinear>(op, count, value);
    case PostOpKind::kClip:
      return Function<PostOpKind::kClip>(op, count, value);
    case PostOpKind::kHardSwish:
      return Function<PostOpKind::kHardSwish>(op, count, value);
    case PostOpKind::kRound:
      return Function<PostOpKind::kRound>(op, count, value);
    default:  // nothing to gain, or functions with calls
      for (int64_t i = 0; i < count; ++i) value[i] = numerics::ApplyPostOp(op, value[i], 0);
  }
}

// What belongs to dst after all post-operations.
RSHIFT_INLINE void RealValues(const RequantArgs& q, int64_t entry, const int32_t* acc,
                              int64_t count, const uint8_t* dst, float* value) {
  Scale(q, entry, acc, count, value);
  const PostOpArgs& args = *q.post_op_args;
  const uint8_t* addend = args.addend == nullptr
                              ? nullptr
                              : args.addend + (dst - static_cast<const uint8_t*>(args.dst));
  for (const PostOp& op : args.post_ops) Apply(args, op, entry, count, addend, value);
}

// Post-operations may make a NaN (the root of a negative number).
RSHIFT_INLINE void ToBytes(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
                           uint8_t* dst) {
  float value[kMost];
  RealValues(q, entry, acc, count, dst, value);
  const int32_t zero = q.zero_y, lo = q.lo, hi = q.hi;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    dst[i] = static_cast<uint8_t>(numerics::RoundWithZero(value[i], zero, lo, hi));
  }
}

RSHIFT_INLINE void ToReal(const RequantArgs& q, int64_t entry, const int32_t* acc, int64_t count,
                          uint8_t* dst) {
  RealValues(q, entry, acc, count, dst,
             q.post_op_args->result + (dst - static_cast<const uint8_t*>(q.post_op_args->dst)));
}

#define RSHIFT_TARGET(name, ...)                                                             \
  struct name {                                                                              \
    __VA_ARGS__ static void PostOps(const RequantArgs& q, int64_t entry, const int32_t* acc, \
                                    int64_t count, uint8_t* dst) noexcept {                  \
      ToBytes(q, entry, acc, count, dst);                                                    \
    }                                                                                        \
    __VA_ARGS__ static void ToFloat(const RequantArgs& q, int64_t entry, const int32_t* acc, \
                                    int64_t count, uint8_t* dst) noexcept {                  \
      ToReal(q, entry, acc, count, dst);                                                     \
    }                                                                                        \
  }

RSHIFT_TARGET(Scalar, );
#if defined(__x86_64__)
RSHIFT_TARGET(Avx2, RSHIFT_TARGET_AVX2);
RSHIFT_TARGET(Avx512, RSHIFT_TARGET_AVX512);
#endif

}  // namespace

FinishFn FinishPostOps([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni) return Avx512::PostOps;
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return Avx2::PostOps;
#endif
  return Scalar::PostOps;
}

FinishFn FinishToFloat([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni) return Avx512::ToFloat;
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return Avx2::ToFloat;
#endif
  return Scalar::ToFloat;
}

}  // namespace rshift
