// onednn: f32 output scales, post-operations, zero point before the rounding to even.
// NUMERICS.md, profile onednn.
#include "quantize/profiles/onednn.h"

#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/onednn.h"
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
  made.alphas = op.alphas;
  made.betas = op.betas;
  for (float& beta : made.betas) beta /= divides ? scale_y : unit;
  // A kChannelRelu has its scale, like functions of one value; the numbers of a line are its own.
  if (divides && op.kind == PostOpKind::kChannelLinear) {
    for (float& alpha : made.alphas) alpha /= scale_y;
  }
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

}  // namespace

// The zero point is added before the rounding, for constants and bounds as for accumulators.
int32_t OneDnn::Constant(float value, const IntType& type) const {
  return numerics::RoundWithZero(value / type.quant.scale, type.quant.zero_point, type.qmin(),
                                 type.qmax());
}

LinearForm OneDnn::Linear(const LinearLayer& layer) const {
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
RequantWords OneDnn::Words(const LinearLayer& layer, float scale_w, float bias) const {
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
Op OneDnn::MakeBinary(const BinaryLayer& layer) const {
  return isa::AddFloat{.clamp = Bounds(layer.clamp, layer.y)};
}

// The mean of the raw bytes in the input's type, as oneDNN's pooling, which has no scales.
PoolForm OneDnn::MakePool(const PoolLayer& layer) const {
  isa::AveragePool pool;
  pool.window = layer.window;
  pool.scale = 1;
  pool.count_include_pad = layer.count_include_pad;
  pool.clamp = {layer.x.qmin(), layer.x.qmax()};
  return {pool, layer.x};
}

const Arithmetic& OneDnnArithmetic() {
  static const OneDnn onednn;
  return onednn;
}

}  // namespace rshift
