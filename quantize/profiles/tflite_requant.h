// Profiles tflite*: which requantization a convolution or matrix product has. NUMERICS.md sections
// 13.1 and 13.2.
#ifndef RSHIFT_QUANTIZE_PROFILES_TFLITE_REQUANT_H_
#define RSHIFT_QUANTIZE_PROFILES_TFLITE_REQUANT_H_

#include "quantize/profiles/arithmetic.h"

namespace rshift::tflite {

// How a convolution's accumulator becomes a byte.
struct Requant {
  Rounding rounding;
  enum class Scale { kDouble, kProduct, kSingle, kFloat } scale;
};
inline constexpr Requant kD1{Rounding::kHalfUp, Requant::Scale::kDouble};
inline constexpr Requant kD2{Rounding::kTwoStep, Requant::Scale::kDouble};
inline constexpr Requant kF2{Rounding::kTwoStep, Requant::Scale::kSingle};
inline constexpr Requant kProductD2{Rounding::kTwoStep, Requant::Scale::kProduct};
inline constexpr Requant kUp{Rounding::kTwoStepUp, Requant::Scale::kDouble};
inline constexpr Requant kProductUp{Rounding::kTwoStepUp, Requant::Scale::kProduct};
inline constexpr Requant kDoubleProduct{Rounding::kDoubleAway, Requant::Scale::kDouble};
inline constexpr Requant kXnnpack{Rounding::kFloatEven, Requant::Scale::kFloat};

// The table of SNPS-Caffe's QUANTIZED_OP.md: one scale D2, F2, F2; one for each channel D1, D2, D1
// (general, depthwise, pointwise). FullyConnected has one scale there and is D2.
inline Requant RequantByTable(const LinearLayer& layer, Variant variant) {
  if (variant == Variant::kD1) return kD1;
  if (variant == Variant::kD2) return kD2;
  if (variant == Variant::kF2) return kF2;
  if (layer.kind == LinearKind::kFullyConnected) return kD2;
  // A depthwise convolution of several outputs for each input is general to SNPS-Caffe.
  const bool general = variant == Variant::kSnps && layer.depth_multiplier;
  const bool depthwise = layer.kind == LinearKind::kDepthwise && !general;
  if (layer.per_channel) return depthwise ? kD2 : kD1;
  const bool pointwise = layer.kind == LinearKind::kPointwise;
  return depthwise || pointwise ? kF2 : kD2;
}

inline bool IsUnsigned(const LinearLayer& layer) { return layer.x.dtype == DType::kU8; }

inline Requant RequantOfReference(const LinearLayer& layer) {
  if (layer.kind == LinearKind::kFullyConnected) return kDoubleProduct;
  return IsUnsigned(layer) ? kProductD2 : kD2;
}

inline Requant RequantOfOptimised(const LinearLayer& layer) {
  if (layer.kind == LinearKind::kDepthwise && IsUnsigned(layer)) return kProductD2;
  if (layer.kind == LinearKind::kGrouped)
    return RequantOfReference(layer);  // there is no optimised one
  const bool single = layer.kind == LinearKind::kFullyConnected && !layer.per_channel;
  return single || IsUnsigned(layer) ? kProductUp : kUp;
}

}  // namespace rshift::tflite

#endif  // RSHIFT_QUANTIZE_PROFILES_TFLITE_REQUANT_H_
