#include "quantize/ops/weights.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/qparams.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/table.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

constexpr auto kAccumulatorLimit = static_cast<double>(numerics::kInt32Limit);

// How large an accumulator may get, and how large it gets. Of 16-bit inputs: NUMERICS.md section
// 29; the bias fits int32 all the same.
double LimitOf(const WeightRequest& r) {
  return r.x.is_s16() ? static_cast<double>(numerics::kInt16AccumulatorLimit) : kAccumulatorLimit;
}
double MostOf(const WeightRequest& r, double bias, double magnitudes) {
  if (!r.x.is_s16()) return numerics::LargestAccumulator(bias, magnitudes);
  if (std::fabs(bias) > kAccumulatorLimit) return std::numeric_limits<double>::infinity();
  return std::fabs(bias) + static_cast<double>(numerics::kInt16Magnitude) * magnitudes;
}
// Of results that stay f32: nothing divides them.
IntType RealResult() { return {DType::kF32, {1.0f, 0}, {}, {}}; }

struct Channel {
  std::vector<int8_t> weights;
  double bias = 0;       // round(B / (Sx Sw)) - Zx sum(q): an integer, perhaps too large for int32
  double magnitude = 0;  // of the accumulator
};

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

double Bias(const WeightRequest& r, int64_t channel) {
  if (r.bias.empty()) return 0.0;
  const auto bias = static_cast<double>(r.bias[channel]);
  RSHIFT_REQUIRE(std::isfinite(bias), ErrorCode::kInvalidInput, r.node,
                 ": the bias of output channel ", channel, " is ", bias,
                 ", expected a finite number; repair the model");
  return bias;
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

double IntegerBias(const WeightRequest& r, float scale, double bias) {
  const double unit = static_cast<double>(r.x.quant.scale) * static_cast<double>(scale);
  return numerics::RoundHalfEven(bias / unit);
}

int32_t QuantizeWeight(float w, float scale, bool inverts, int32_t least, int32_t most) {
  return inverts ? numerics::QuantizeValue(w * (1.0f / scale), 1.0f, 0, least, most)
                 : numerics::QuantizeValue(w, scale, 0, least, most);
}

Channel QuantizeChannel(const WeightRequest& r, int64_t channel, float scale, double bias,
                        bool zero) {
  const int32_t most = numerics::LargestWeight(r.weight_bits);
  const int32_t least = r.scales_w.empty() ? -most : -128;
  Channel result;
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

// A channel without weights holds its bias alone: the scale that makes it 2^30, or 2^20 where
// binary32 is to hold accumulators, keeps it precise.
float ScaleOfZeroChannel(const WeightRequest& r, double bias) {
  const double integer = r.multiplier_bits < 32 ? 1048576.0 : 1073741824.0;
  const double scale = std::fabs(bias) / static_cast<double>(r.x.quant.scale) / integer;
  if (!(scale <= static_cast<double>(FLT_MAX))) return FLT_MAX;
  return numerics::ScaleOrOne(scale);
}

constexpr const char* kScaleRaised = "bias or accumulator would not fit int32: weight scale raised";

void Report(QuantizeReport* report, const WeightRequest& r, int64_t channel,
            const std::string& reason, float before, float after) {
  report->repairs.push_back({r.node, channel, reason, before, after});
}

ChannelRequant Record(const WeightRequest& r, int64_t channel, const Channel& quantized,
                      LinearLayer layer, float scale, double bias, QuantizeReport* report) {
  layer.channel = channel;
  const RequantWords m = r.arithmetic->Words(layer, scale, static_cast<float>(bias));
  if (m.multiplier == 0 && quantized.magnitude > 0) {
    Report(report, r, channel, "the scale is below 2^-32: every accumulator rounds to 0", scale,
           scale);
  }
  return {static_cast<int32_t>(quantized.bias), m.multiplier, m.rshift};
}

// The words of accumulators below 0.
RequantWords NegativeWords(const WeightRequest& r, int64_t channel, LinearLayer layer,
                           float scale) {
  const float slope = r.slopes[r.slopes.size() == 1 ? 0 : channel];
  if (slope == 0) return {};
  layer.channel = channel;
  layer.slope = static_cast<double>(slope);
  return r.arithmetic->Words(layer, scale, 0);
}

// --- the integers of a QDQ model ---

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
    return IntegerBias(r, scale, Bias(r, channel));
  }
  const double q = static_cast<double>(origin->integers->As<int32_t>()[channel]) -
                   static_cast<double>(ZeroAt(*origin, channel));
  const double unit = static_cast<double>(r.x.quant.scale) * static_cast<double>(scale);
  const auto own = static_cast<double>(ScaleAt(*origin, channel));
  if (std::fabs(own - unit) <= unit * 0x1p-16) return q;
  return numerics::RoundHalfEven(q * own / unit);
}

// A channel as the origin has it: its integers less the zero point of s8.
Channel TakenChannel(const WeightRequest& r, int64_t channel, int32_t shift, bool float_bias) {
  const QuantizedOrigin& origin = *r.weights_origin;
  const int32_t zero = ZeroAt(origin, channel) - shift;
  Channel taken;
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
Channel Repaired(const WeightRequest& r, int64_t channel, Channel taken, bool float_bias,
                 float* scale) {
  while (taken.magnitude > LimitOf(r)) {
    RSHIFT_REQUIRE(r.scaled_here && *scale <= FLT_MAX / 2, ErrorCode::kInvalidInput, r.node,
                   ": the accumulator of output channel ", channel, " may reach ",
                   WholeText(taken.magnitude), ", expected at most ", WholeText(LimitOf(r)),
                   "; its integers come from the model: quantize it with a larger "
                   "weight scale");
    *scale *= 2;
    taken = QuantizeChannel(r, channel, *scale, float_bias ? 0.0 : Bias(r, channel), false);
  }
  return taken;
}

void TakeIntegers(const WeightRequest& r, QuantizeReport* report, QuantizedWeights* result) {
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
    const Channel channel =
        Repaired(r, c, TakenChannel(r, c, shift, form.float_bias), form.float_bias, &scale);
    if (scale != given) Report(report, r, c, kScaleRaised, given, scale);
    for (int64_t k = 0; k < r.k; ++k)
      result->weights[c * r.channel_stride + k * r.k_stride] = channel.weights[k];
    const int32_t zero = scale == given ? ZeroAt(origin, c) - shift : 0;
    result->linear.zero_w.push_back(zero);
    any_zero = any_zero || zero != 0;
    result->scales.push_back(scale);
    result->linear.channels.push_back(Record(r, c, channel, layer, scale, Bias(r, c), report));
    if (!r.slopes.empty()) result->linear.negative.push_back(NegativeWords(r, c, layer, scale));
  }
  if (!any_zero) result->linear.zero_w.clear();
  r.arithmetic->Complete(layer, &result->linear);
}

// --- the floats of any other ---

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
    const double bias = Bias(r, c);
    const double folded = form.float_bias ? 0.0 : bias;
    const bool zero = r.scales_w.empty() && (largest[c] == 0 || r.x_is_zero);
    const float wanted = WantedScale(r, c, largest[c], overall, zero, bias);
    float scale = wanted;
    Channel quantized = QuantizeChannel(r, c, scale, folded, zero);
    while (quantized.magnitude > LimitOf(r)) {
      RSHIFT_REQUIRE(scale <= FLT_MAX / 2 && r.scales_w.empty(), ErrorCode::kInvalidInput, r.node,
                     ": the accumulator of output channel ", c, " does not fit int32 with ",
                     r.scales_w.empty() ? "any weight scale; check the ranges of its input"
                                        : "the weight scale that is given; raise it");
      scale *= 2;
      quantized = QuantizeChannel(r, c, scale, folded, zero);
    }
    if (scale != wanted) {
      Report(report, r, c, kScaleRaised, wanted, scale);
    }
    for (int64_t k = 0; k < r.k; ++k) {
      result->weights[c * r.channel_stride + k * r.k_stride] = quantized.weights[k];
    }
    result->scales.push_back(scale);
    result->linear.channels.push_back(Record(r, c, quantized, layer, scale, bias, report));
    if (!r.slopes.empty()) result->linear.negative.push_back(NegativeWords(r, c, layer, scale));
  }
  r.arithmetic->Complete(layer, &result->linear);
  TakeOneDnn(r, result);
}

// The weight scales that MKL-DNN's output scales o stand for: S_w = o S_y / S_x, or o / S_x where
// operations of the configuration follow, whose own scales divide by S_y.
void TakeOutputScales(const OneDnnConfig& given, WeightRequest* request) {
  RSHIFT_REQUIRE(given.post_ops.empty() || !given.output_scales.empty(), ErrorCode::kInvalidInput,
                 request->node,
                 ": onednn: post_ops without output_scales: they see what those give; add "
                 "output_scales");
  request->onednn = given;
  const bool real = !given.post_ops.empty() || request->y.dtype == DType::kF32;
  const double unit = real ? 1.0 : static_cast<double>(request->y.quant.scale);
  for (const float scale : given.output_scales) {
    request->scales_w.push_back(static_cast<float>(static_cast<double>(scale) * unit /
                                                   static_cast<double>(request->x.quant.scale)));
  }
}

// The configuration's weight_bits, where the weights can have them.
int WeightBitsOf(const Emitter& emitter, const WeightRequest& request, const LayerConfig& layer) {
  const int bits = layer.weight_bits.value_or(8);
  const bool given = !layer.onednn.output_scales.empty() || emitter.rules().HalfResults();
  const bool integers = request.weights_origin != nullptr && request.weights_origin->bits != bits;
  RSHIFT_REQUIRE(
      bits == 8 || !(given || integers), ErrorCode::kInvalidInput,
      EntryPlace(emitter.options().config, layer), ": '", request.node, "': weight_bits ", bits,
      " is for weights whose scales are chosen here; these are given (",
      integers ? "--scales, or the model" : "onednn or ascend attributes", "): leave it out");
  return bits;
}

}  // namespace

WeightRequest RequestOf(Emitter& emitter, const Node& node) {
  const Value& w = emitter.old().value(node.inputs[1]);
  WeightRequest request;
  request.node = node.name;
  request.weights = w.constant->As<float>();
  request.weights_origin = w.origin.get();
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const Value& bias = emitter.old().value(node.inputs[2]);
    request.bias = bias.constant->As<float>();
    request.bias_origin = bias.origin.get();
  }
  request.x = emitter.Type(node.inputs[0]);
  const FusedPostOps fused = emitter.PostOps(node);
  request.y = fused.real ? RealResult() : emitter.Type(fused.y);
  request.post_ops = fused.ops;
  request.slopes = fused.slopes;
  request.x_is_zero = emitter.IsZero(node.inputs[0]);
  request.per_channel =
      emitter.Layer(node).per_channel.value_or(emitter.options().target.per_channel_weights);
  request.weight_bits = WeightBitsOf(emitter, request, emitter.Layer(node));
  // A model that brings its integers is compared with others to the last bit; weights that got
  // theirs from another tool's scales are the target's like all others.
  request.scaled_here = emitter.options().scaled_weights;
  if (request.weights_origin == nullptr || request.scaled_here)
    request.multiplier_bits = emitter.conv_multiplier_bits();
  const Arithmetic& rules = emitter.rules();
  const bool post_ops = (fused.real && !rules.HalfResults()) || !fused.ops.empty();
  request.arithmetic = post_ops && !rules.HasPostOps() ? &OneDnnArithmetic() : &rules;
  if (request.weights_origin == nullptr) {
    TakeOutputScales(emitter.Layer(node).onednn, &request);
    if (!request.onednn.empty()) request.arithmetic = &OneDnnArithmetic();  // their formula's
  }
  if (rules.HalfResults()) {
    const AscendConfig given = emitter.Layer(node).ascend;
    request.scales_w = given.scale_w;
    request.ascend = given.Dequant();
  }
  return request;
}

namespace {

// An fp16 result. relu is the operator's own; whatever else the clamp does is a Clip behind it.
void AddHalfNode(Emitter& emitter, const Node& node, Op op, std::vector<ValueId> inputs, ValueId y,
                 const Clamp& clamp) {
  constexpr float kOpen = std::numeric_limits<float>::infinity();
  if (clamp.hi == kOpen && (clamp.lo == 0 || clamp.lo == -kOpen)) {
    emitter.AddNode(node.name, std::move(op), std::move(inputs), emitter.DefineHalf(y));
    return;
  }
  const ValueId raw = emitter.TemporaryHalf(y, "__unclipped");
  emitter.AddNode(node.name, std::move(op), std::move(inputs), raw);
  emitter.AddHalfResult(node.name + "__clip", Clip{clamp},
                        {emitter.FloatOfHalf(raw, node.name + "__unclipped_f32")}, y);
}

}  // namespace

void AddLinearNode(Emitter& emitter, const Node& node, Op op, ValueId x, ValueId weights,
                   const Clamp& clamp) {
  const FusedPostOps fused = emitter.PostOps(node);
  if (fused.real && emitter.rules().HalfResults()) {
    return AddHalfNode(emitter, node, std::move(op), {x, weights}, fused.y, clamp);
  }
  std::vector<ValueId> inputs = {x, weights};
  if (fused.addend.valid()) inputs.push_back(emitter.Int(fused.addend));
  const ValueId y = fused.real ? emitter.DefineFloat(fused.y) : emitter.DefineInt(fused.y);
  emitter.AddNode(node.name, std::move(op), std::move(inputs), y);
}

void RequireOneFactor(const Node& node, const QLinear& linear) {
  RSHIFT_REQUIRE(linear.negative.empty(), ErrorCode::kInternal, node.name,
                 ": words below 0 behind a 16-bit input; this is a bug in Rshift");
}

QuantizedWeights QuantizeWeights(const WeightRequest& r, QuantizeReport* report) {
  RSHIFT_REQUIRE(r.bias.empty() || static_cast<int64_t>(r.bias.size()) == r.channels,
                 ErrorCode::kInvalidInput, r.node, ": the bias has ", r.bias.size(),
                 " elements, expected one for each of ", r.channels,
                 " output channels; repair the model");
  QuantizedWeights result;
  result.weights.resize(r.weights.size());
  if (r.weights_origin != nullptr) {
    TakeIntegers(r, report, &result);
  } else {
    QuantizeFloats(r, report, &result);
  }
  return result;
}

}  // namespace rshift
