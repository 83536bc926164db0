// onednn: f32 output scales, post-operations, zero point before the rounding to even. NUMERICS.md,
// profile onednn.
#include "quantize/numerics/onednn.h"

#include <cmath>

#include "quantize/numerics/float_scale.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

// kind(c f) = c kind(f) for c > 0, bounds and offsets taken times c: such an operation may come
// after the division by S_y.
bool IsHomogeneous(PostOpKind kind) {
  return kind == PostOpKind::kSum || kind == PostOpKind::kRelu || kind == PostOpKind::kAbs ||
         kind == PostOpKind::kClip || kind == PostOpKind::kLinear;
}

// Operations up to here see real values; those behind see units of y. -1: the output scale already
// divides by S_y.
int LastReal(const std::vector<RealPostOp>& ops) {
  for (int i = static_cast<int>(ops.size()) - 1; i >= 0; --i) {
    if (!IsHomogeneous(ops[i].kind)) return i;
  }
  return -1;
}

PostOp Translate(const RealPostOp& op, bool real, bool divides, float scale_y) {
  PostOp made{op.kind, op.alpha, op.beta, divides ? 1.0f / scale_y : 1.0f};
  const float unit = real ? 1.0f : scale_y;
  if (op.kind == PostOpKind::kSum) made.scale = op.addend.quant.scale / unit;
  if (op.kind == PostOpKind::kClip) {
    made.alpha = op.alpha / unit;
    made.beta = op.beta / unit;
  }
  if (op.kind == PostOpKind::kLinear) made.beta = op.beta / unit;
  return made;
}

class OneDnn final : public Arithmetic {
 public:
  bool HasBinary(BinaryOp op) const override { return op == BinaryOp::kAdd; }
  bool HasPostOps() const override { return true; }

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
    if (layer.post_ops.empty() && !real) {  // a last clip is the same as rounded bounds
      form.clamp = Bounds(layer.clamp, layer.y);
      return form;
    }
    form.clamp = real ? ClampQ{0, 0} : ClampQ{layer.y.qmin(), layer.y.qmax()};
    std::vector<RealPostOp> ops = layer.post_ops;
    if (layer.clamp.active()) {
      ops.insert(ops.begin(), {PostOpKind::kClip, layer.clamp.lo, layer.clamp.hi, {}});
    }
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
    const float scale =
        LastReal(layer.post_ops) >= 0
            ? unit
            : numerics::OutputScaleOf(layer.x.quant.scale, scale_w, layer.y.quant.scale);
    return {numerics::FloatToWord(scale), numerics::FloatToWord(bias == 0 ? 0.0f : bias / unit)};
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

}  // namespace

const Arithmetic& OneDnnArithmetic() {
  static const OneDnn onednn;
  return onednn;
}

}  // namespace rshift
