// onednn and openvino: f32 output scales, post-operations, zero point before the rounding to even.
// NUMERICS.md, profile onednn.
#include "quantize/numerics/onednn.h"

#include <cmath>

#include "quantize/numerics/float_scale.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/profiles/post_op_composer.h"

namespace rshift {
namespace {

// Operations up to here see real values; those behind see units of y. -1: the output scale already
// divides by S_y.
int LastReal(const std::vector<RealPostOp>& ops) {
  for (int i = static_cast<int>(ops.size()) - 1; i >= 0; --i) {
    if (!IsHomogeneous(ops[i].kind)) return i;
  }
  return -1;
}

PostOp Translate(const RealPostOp& op, bool real, bool divides, float scale_y) {
  PostOp made{op.kind, op.alpha, op.beta, divides ? op.scale / scale_y : op.scale};
  const float unit = real ? 1.0f : scale_y;
  if (op.kind == PostOpKind::kSum) made.scale = op.addend.quant.scale * op.scale / unit;
  if (op.kind == PostOpKind::kClip) {
    made.alpha = op.alpha / unit;
    made.beta = op.beta / unit;
  }
  if (op.kind == PostOpKind::kLinear) made.beta = op.beta / unit;
  return made;
}

// What the layer does behind its accumulator; its own clamp comes first.
ComposedPostOps PostOpsOf(const LinearLayer& layer) {
  std::vector<RealPostOp> ops = layer.post_ops;
  if (layer.clamp.active()) {
    ops.insert(ops.begin(), {PostOpKind::kClip, layer.clamp.lo, layer.clamp.hi, {}});
  }
  return ComposePostOps(ops);
}

// A last clip is the same as rounded bounds.
bool IsClamp(const ComposedPostOps& composed) {
  return composed.ops.empty() ||
         (composed.ops.size() == 1 && composed.ops[0].kind == PostOpKind::kClip);
}

class OneDnn : public Arithmetic {
 public:
  bool HasBinary(BinaryOp op) const override { return op == BinaryOp::kAdd; }
  bool HasPostOps() const override { return true; }
  bool InvertsWeightScales() const override { return true; }

  // The zero point is added before the rounding, for constants and bounds as for accumulators.
  int32_t Constant(float value, const IntType& type) const override {
    return numerics::RoundWithZero(value / type.quant.scale, type.quant.zero_point, type.qmin(),
                                   type.qmax());
  }

  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.rounding = Rounding::kFloatZeroEven;
    form.float_bias = true;
    const bool real = layer.y.dtype == DType::kF32;
    const ComposedPostOps composed = PostOpsOf(layer);
    const std::vector<RealPostOp>& ops = composed.ops;
    if (IsClamp(composed) && !real) {
      const Clamp clamp = ops.empty() ? Clamp{} : Clamp{ops[0].alpha, ops[0].beta};
      form.clamp = Bounds(clamp, layer.y);
      return form;
    }
    form.clamp = real ? ClampQ{0, 0} : ClampQ{layer.y.qmin(), layer.y.qmax()};
    const int last = LastReal(ops);
    for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
      form.post_ops.push_back(Translate(ops[i], i <= last, i == last, layer.y.quant.scale));
    }
    return form;
  }

  // Scale: S_x S_w / S_y, or S_x S_w where a post-operation divides by S_y. bias_f: the real bias
  // in units of the accumulator.
  RequantWords Words(const LinearLayer& layer, float scale_w, float bias) const override {
    const float unit = layer.x.quant.scale * scale_w;
    const ComposedPostOps composed = PostOpsOf(layer);
    const float scale =
        LastReal(composed.ops) >= 0
            ? unit
            : numerics::OutputScaleOf(layer.x.quant.scale, scale_w, layer.y.quant.scale);
    return {numerics::FloatToWord(composed.factor == 1 ? scale : scale * composed.factor),
            numerics::FloatToWord(bias == 0 ? 0.0f : bias / unit)};
  }

  // On its own: dequantize, add, quantize in binary32. As a rule it is a convolution's kSum.
  Op MakeBinary(const BinaryLayer& layer) const override {
    return isa::AddFloat{.clamp = Bounds(layer.clamp, layer.y)};
  }

  // The mean of the raw bytes in the input's type, as oneDNN's pooling, which has no scales.
  PoolForm MakePool(const PoolLayer& layer) const override {
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.scale = 1;
    pool.count_include_pad = layer.count_include_pad;
    pool.clamp = {layer.x.qmin(), layer.x.qmax()};
    return {pool, layer.x};
  }
};

// Where a Quantize of the CPU plugin puts its input: x * scale + shift is rounded to [0, 255], less
// 128 for s8.
struct QuantizeRange {
  float scale = 1, shift = 0;
};

// `unit`: what x counts in. Computed from the ends of the range, as the plugin does.
QuantizeRange RangeOf(const IntType& y, float unit) {
  const auto end = [&](int32_t q) {
    const double steps = q - y.quant.zero_point;
    return static_cast<float>(steps * static_cast<double>(y.quant.scale)) / unit;
  };
  const float low = end(y.qmin()), high = end(y.qmax());
  const float scale = 255.0f / (high - low);
  return {scale, -low * scale};
}

class OpenVino final : public OneDnn {
 public:
  bool HasMean() const override { return true; }

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

const Arithmetic& OneDnnArithmetic() {
  static const OneDnn onednn;
  return onednn;
}

}  // namespace rshift
