#include "quantize/ops/weights.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/error.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/qparams.h"
#include "quantize/numerics/quantize.h"

namespace rshift {
namespace {

constexpr double kAccumulatorLimit = 2147483647.0;
// Kernels may shift s8 inputs to u8, so that 255 bounds |x| whatever its type.
constexpr double kLargestInput = 255.0;

struct Channel {
  std::vector<int8_t> weights;
  double bias = 0;       // round(B / (Sx Sw)) - Zx sum(q): an integer, perhaps too large for int32
  double magnitude = 0;  // |bias| + 255 sum|q|
};

float LargestMagnitude(const WeightRequest& r, int64_t channel) {
  float largest = 0;
  for (int64_t k = 0; k < r.k; ++k) {
    const float w = r.weights[channel * r.channel_stride + k * r.k_stride];
    Require(std::isfinite(w), ErrorCode::kInvalidInput, r.node, ": a weight of output channel ",
            channel, " is ", w, ", expected a finite number; repair the model");
    largest = std::max(largest, std::fabs(w));
  }
  return largest;
}

Channel QuantizeChannel(const WeightRequest& r, int64_t channel, float scale, double bias,
                        bool zero) {
  Channel result;
  double sum = 0, magnitudes = 0;
  for (int64_t k = 0; k < r.k; ++k) {
    const float w = r.weights[channel * r.channel_stride + k * r.k_stride];
    const int32_t q = zero ? 0 : numerics::QuantizeValue(w, scale, 0, -127, 127);
    result.weights.push_back(static_cast<int8_t>(q));
    sum += q;
    magnitudes += std::abs(q);
  }
  const double unit = static_cast<double>(r.x.quant.scale) * static_cast<double>(scale);
  result.bias =
      numerics::RoundHalfEven(bias / unit) - static_cast<double>(r.x.quant.zero_point) * sum;
  result.magnitude = std::fabs(result.bias) + kLargestInput * magnitudes;
  return result;
}

// A channel without weights holds its bias alone: the scale that makes it 2^24 to 2^31 keeps it
// precise.
float ScaleOfZeroChannel(const WeightRequest& r, double bias) {
  const double scale = std::fabs(bias) / static_cast<double>(r.x.quant.scale) / 1073741824.0;
  if (!(scale <= static_cast<double>(FLT_MAX))) return FLT_MAX;
  return numerics::ScaleOrOne(scale);
}

void Report(QuantizeReport* report, const WeightRequest& r, int64_t channel,
            const std::string& reason, float before, float after) {
  report->repairs.push_back({r.node, channel, reason, before, after});
}

ChannelRequant Record(const WeightRequest& r, int64_t channel, const Channel& quantized,
                      float scale, QuantizeReport* report) {
  const double factor = static_cast<double>(r.x.quant.scale) * static_cast<double>(scale) /
                        static_cast<double>(r.y.quant.scale);
  const numerics::Multiplier m = numerics::AccumulatorMultiplier(factor);
  if (m.multiplier == 0 && quantized.magnitude > 0) {
    Report(report, r, channel, "the scale is below 2^-32: every accumulator rounds to 0", scale,
           scale);
  }
  return {static_cast<int32_t>(quantized.bias), m.multiplier, m.rshift};
}

}  // namespace

QuantizedWeights QuantizeWeights(const WeightRequest& r, QuantizeReport* report) {
  Require(r.bias.empty() || static_cast<int64_t>(r.bias.size()) == r.channels,
          ErrorCode::kInvalidInput, r.node, ": the bias has ", r.bias.size(),
          " elements, expected one for each of ", r.channels, " output channels; repair the model");
  QuantizedWeights result;
  result.weights.resize(r.weights.size());
  std::vector<float> largest(r.channels);
  for (int64_t c = 0; c < r.channels; ++c) largest[c] = LargestMagnitude(r, c);
  const float overall = largest.empty() ? 0.0f : *std::max_element(largest.begin(), largest.end());
  for (int64_t c = 0; c < r.channels; ++c) {
    const double bias = r.bias.empty() ? 0.0 : static_cast<double>(r.bias[c]);
    Require(std::isfinite(bias), ErrorCode::kInvalidInput, r.node, ": the bias of output channel ",
            c, " is ", bias, ", expected a finite number; repair the model");
    const bool zero = largest[c] == 0 || r.x_is_zero;
    const float wanted = zero ? ScaleOfZeroChannel(r, bias)
                              : numerics::WeightScale(r.per_channel ? largest[c] : overall);
    float scale = wanted;
    Channel quantized = QuantizeChannel(r, c, scale, bias, zero);
    while (quantized.magnitude > kAccumulatorLimit) {
      Require(scale <= FLT_MAX / 2, ErrorCode::kInvalidInput, r.node,
              ": the accumulator of output channel ", c,
              " does not fit int32 with any weight scale; check the ranges of its input");
      scale *= 2;
      quantized = QuantizeChannel(r, c, scale, bias, zero);
    }
    if (scale != wanted) {
      Report(report, r, c, "bias or accumulator would not fit int32: weight scale raised", wanted,
             scale);
    }
    for (int64_t k = 0; k < r.k; ++k) {
      result.weights[c * r.channel_stride + k * r.k_stride] = quantized.weights[k];
    }
    result.channels.push_back(Record(r, c, quantized, scale, report));
  }
  return result;
}

}  // namespace rshift
