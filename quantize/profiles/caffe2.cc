// caffe2: QNNPACK's requantization by the 24-bit mantissa of a float scale, Caffe2's Int8
// operators. NUMERICS.md, profile caffe2.
#include "base/error.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/qnnpack.h"
#include "quantize/numerics/qparams.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

Rounding RoundingOfVariant(Variant variant) {
  if (variant == Variant::kFp32) return Rounding::kFloatEven;
  return variant == Variant::kPrecise ? Rounding::kHalfAway : Rounding::kTwoStep;
}

class Caffe2 final : public Arithmetic {
 public:
  explicit Caffe2(Variant variant) : rounding_(RoundingOfVariant(variant)) {}

  bool HasBinary(BinaryOp op) const override { return op == BinaryOp::kAdd; }

  // Its tensors are u8 with a zero point.
  IntType ActivationType(const ValueRange& range, QuantMode mode) const override {
    if (mode == QuantMode::kSymmetric) return TypeOfRange(range, mode);
    const QuantParams params = numerics::AsymmetricParams(range.low, range.high, 0, 255);
    return {DType::kU8, {params.scale, params.zero_point}};
  }

  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.clamp = Bounds(layer.clamp, layer.y);
    form.rounding = rounding_;
    return form;
  }

  RequantWords Words(const LinearLayer& layer, float scale_w, float) const override {
    const float product = layer.x.quant.scale * scale_w;
    const float scale = product / layer.y.quant.scale;
    if (rounding_ == Rounding::kFloatEven) return {numerics::FloatToWord(scale), 0};
    const RequantWords m = numerics::MantissaMultiplier(scale);
    return {m.multiplier, m.rshift};
  }

  // QNNPACK's addition; ratios that it refuses take the float form.
  Op MakeBinary(const BinaryLayer& layer) const override {
    const numerics::QnnpackAddFactors f =
        numerics::QnnpackAdd(layer.a.quant.scale, layer.b.quant.scale, layer.y.quant.scale);
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    if (!f.ok) return isa::AddFloat{.clamp = clamp};
    return isa::Add{.multiplier = f.multiplier_a,
                    .multiplier2 = f.multiplier_b,
                    .rshift = f.shift,
                    .clamp = clamp,
                    .rounding = Rounding::kHalfAway};
  }

  PoolForm MakePool(const PoolLayer& layer) const override {
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.count_include_pad = layer.count_include_pad;
    pool.arithmetic = PoolArithmetic::kScaleSumAway;
    pool.scale = layer.x.quant.scale / layer.y.quant.scale;
    pool.clamp = {layer.y.qmin(), layer.y.qmax()};
    return {pool, layer.y};
  }
  bool HasMean() const override { return true; }

 private:
  Rounding rounding_;
};

}  // namespace

const Arithmetic& Caffe2Arithmetic(Variant variant) {
  static const Caffe2 q31(Variant::kByTable), fp32(Variant::kFp32), precise(Variant::kPrecise);
  if (variant == Variant::kFp32) return fp32;
  return variant == Variant::kPrecise ? precise : q31;
}

}  // namespace rshift
