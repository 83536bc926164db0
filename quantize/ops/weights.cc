#include "quantize/ops/weights.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/error.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/qparams.h"
#include "quantize/ops/taken_weights.h"
#include "quantize/ops/weight_channels.h"

namespace rshift {
namespace {

float LargestMagnitude(const WeightRequest& r, int64_t channel) {
  float largest = 0;
  for (int64_t k = 0; k < r.k; ++k) {
    const float w = r.weights[channel * r.channel_stride + k * r.k_stride];
    RSHIFT_REQUIRE(std::isfinite(w), ErrorCode::kInvalidInput, r.node,
                   ": a weight of output channel ", channel, " is ", w,
                   ", expected a finite number; repair the model");
    largest = std::max(largest, std::fabs(w));
  }
  return largest;
}

// A channel without weights holds its bias alone: the scale that makes it 2^30, or 2^20 where
// binary32 is to hold accumulators, keeps it precise.
float ScaleOfZeroChannel(const WeightRequest& r, double bias) {
  const double integer = r.multiplier_bits < 32 ? 1048576.0 : 1073741824.0;
  const double scale = std::fabs(bias) / static_cast<double>(r.x.quant.scale) / integer;
  if (!(scale <= static_cast<double>(FLT_MAX))) return FLT_MAX;
  return numerics::ScaleOrOne(scale);
}

// MKL-DNN's attributes: the scales are the words themselves, the operations come last.
void TakeOneDnn(const WeightRequest& r, QuantizedWeights* result) {
  const std::vector<float>& scales = r.onednn.output_scales;
  for (size_t c = 0; c < result->linear.channels.size() && !scales.empty(); ++c) {
    const float scale = scales[scales.size() == 1 ? 0 : c];
    result->linear.channels[c].multiplier = numerics::FloatToWord(scale);
  }
  if (r.onednn.post_ops.empty()) return;
  if (r.y.dtype != DType::kF32) result->linear.clamp = {r.y.qmin(), r.y.qmax()};
  std::vector<PostOp>& all = result->linear.post_ops;
  if (r.post_ops.empty() && r.clamp.active()) {
    all.push_back({PostOpKind::kClip, r.clamp.lo, r.clamp.hi, 1});
  }
  all.insert(all.end(), r.onednn.post_ops.begin(), r.onednn.post_ops.end());
}

void CheckGivenScales(const WeightRequest& r) {
  const auto count = static_cast<int64_t>(r.scales_w.size());
  RSHIFT_REQUIRE(count <= 1 || count == r.channels, ErrorCode::kInvalidInput, r.node, ": ", count,
                 " weight scales are given, expected one, or one for each of ", r.channels,
                 " output channels");
}

// Of a channel, before any repair.
float WantedScale(const WeightRequest& r, int64_t channel, float largest, float overall, bool zero,
                  double bias) {
  if (!r.scales_w.empty()) return r.scales_w[r.scales_w.size() == 1 ? 0 : channel];
  if (zero) return ScaleOfZeroChannel(r, bias);
  return numerics::WeightScale(r.per_channel ? largest : overall, r.weight_bits);
}

void QuantizeFloats(const WeightRequest& r, QuantizeReport* report, QuantizedWeights* result) {
  CheckGivenScales(r);
  result->bits = r.weight_bits;
  const LinearLayer layer = LayerOf(r, r.per_channel);
  const LinearForm form = r.arithmetic->Linear(layer);
  static_cast<LinearEpilogue&>(result->linear) = form;
  std::vector<float> largest(r.channels);
  for (int64_t c = 0; c < r.channels; ++c) largest[c] = LargestMagnitude(r, c);
  const float overall = largest.empty() ? 0.0f : *std::max_element(largest.begin(), largest.end());
  for (int64_t c = 0; c < r.channels; ++c) {
    const double bias = BiasOf(r, c);
    const double folded = form.float_bias ? 0.0 : bias;
    const bool zero = r.scales_w.empty() && (largest[c] == 0 || r.x_is_zero);
    const float wanted = WantedScale(r, c, largest[c], overall, zero, bias);
    float scale = wanted;
    WeightChannel quantized = QuantizeChannel(r, c, scale, folded, zero);
    while (quantized.magnitude > LimitOf(r)) {
      RSHIFT_REQUIRE(scale <= FLT_MAX / 2 && r.scales_w.empty(), ErrorCode::kInvalidInput, r.node,
                     ": the accumulator of output channel ", c, " does not fit int32 with ",
                     r.scales_w.empty() ? "any weight scale; check the ranges of its input"
                                        : "the weight scale that is given; raise it");
      scale *= 2;
      quantized = QuantizeChannel(r, c, scale, folded, zero);
    }
    if (scale != wanted) {
      ReportRaisedScale(r, c, wanted, scale, report);
    }
    for (int64_t k = 0; k < r.k; ++k) {
      result->weights[c * r.channel_stride + k * r.k_stride] = quantized.weights[k];
    }
    result->scales.push_back(scale);
    result->linear.channels.push_back(RecordOf(r, c, quantized, layer, scale, bias, report));
    if (!r.slopes.empty()) result->linear.negative.push_back(NegativeWords(r, c, layer, scale));
  }
  r.arithmetic->Complete(layer, &result->linear);
  TakeOneDnn(r, result);
}

}  // namespace

QuantizedWeights QuantizeWeights(const WeightRequest& r, QuantizeReport* report) {
  RSHIFT_REQUIRE(r.bias.empty() || static_cast<int64_t>(r.bias.size()) == r.channels,
                 ErrorCode::kInvalidInput, r.node, ": the bias has ", r.bias.size(),
                 " elements, expected one for each of ", r.channels,
                 " output channels; repair the model");
  QuantizedWeights result;
  result.weights.resize(r.weights.size());
  if (r.weights_origin != nullptr) {
    TakeModelWeights(r, report, &result);
  } else {
    QuantizeFloats(r, report, &result);
  }
  return result;
}

}  // namespace rshift
