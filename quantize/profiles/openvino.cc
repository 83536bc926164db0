// openvino: oneDNN as OpenVINO's CPU plugin calls it. Weight scales and the bias come first, then
// what a Quantize does: a factor and an offset from the ends of its range. NUMERICS.md section 24.
#include <algorithm>
#include <cmath>
#include <utility>

#include "quantize/numerics/float_scale.h"
#include "quantize/profiles/onednn.h"

namespace rshift {
namespace {

// What a Quantize makes of its input: x * scale + shift is rounded, in levels of y's type.
struct QuantizeRange {
  float scale = 1, shift = 0;
};

struct Ends {
  float low = 0, high = 0;
};

// Of y's bytes: the model's own where they are known.
Ends EndsOf(const IntType& y, size_t channel = 0) {
  if (y.ranges != nullptr) return {y.ranges->low[channel], y.ranges->high[channel]};
  const auto end = [&](int32_t q) {
    const double steps = q - y.quant.zero_point;
    return static_cast<float>(steps * static_cast<double>(y.quant.scale));
  };
  return {end(y.qmin()), end(y.qmax())};
}

// For kernels other than oneDNN's; `unit`: what x counts in. Levels count from 0.
QuantizeRange RangeOf(const IntType& y, float unit) {
  const Ends ends = EndsOf(y);
  const float low = ends.low / unit, high = ends.high / unit;
  const float scale = 255.0f / (high - low);
  return {scale, -low * scale};
}

// For oneDNN's post-operations. A shift that is next to nothing is none.
QuantizeRange PostRangeOf(const IntType& y, float unit, size_t channel) {
  const Ends ends = EndsOf(y, channel);
  const float low = ends.low / unit, high = ends.high / unit;
  float shift = -low * 255.0f / (high - low);
  if (y.dtype == DType::kS8) shift += -128.0f;
  if (std::fabs(shift) < 255 * 0.00001f) shift = 0;
  return {255.0f / (high - low), shift};
}

bool IsPerChannel(const IntType& y) { return y.ranges != nullptr && y.ranges->low.size() > 1; }

PostOp LinearOf(float alpha, float beta) { return {PostOpKind::kLinear, alpha, beta, 1}; }

// Values in units of `unit` to levels of y, less its zero point, which comes last.
void AddQuantize(const IntType& y, float unit, std::vector<PostOp>* ops) {
  if (IsPerChannel(y)) {
    const size_t channels = y.ranges->low.size();
    PostOp scales{PostOpKind::kChannelLinear, 0, 0, 1}, shifts = scales;
    scales.betas.assign(channels, 0.0f);
    shifts.alphas.assign(channels, 1.0f);
    for (size_t c = 0; c < channels; ++c) {
      const QuantizeRange range = PostRangeOf(y, unit, c);
      scales.alphas.push_back(range.scale);
      shifts.betas.push_back(range.shift);
    }
    ops->push_back(std::move(scales));
    // Shifts that differ by rounding errors alone are the first one.
    const float first = shifts.betas[0];
    const bool same = std::all_of(shifts.betas.begin(), shifts.betas.end(),
                                  [&](float s) { return std::fabs(s - first) < 0.00005f; });
    if (!same) {
      ops->push_back(std::move(shifts));
    } else if (first != 0) {
      ops->push_back(LinearOf(1, first));
    }
  } else {
    const QuantizeRange range = PostRangeOf(y, unit, 0);
    // Without a shift the factor is oneDNN's destination scale, which divides.
    const float scale = range.shift == 0 ? 1 / (1 / range.scale) : range.scale;
    ops->push_back(LinearOf(scale, range.shift));
  }
  if (y.quant.zero_point == 0) return;
  ops->push_back({PostOpKind::kRound, 0, 0, 1});
  ops->push_back(LinearOf(1, -static_cast<float>(y.quant.zero_point)));
}

// The zero point before it was rounded, which the transformations of additions see.
float RealZero(const Ends& ends) { return -255.0f * ends.low / (ends.high - ends.low); }

float RealZero(const IntType& type) {
  if (type.ranges == nullptr || type.quant.zero_point == 0)
    return static_cast<float>(type.quant.zero_point);
  return RealZero(EndsOf(type));
}

// A range of 256 levels whose ends are as 128 to 127 needs no zero point in signed bytes.
bool IsSymmetric(const Ends& ends) {
  constexpr float kExpected = -256.0f / 254.0f, kThreshold = 0.002f;
  if (!(ends.low < 0) || !(ends.high > 0)) return false;
  const float ratio = ends.low / ends.high;
  return std::fabs((ratio - kExpected) / std::min(ratio, kExpected)) <= kThreshold;
}

// f + S_b (q_b - Z_b), `sum` saying S_b and Z_b, where a FakeQuantize that does not round is before
// it: the low precision transformations bring f into units of S_b, and the offset -Z_b with it.
void AddResidual(const RealPostOp& sum, std::vector<PostOp>* ops) {
  const Ends ends{sum.before->low[0], sum.before->high[0]};
  const float width = ends.high - ends.low;
  const float scale_a = width / 255.0f, scale_b = sum.addend.quant.scale;
  const bool symmetric = IsSymmetric(ends);
  const float zero_a = symmetric ? 0 : RealZero(ends);
  const float zero = zero_a + RealZero(sum.addend) * scale_b / scale_a;
  const float ratio = scale_a / scale_b;
  const float bottom = ((symmetric ? -128.0f : 0.0f) - zero) * ratio;  // of the lowest level
  const float step = (((symmetric ? 127.0f : 255.0f) - zero) * ratio - bottom) / 255.0f;
  const float shift = -ends.low * 255.0f / width * step + bottom, top = 255.0f * step + bottom;
  const bool none = std::fabs(shift) < (top - bottom) * 0.00001f;
  ops->push_back(LinearOf(255.0f / width * step, none ? 0 : shift));
  ops->push_back({PostOpKind::kClip, bottom, top, 1});
  ops->push_back({PostOpKind::kSum, 0, 0, 1});
}

// The bounds of the FakeQuantize before a sum: AddResidual() has them.
Clamp Without(Clamp clamp, const LevelRanges& ranges) {
  const float near = (ranges.high[0] - ranges.low[0]) * 1e-5f;
  if (clamp.lo <= ranges.low[0] + near) clamp.lo = Clamp{}.lo;
  if (clamp.hi >= ranges.high[0] - near) clamp.hi = Clamp{}.hi;
  return clamp;
}

PostOp RealOp(const RealPostOp& op) {
  PostOp made{op.kind, op.alpha, op.beta, op.scale};
  if (op.kind == PostOpKind::kSum) made.scale = op.addend.quant.scale * op.scale;
  made.alphas = op.alphas;
  made.betas = op.betas;
  return made;
}

void AddClip(const Clamp& clamp, std::vector<PostOp>* ops) {
  if (clamp.active()) ops->push_back({PostOpKind::kClip, clamp.lo, clamp.hi, 1});
}

// Whether bytes of y saturate where the clamp ends, or before.
bool Saturates(const Clamp& clamp, const IntType& y) {
  if (y.dtype == DType::kF32) return false;
  const size_t channels = y.ranges == nullptr ? 1 : y.ranges->low.size();
  for (size_t c = 0; c < channels; ++c) {
    const Ends ends = EndsOf(y, c);
    if (clamp.lo > ends.low || clamp.hi < ends.high) return false;
  }
  return true;
}

// Everything between the bias and the Quantize; returns what the result counts in.
float AddOperations(const LinearLayer& layer, std::vector<PostOp>* ops) {
  const auto& behind = layer.post_ops;
  const auto sum = std::find_if(behind.begin(), behind.end(), [](const RealPostOp& op) {
    return op.kind == PostOpKind::kSum && op.before != nullptr;
  });
  // What follows it must not care for units.
  const bool moves =
      sum != behind.end() && std::all_of(sum + 1, behind.end(), [](const auto& op) {
        return op.kind == PostOpKind::kRelu || op.kind == PostOpKind::kChannelRelu ||
               op.kind == PostOpKind::kLinear ||
               (op.kind == PostOpKind::kClip && op.alpha == 0 && !std::isfinite(op.beta));
      });
  if (behind.empty() && Saturates(layer.clamp, layer.y)) return 1;
  AddClip(moves && sum == behind.begin() ? Without(layer.clamp, *sum->before) : layer.clamp, ops);
  for (auto op = behind.begin(); op != behind.end(); ++op) {
    if (!moves) {
      ops->push_back(RealOp(*op));
    } else if (op == sum) {
      AddResidual(*op, ops);
    } else if (op + 1 == sum && op->kind == PostOpKind::kClip) {
      AddClip(Without({op->alpha, op->beta}, *sum->before), ops);
    } else if (op < sum || op->kind != PostOpKind::kLinear) {  // behind: the offset, in AddResidual
      ops->push_back(RealOp(*op));
    }
  }
  return moves ? sum->addend.quant.scale : 1.0f;
}

class OpenVino final : public OneDnn {
 public:
  bool HasMean() const override { return true; }
  bool ReadsRanges() const override { return true; }

  // Transposed convolutions are OneDnn's.
  static bool IsPlain(const LinearLayer& layer) { return layer.kind == LinearKind::kTransposed; }

  LinearForm Linear(const LinearLayer& layer) const override {
    if (IsPlain(layer)) return OneDnn::Linear(layer);
    LinearForm form;
    form.rounding = Rounding::kFloatZeroEven;
    form.float_bias = true;
    form.clamp = {0, 0};
    const float unit = AddOperations(layer, &form.post_ops);
    if (layer.y.dtype == DType::kF32) return form;
    form.clamp = {layer.y.qmin(), layer.y.qmax()};
    AddQuantize(layer.y, unit, &form.post_ops);
    return form;
  }

  RequantWords Words(const LinearLayer& layer, float scale_w, float bias) const override {
    if (IsPlain(layer)) return OneDnn::Words(layer, scale_w, bias);
    return {numerics::FloatToWord(layer.x.quant.scale * scale_w), numerics::FloatToWord(bias)};
  }

  // The bias is added behind the scale; where there is none, the factors of channels are scales.
  void Complete(const LinearLayer& layer, QLinear* linear) const override {
    if (IsPlain(layer)) return;
    PostOp add{PostOpKind::kChannelLinear, 0, 0, 1};
    bool any = false;
    for (ChannelRequant& record : linear->channels) {
      add.alphas.push_back(1);
      add.betas.push_back(numerics::WordToFloat(std::exchange(record.rshift, 0)));
      any = any || add.betas.back() != 0;
    }
    std::vector<PostOp>& ops = linear->post_ops;
    if (any) {
      ops.insert(ops.begin(), std::move(add));
    } else if (!ops.empty() && ops[0].kind == PostOpKind::kChannelLinear) {
      for (size_t c = 0; c < linear->channels.size(); ++c) {
        int32_t& word = linear->channels[c].multiplier;
        word = numerics::FloatToWord(numerics::WordToFloat(word) * ops[0].alphas[c]);
      }
      ops.erase(ops.begin());
    }
  }

  // Low precision transformations take the scale and zero point of one operand into the other and
  // into the range of the Quantize.
  Op MakeBinary(const BinaryLayer& layer) const override {
    const float scale_a = layer.a.quant.scale, scale_b = layer.b.quant.scale;
    const auto zero_a = static_cast<float>(layer.a.quant.zero_point);
    const auto zero_b = static_cast<float>(layer.b.quant.zero_point);
    const QuantizeRange range = RangeOf(layer.y, scale_b);
    const float moved = zero_b * scale_b / scale_a;
    isa::AddScaled add;
    add.zero_a = zero_a + moved;
    add.ratio = scale_a / scale_b;
    add.scale = range.scale;
    add.shift = range.shift;
    add.clamp = Bounds(layer.clamp, layer.y);
    if (layer.y.dtype == DType::kU8) return add;
    const bool plain = std::fabs(range.shift - 128) < 1e-4f;
    add.shift = plain ? 0 : range.shift;
    add.after = plain ? 0 : 128;
    return add;
  }

  PoolForm MakePool(const PoolLayer& layer) const override {
    const QuantizeRange range = RangeOf(layer.y, layer.x.quant.scale);
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.arithmetic = PoolArithmetic::kMeanScaleOffset;
    pool.scale = range.scale;
    pool.offset = range.shift;
    pool.count_include_pad = layer.count_include_pad;
    pool.clamp = {layer.y.qmin(), layer.y.qmax()};
    return {pool, layer.y};
  }
};

}  // namespace

const Arithmetic& OpenVinoArithmetic() {
  static const OpenVino openvino;
  return openvino;
}

}  // namespace rshift
