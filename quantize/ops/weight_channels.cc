#include "quantize/ops/weight_channels.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/qparams.h"
#include "quantize/numerics/quantize.h"

namespace rshift {
namespace {

constexpr auto kAccumulatorLimit = static_cast<double>(numerics::kInt32Limit);

int32_t QuantizeWeight(float w, float scale, bool inverts, int32_t least, int32_t most) {
  return inverts ? numerics::QuantizeValue(w * (1.0f / scale), 1.0f, 0, least, most)
                 : numerics::QuantizeValue(w, scale, 0, least, most);
}

void Report(QuantizeReport* report, const WeightRequest& r, int64_t channel,
            const std::string& reason, float before, float after) {
  report->repairs.push_back({r.node, channel, reason, before, after});
}

}  // namespace

double LimitOf(const WeightRequest& r) {
  return r.x.is_s16() ? static_cast<double>(numerics::kInt16AccumulatorLimit) : kAccumulatorLimit;
}

double MostOf(const WeightRequest& r, double bias, double magnitudes) {
  if (!r.x.is_s16()) return numerics::LargestAccumulator(bias, magnitudes);
  if (std::fabs(bias) > kAccumulatorLimit) return std::numeric_limits<double>::infinity();
  return std::fabs(bias) + static_cast<double>(numerics::kInt16Magnitude) * magnitudes;
}

double BiasOf(const WeightRequest& r, int64_t channel) {
  if (r.bias.empty()) return 0.0;
  const auto bias = static_cast<double>(r.bias[channel]);
  RSHIFT_REQUIRE(std::isfinite(bias), ErrorCode::kInvalidInput, r.node,
                 ": the bias of output channel ", channel, " is ", bias,
                 ", expected a finite number; repair the model");
  return bias;
}

double IntegerBias(const WeightRequest& r, float scale, double bias) {
  const double unit = static_cast<double>(r.x.quant.scale) * static_cast<double>(scale);
  return numerics::RoundHalfEven(bias / unit);
}

WeightChannel QuantizeChannel(const WeightRequest& r, int64_t channel, float scale, double bias,
                              bool zero) {
  const int32_t most = numerics::LargestWeight(r.weight_bits);
  const int32_t least = r.scales_w.empty() ? -most : -128;
  WeightChannel result;
  double sum = 0, magnitudes = 0;
  for (int64_t k = 0; k < r.k; ++k) {
    const float w = r.weights[channel * r.channel_stride + k * r.k_stride];
    const int32_t q =
        zero ? 0 : QuantizeWeight(w, scale, r.arithmetic->InvertsWeightScales(), least, most);
    result.weights.push_back(static_cast<int8_t>(q));
    sum += q;
    magnitudes += std::abs(q);
  }
  result.bias = IntegerBias(r, scale, bias) - static_cast<double>(r.x.ZeroOf(channel)) * sum;
  result.magnitude = MostOf(r, result.bias, magnitudes);
  return result;
}

LinearLayer LayerOf(const WeightRequest& r, bool per_channel) {
  return {.kind = r.kind,
          .depth_multiplier = r.depth_multiplier,
          .has_bias = !r.bias.empty(),
          .per_channel = per_channel,
          .x = r.x,
          .y = r.y,
          .clamp = r.clamp,
          .post_ops = r.post_ops,
          .channels = r.channels,
          .multiplier_bits = r.multiplier_bits,
          .ascend = r.ascend};
}

ChannelRequant RecordOf(const WeightRequest& r, int64_t channel, const WeightChannel& quantized,
                        LinearLayer layer, float scale, double bias, QuantizeReport* report) {
  layer.channel = channel;
  const RequantWords m = r.arithmetic->Words(layer, scale, static_cast<float>(bias));
  if (m.multiplier == 0 && quantized.magnitude > 0) {
    Report(report, r, channel, "the scale is below 2^-32: every accumulator rounds to 0", scale,
           scale);
  }
  return {static_cast<int32_t>(quantized.bias), m.multiplier, m.rshift};
}

RequantWords NegativeWords(const WeightRequest& r, int64_t channel, LinearLayer layer,
                           float scale) {
  const float slope = r.slopes[r.slopes.size() == 1 ? 0 : channel];
  if (slope == 0) return {};
  layer.channel = channel;
  layer.slope = static_cast<double>(slope);
  return r.arithmetic->Words(layer, scale, 0);
}

void ReportRaisedScale(const WeightRequest& r, int64_t channel, float before, float after,
                       QuantizeReport* report) {
  Report(report, r, channel, "bias or accumulator would not fit int32: weight scale raised", before,
         after);
}

}  // namespace rshift
