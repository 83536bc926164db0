// What oneDNN calls post-operations: between the output scale and the zero point, in binary32, each
// operation rounded; a product and a sum are one fma where oneDNN's kernels for AVX2 with FMA and
// for AVX-512 have one (kSum, kLinear: compared with oneDNN 2.6). Functions are computed in
// binary64 (elementary.h) and rounded once.
#ifndef RSHIFT_QUANTIZE_NUMERICS_POST_OPS_H_
#define RSHIFT_QUANTIZE_NUMERICS_POST_OPS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/elementary.h"
#include "quantize/numerics/quantize.h"

namespace rshift::numerics {

// A function of f alone, before the operation's own scale; f itself of kSum and of those with
// numbers for each channel.
template <PostOpKind kKind>
[[gnu::always_inline]] inline float PostFunctionOf(float alpha, float beta, float f) {
  if constexpr (kKind == PostOpKind::kRelu) {
    return f > 0.0f ? f : alpha * f;
  } else if constexpr (kKind == PostOpKind::kTanh) {
    return static_cast<float>(Tanh(static_cast<double>(f)));
  } else if constexpr (kKind == PostOpKind::kLinear) {
    return std::fma(alpha, f, beta);
  } else if constexpr (kKind == PostOpKind::kClip) {
    return f < alpha ? alpha : f > beta ? beta : f;
  } else if constexpr (kKind == PostOpKind::kLogistic) {
    return static_cast<float>(Logistic(static_cast<double>(f)));
  } else if constexpr (kKind == PostOpKind::kElu) {
    return f > 0.0f ? f : alpha * static_cast<float>(Expm1(static_cast<double>(f)));
  } else if constexpr (kKind == PostOpKind::kAbs) {
    return f < 0.0f ? -f : f;
  } else if constexpr (kKind == PostOpKind::kSqrt) {
    return std::sqrt(f);  // correctly rounded; NaN below zero
  } else if constexpr (kKind == PostOpKind::kSquare) {
    return f * f;
  } else if constexpr (kKind == PostOpKind::kSwish) {
    return f * static_cast<float>(Logistic(static_cast<double>(alpha * f)));
  } else if constexpr (kKind == PostOpKind::kHardSwish) {
    const float gate = alpha * f + beta;
    return f * (gate < 0.0f ? 0.0f : gate > 1.0f ? 1.0f : gate);
  } else if constexpr (kKind == PostOpKind::kRound) {
    return f < 4194304.0f && f > -4194304.0f ? RoundHalfEven(f) : f;
  } else {
    return f;
  }
}

inline float PostFunction(const PostOp& op, float f) {
  switch (op.kind) {
#define RSHIFT_POST_OP(id, name) \
  case PostOpKind::k##name:      \
    return PostFunctionOf<PostOpKind::k##name>(op.alpha, op.beta, f);
#include "isa/functions.def"
  }
  return f;
}

// kSum: fma(scale, y_old, f), y_old being the addend's raw integer; others: scale * function(f).
inline float ApplyPostOp(const PostOp& op, float f, int32_t y_old) {
  if (op.kind == PostOpKind::kSum) {
    return std::fma(op.scale, static_cast<float>(y_old), f);
  }
  return op.scale * PostFunction(op, f);
}

// kChannelLinear, kChannelRelu, of the channel that the numbers belong to.
[[gnu::always_inline]] inline float ChannelLinear(float alpha, float beta, float f) {
  return std::fma(alpha, f, beta);
}
[[gnu::always_inline]] inline float ChannelRelu(float alpha, float f) {
  return f > 0.0f ? f : alpha * f;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_POST_OPS_H_
