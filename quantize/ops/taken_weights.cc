#include "quantize/ops/taken_weights.h"

#include <cfloat>
#include <cmath>
#include <string>

#include "base/error.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/table.h"
#include "quantize/ops/weight_channels.h"

namespace rshift {
namespace {

float ScaleAt(const QuantizedOrigin& origin, int64_t channel) {
  return origin.scales.size() == 1 ? origin.scales[0] : origin.scales[channel];
}

int32_t ZeroAt(const QuantizedOrigin& origin, int64_t channel) {
  if (origin.zero_points.empty()) return 0;
  return origin.zero_points.size() == 1 ? origin.zero_points[0] : origin.zero_points[channel];
}

void CheckOrigin(const WeightRequest& r) {
  const QuantizedOrigin& w = *r.weights_origin;
  RSHIFT_REQUIRE(w.dtype == DType::kS8 || w.dtype == DType::kU8, ErrorCode::kUnsupported, r.node,
                 ": its quantized weights are ", Name(w.dtype), ", expected s8 or u8");
  const auto count = static_cast<int64_t>(w.scales.size());
  RSHIFT_REQUIRE(count == 1 || (w.axis == r.channel_axis && count == r.channels),
                 ErrorCode::kUnsupported, r.node, ": its weights have ", count,
                 " scales along axis ", w.axis, ", expected one, or one for each of ", r.channels,
                 " output channels along axis ", r.channel_axis);
  for (float scale : w.scales) {
    RSHIFT_REQUIRE(scale > 0 && std::isfinite(scale), ErrorCode::kInvalidInput, r.node,
                   ": a weight scale is ", scale,
                   ", expected a positive finite number; repair the model");
  }
}

// The bias in units of S_x S_w, before folding.
double TakenBias(const WeightRequest& r, int64_t channel, float scale) {
  if (r.bias.empty()) return 0.0;
  const QuantizedOrigin* origin = r.bias_origin;
  if (origin != nullptr && origin->dtype == DType::kS64)  // counts in units of S_x S_w as it is
    return static_cast<double>(origin->integers->As<int64_t>()[channel]);
  if (origin == nullptr || origin->dtype != DType::kS32) {
    return IntegerBias(r, scale, BiasOf(r, channel));
  }
  const double q = static_cast<double>(origin->integers->As<int32_t>()[channel]) -
                   static_cast<double>(ZeroAt(*origin, channel));
  const double unit = static_cast<double>(r.x.quant.scale) * static_cast<double>(scale);
  const auto own = static_cast<double>(ScaleAt(*origin, channel));
  if (std::fabs(own - unit) <= unit * 0x1p-16) return q;
  return numerics::RoundHalfEven(q * own / unit);
}

// A channel as the origin has it: its integers less the zero point of s8.
WeightChannel TakenChannel(const WeightRequest& r, int64_t channel, int32_t shift,
                           bool float_bias) {
  const QuantizedOrigin& origin = *r.weights_origin;
  const int32_t zero = ZeroAt(origin, channel) - shift;
  WeightChannel taken;
  double sum = 0, magnitudes = 0;
  for (int64_t k = 0; k < r.k; ++k) {
    const int64_t at = channel * r.channel_stride + k * r.k_stride;
    const int32_t q =
        numerics::ValueOfByte(origin.integers->bytes[at], origin.dtype == DType::kS8) - shift;
    taken.weights.push_back(static_cast<int8_t>(q));
    sum += q - zero;
    magnitudes += std::abs(q - zero);
  }
  const double bias = float_bias ? 0.0 : TakenBias(r, channel, ScaleAt(origin, channel));
  taken.bias = bias - static_cast<double>(r.x.ZeroOf(channel)) * sum;
  taken.magnitude = MostOf(r, taken.bias, magnitudes);
  return taken;
}

// Whole numbers with all of their digits, upwards: nine would make a bound and its limit alike.
std::string WholeText(double number) {
  constexpr double kMostExact = 0x1p53;
  if (!(std::fabs(number) < kMostExact)) return Cat(number);
  return Cat(static_cast<int64_t>(std::ceil(number)));
}

// The floats of a channel whose integers break the bound, at a larger scale.
WeightChannel Repaired(const WeightRequest& r, int64_t channel, WeightChannel taken,
                       bool float_bias, float* scale) {
  while (taken.magnitude > LimitOf(r)) {
    RSHIFT_REQUIRE(r.scaled_here && *scale <= FLT_MAX / 2, ErrorCode::kInvalidInput, r.node,
                   ": the accumulator of output channel ", channel, " may reach ",
                   WholeText(taken.magnitude), ", expected at most ", WholeText(LimitOf(r)),
                   "; its integers come from the model: quantize it with a larger "
                   "weight scale");
    *scale *= 2;
    taken = QuantizeChannel(r, channel, *scale, float_bias ? 0.0 : BiasOf(r, channel), false);
  }
  return taken;
}

}  // namespace

void TakeModelWeights(const WeightRequest& r, QuantizeReport* report, QuantizedWeights* result) {
  CheckOrigin(r);
  const QuantizedOrigin& origin = *r.weights_origin;
  const int32_t shift = origin.dtype == DType::kS8 ? 0 : 1 << (origin.bits - 1);
  result->bits = origin.bits;
  const LinearLayer layer = LayerOf(r, origin.scales.size() > 1);
  const LinearForm form = r.arithmetic->Linear(layer);
  static_cast<LinearEpilogue&>(result->linear) = form;
  bool any_zero = false;
  for (int64_t c = 0; c < r.channels; ++c) {
    const float given = ScaleAt(origin, c);
    float scale = given;
    const WeightChannel channel =
        Repaired(r, c, TakenChannel(r, c, shift, form.float_bias), form.float_bias, &scale);
    if (scale != given) ReportRaisedScale(r, c, given, scale, report);
    for (int64_t k = 0; k < r.k; ++k)
      result->weights[c * r.channel_stride + k * r.k_stride] = channel.weights[k];
    const int32_t zero = scale == given ? ZeroAt(origin, c) - shift : 0;
    result->linear.zero_w.push_back(zero);
    any_zero = any_zero || zero != 0;
    result->scales.push_back(scale);
    result->linear.channels.push_back(RecordOf(r, c, channel, layer, scale, BiasOf(r, c), report));
    if (!r.slopes.empty()) result->linear.negative.push_back(NegativeWords(r, c, layer, scale));
  }
  if (!any_zero) result->linear.zero_w.clear();
  r.arithmetic->Complete(layer, &result->linear);
}

}  // namespace rshift
