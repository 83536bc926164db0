// How an int32 accumulator becomes a byte, and how a real number becomes an integer. Numbered for
// the file format; the formulas are sections of quantize/NUMERICS.md, the code is
// quantize/numerics/requantize.h.
#ifndef RSHIFT_BASE_ROUNDING_H_
#define RSHIFT_BASE_ROUNDING_H_

#include <cstdint>

namespace rshift {

// What the words of a requantization mean (acc: int32, Z: the output's zero point):
enum class Rounding : uint8_t {
  // clamp(((acc * multiplier + 2^(rshift-1)) >> rshift) + Z): one rounding, half up. tpu, TFLite
  // D1.
  kHalfUp = 0,
  // clamp(divide(high(acc << left, multiplier), right) + Z): two roundings, the second half away
  // from zero; left = max(31 - rshift, 0), right = max(rshift - 31, 0), acc << left modulo 2^32.
  // TFLite D2 and F2, QNNPACK.
  kTwoStep = 1,
  // f = float(acc) * scale; clamp f to [lo - Z, hi - Z]; round to even; + Z. `multiplier` holds the
  // bits of the f32 scale. ONNX Runtime, XNNPACK on x86.
  kFloatEven = 2,
  // f = (float(acc) + bias_f) * scale, post-operations, + float(Z); clamp f to [lo, hi]; round to
  // even. `multiplier` holds the bits of scale, `rshift` those of bias_f. oneDNN.
  kFloatZeroEven = 3,
  // h = fp16(float(acc) * scale), h = fp16(h + bias_f), relu; then Quantize(h). Ascend.
  kHalfFloat = 4,
  // As kHalfUp, but the one rounding is half away from zero (Caffe2's Int8Add).
  kHalfAway = 5,
  // As kTwoStep, but the second rounding is half up as well. LiteRT's optimised kernels (ruy on
  // x86). In a record, rshift + 64 (64..126) makes that channel kTwoStep by rshift: the channels
  // behind the last full vector of those kernels.
  kTwoStepUp = 6,
  // clamp(round(double(acc) * scale) + Z), the product rounded to binary64, then half away from
  // zero. `multiplier` holds the upper 32 bits of the f64 scale, `rshift` the lower ones. LiteRT's
  // reference FullyConnected.
  kDoubleAway = 7,
};
inline constexpr int kRoundingCount = 8;

// A real number to an integer (Quantize commands, tables).
enum class RealRounding : uint8_t {
  kEven = 0,  // nearest, ties to even
  kAway = 1,  // nearest, ties away from zero
  kFloor = 2,
  kCeil = 3,
  kTruncate = 4,
};
inline constexpr int kRealRoundingCount = 5;

}  // namespace rshift

#endif  // RSHIFT_BASE_ROUNDING_H_
