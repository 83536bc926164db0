#include "calibrate/quantizer.h"

#include <algorithm>

#include "quantize/numerics/qparams.h"

namespace rshift {

Quantizer SymmetricQuantizer(const TensorRange& range) {
  const bool is_signed = range.min < 0;
  const double scale = numerics::SymmetricParams(range.threshold, is_signed).scale;
  const double low = is_signed ? -static_cast<double>(range.threshold) : 0.0;
  if (is_signed) return {scale, -128, 127, low, range.threshold};
  return {scale, 0, 255, low, range.threshold};
}

Quantizer AsymmetricQuantizer(const TensorRange& range) {
  const QuantParams params = numerics::AsymmetricParams(range.low, range.high);
  const double zero = params.zero_point;
  return {params.scale, -128 - zero, 127 - zero, std::min(range.low, 0.0f),
          std::max(range.high, 0.0f)};
}

}  // namespace rshift
