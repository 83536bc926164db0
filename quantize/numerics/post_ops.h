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

// A function of f alone (every kind but kSum), before the operation's own scale.
inline float PostFunction(const PostOp& op, float f) {
  switch (op.kind) {
    case PostOpKind::kRelu:
      return f > 0.0f ? f : op.alpha * f;
    case PostOpKind::kTanh:
      return static_cast<float>(Tanh(static_cast<double>(f)));
    case PostOpKind::kLinear:
      return std::fma(op.alpha, f, op.beta);
    case PostOpKind::kClip:
      return f < op.alpha ? op.alpha : f > op.beta ? op.beta : f;
    case PostOpKind::kLogistic:
      return static_cast<float>(Logistic(static_cast<double>(f)));
    case PostOpKind::kElu:
      return f > 0.0f ? f : op.alpha * static_cast<float>(Expm1(static_cast<double>(f)));
    case PostOpKind::kAbs:
      return f < 0.0f ? -f : f;
    case PostOpKind::kSqrt:
      return std::sqrt(f);  // correctly rounded; NaN below zero
    case PostOpKind::kSquare:
      return f * f;
    case PostOpKind::kSwish:
      return f * static_cast<float>(Logistic(static_cast<double>(op.alpha * f)));
    case PostOpKind::kHardSwish: {
      const float gate = op.alpha * f + op.beta;
      return f * (gate < 0.0f ? 0.0f : gate > 1.0f ? 1.0f : gate);
    }
    case PostOpKind::kRound:
      return f < 4194304.0f && f > -4194304.0f ? RoundHalfEven(f) : f;
    case PostOpKind::kSum:
    case PostOpKind::kChannelLinear:  // ApplyChannelPostOp
    case PostOpKind::kChannelRelu:
      break;
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

// kChannelLinear, kChannelRelu, of output channel c.
inline float ApplyChannelPostOp(const PostOp& op, float f, size_t c) {
  if (op.kind == PostOpKind::kChannelLinear) {
    return op.scale * std::fma(op.alphas[c], f, op.betas[c]);
  }
  return op.scale * (f > 0.0f ? f : op.alphas[c] * f);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_POST_OPS_H_
