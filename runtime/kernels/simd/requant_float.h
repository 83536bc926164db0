// The requantizers whose scale is a float (what a requantizer is: requant.h). The formulas are
// quantize/numerics/{float_scale,half_float,double_scale}.h's. Round to nearest even is the
// thread's mode; NaN cannot arise: scales and biases are finite, and 0 is never multiplied by
// infinity.
#ifndef RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_FLOAT_H_
#define RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_FLOAT_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

// Plus any zero point, above every hi. Where conversions do not saturate they give INT32_MIN for
// what no int32 holds, which is right below: only the upper end needs a clamp.
constexpr float kBeyondBytes = 4096.0f;

template <typename V>
inline typename V::Float Convertible(typename V::Float v) {
  return V::kConversionsSaturate ? v : V::Min(v, V::Set(kBeyondBytes));
}

template <typename V>
struct FloatEven {
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  typename V::Float scale;

  static FloatEven Load(const RequantArgs& q, int64_t entry) { return {V::Load(q.scale + entry)}; }
  typename V::Int Scale(typename V::Int acc) const {
    return V::RoundEven(Convertible<V>(V::Mul(V::ToFloat(acc), scale)));
  }
};

template <typename V>
struct FloatZeroEven {
  static constexpr bool kAddsZero = true, kBiased = false, kLow16Valid = false;
  typename V::Float bias, scale, zero;

  static FloatZeroEven Load(const RequantArgs& q, int64_t entry) {
    return {V::Load(q.bias_f + entry), V::Load(q.scale + entry),
            V::Set(static_cast<float>(q.zero_y))};
  }
  typename V::Int Scale(typename V::Int acc) const {
    const auto v = V::Mul(V::Add(V::ToFloat(acc), bias), scale);
    return V::RoundEven(Convertible<V>(V::Add(v, zero)));
  }
};

// Half away from zero, in binary64.
template <typename V>
struct DoubleAway {
  static constexpr bool kAddsZero = false, kBiased = false, kLow16Valid = false;
  typename V::Doubles scale;

  static DoubleAway Load(const RequantArgs& q, int64_t entry) {
    return {V::FromWords(V::Load(q.rshift + entry), V::Load(q.multiplier + entry))};
  }
  typename V::Int Scale(typename V::Int acc) const {
    const auto v = V::Mul(V::ToDoubles(acc), scale);
    return V::RoundAway(V::kConversionsSaturate ? v : V::Min(v, double{kBeyondBytes}));
  }
};

// No relu, nothing applied twice, ties to even.
inline bool IsPlain(const HalfEpilogue& half) {
  return !half.relu && !half.relu_flag && !half.sqrt_dequant && !half.sqrt_quant &&
         half.mode == RealRounding::kEven;
}

// Where HalfEpilogue is plain. The zero point is in the offset.
template <typename V>
struct HalfFloat {
  static constexpr bool kAddsZero = true, kBiased = false, kLow16Valid = false;
  typename V::Float scale, bias, quant_scale, offset;

  static HalfFloat Load(const RequantArgs& q, int64_t entry) {
    return {V::Load(q.scale + entry), V::Load(q.bias_f + entry), V::Set(q.half.quant_scale),
            V::Set(q.half.quant_offset)};
  }
  typename V::Int Scale(typename V::Int acc) const {
    const auto product = V::Mul(V::ToFloat(acc), scale);
    const auto h = V::ThroughHalf(V::Add(V::ThroughHalf(product), bias));
    return V::RoundEven(Convertible<V>(V::Add(V::Mul(h, quant_scale), offset)));
  }
};

// With every attribute.
template <typename V>
struct HalfFloatAny {
  static constexpr bool kAddsZero = true, kBiased = false, kLow16Valid = false;
  typename V::Float scale, scale_again, bias, least_first, least, quant_scale, quant_scale_again,
      offset;
  RealRounding mode;

  static HalfFloatAny Load(const RequantArgs& q, int64_t entry) {
    const HalfEpilogue& half = q.half;
    const auto one = V::Set(1.0f), scale = V::Load(q.scale + entry);
    const auto quant_scale = V::Set(half.quant_scale);
    return {.scale = scale,
            .scale_again = half.sqrt_dequant ? scale : one,
            .bias = V::Load(q.bias_f + entry),
            .least_first = V::Set(half.relu_flag ? 0.0f : -__builtin_inff()),
            .least = V::Set(half.relu ? 0.0f : -__builtin_inff()),
            .quant_scale = quant_scale,
            .quant_scale_again = half.sqrt_quant ? quant_scale : one,
            .offset = V::Set(half.quant_offset),
            .mode = half.mode};
  }
  typename V::Int Scale(typename V::Int acc) const {
    const auto product = V::Mul(V::ToFloat(acc), scale);
    const auto dequantized = V::ThroughHalf(V::Mul(product, scale_again));
    const auto sum = V::Add(V::Max(dequantized, least_first), bias);
    const auto h = V::Max(V::ThroughHalf(sum), least);
    const auto v = V::Mul(V::Mul(h, quant_scale), quant_scale_again);
    return Round(Convertible<V>(V::Add(v, offset)));
  }
  // The mode is the same for a whole command: the branch is always predicted.
  typename V::Int Round(typename V::Float v) const {
    switch (mode) {
      case RealRounding::kEven:
        break;
      case RealRounding::kAway:
        return V::RoundAway(v);
      case RealRounding::kFloor:
        return V::Floor(v);
      case RealRounding::kCeil:
        return V::Ceil(v);
      case RealRounding::kTruncate:
        return V::Truncate(v);
    }
    return V::RoundEven(v);
  }
};

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_SIMD_REQUANT_FLOAT_H_
