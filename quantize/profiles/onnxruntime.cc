// onnxruntime: binary32 scales, ties to even. NUMERICS.md, profile onnxruntime.
#include "quantize/numerics/onnxruntime.h"

#include <cmath>
#include <string>

#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/logistic.h"
#include "quantize/numerics/xnnpack.h"
#include "quantize/profiles/two_operands.h"

namespace rshift {
namespace {

// It turns s8 tensors into u8 first, but where an operator has nothing but s8 of the QOperator form
// or of the graph's inputs and outputs: what is added to bytes and zero points in its float
// arithmetic.
int32_t LiftOf(const IntType& type, bool keeps_sign) {
  return type.dtype == DType::kS8 && !keeps_sign ? 128 : 0;
}
bool KeepsSign(const BinaryLayer& layer) {
  return layer.a.keeps_sign && layer.b.keeps_sign && layer.y.keeps_sign;
}

class OnnxRuntime final : public Arithmetic {
 public:
  bool HasBinary(BinaryOp op) const override {
    return HasKernel(op) || IsExtremum(op) || BinaryIsTable(op);
  }
  bool ScalarIsTable(BinaryOp op) const override { return !HasKernel(op); }
  // What it computes in float between a Dequantize and a Quantize, of two bytes.
  bool BinaryIsTable(BinaryOp op) const override {
    return op == BinaryOp::kSub || op == BinaryOp::kDiv || op == BinaryOp::kMod;
  }
  bool HasSoftmax() const override { return true; }
  bool HasSoftmaxOfAnyAxis() const override { return true; }
  bool HasWhere() const override { return true; }

  bool HasReduction(ReduceOp op) const override {
    return op == ReduceOp::kMax || op == ReduceOp::kMin;
  }
  std::string WhyFloatSums() const override {
    return "ONNX Runtime computes it in float, in an order of its own";
  }

  bool HasPReluOfPairs() const override { return true; }
  QBinaryTable MakePReluOfPairs(const BinaryLayer& layer) const override {
    return TableOfFloatPairs(layer, [](float x, float slope) { return x > 0 ? x : x * slope; });
  }

  bool HasBatchedMatMul() const override { return true; }
  isa::BatchedMatMul MakeBatchedMatMul(const BatchedMatMulLayer& layer) const override {
    const float scale =
        numerics::FloatScale(layer.a.quant.scale, layer.b.quant.scale, layer.y.quant.scale);
    return {.words = {numerics::FloatToWord(scale), 0},
            .clamp = Bounds(layer.clamp, layer.y),
            .rounding = Rounding::kFloatEven};
  }

  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.clamp = Bounds(layer.clamp, layer.y);
    form.rounding = Rounding::kFloatEven;
    return form;
  }

  RequantWords Words(const LinearLayer& layer, float scale_w, float) const override {
    return {numerics::FloatToWord(
                numerics::FloatScale(layer.x.quant.scale, scale_w, layer.y.quant.scale)),
            0};
  }

  Op MakeBinary(const BinaryLayer& layer) const override {
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    const bool keeps_sign = KeepsSign(layer);
    if (IsExtremum(layer.op)) return ExtremumOf(layer, clamp);
    if (BinaryIsTable(layer.op)) {
      return TableOfFloatPairs(layer, [op = layer.op](float a, float b) {
        return op == BinaryOp::kSub ? a - b : op == BinaryOp::kDiv ? a / b : std::fmod(a, b);
      });
    }
    if (layer.op == BinaryOp::kMul) {
      const float scale =
          numerics::FloatScale(layer.a.quant.scale, layer.b.quant.scale, layer.y.quant.scale);
      return isa::Mul{
          {numerics::FloatToWord(scale), 0}, clamp, Rounding::kFloatZeroEven, keeps_sign};
    }
    const numerics::OrtAddFactors f = Sum(layer, keeps_sign);
    return isa::AddFma{f.ratio_a, f.ratio_b, f.fixed, clamp, keeps_sign};
  }

  // The scalar's product goes into the constant part by a product and a sum of their own.
  std::optional<QTable> MakeScalar(const BinaryLayer& layer, int32_t q,
                                   bool constant_is_a) const override {
    if (layer.op != BinaryOp::kAdd) return std::nullopt;
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    const IntType& constant = constant_is_a ? layer.a : layer.b;
    const IntType& x = constant_is_a ? layer.b : layer.a;
    const bool keeps_sign = x.keeps_sign && layer.y.keeps_sign;
    const numerics::OrtAddFactors f = Sum(layer, keeps_sign);
    const float product = static_cast<float>(q + LiftOf(constant, keeps_sign)) *
                          (constant_is_a ? f.ratio_a : f.ratio_b);
    const float fixed = f.fixed + product;
    const float ratio = constant_is_a ? f.ratio_b : f.ratio_a;
    const int32_t lift_x = LiftOf(x, keeps_sign), lift_y = LiftOf(layer.y, keeps_sign);
    return TableOf(x, [=](int32_t v) {
      const float sum = std::fma(static_cast<float>(v + lift_x), ratio, fixed);
      return numerics::RoundToByte(sum, 0, clamp.lo + lift_y, clamp.hi + lift_y) - lift_y;
    });
  }

  QTable MakeUnary(const ByteLayer& layer, const Unary& op) const override {
    if (op.op != UnaryOp::kSigmoid) return Arithmetic::MakeUnary(layer, op);
    return Table(layer, [](double v) {
      return static_cast<double>(numerics::OrtLogistic(static_cast<float>(v)));
    });
  }

  PoolForm MakePool(const PoolLayer& layer) const override {
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.count_include_pad = layer.count_include_pad;
    pool.clamp = {layer.y.qmin(), layer.y.qmax()};
    pool.arithmetic = PoolArithmetic::kDequantized;
    pool.keeps_sign = !layer.global && layer.x.keeps_sign && layer.y.keeps_sign;
    if (layer.global) {  // its zero point is added to an integer
      pool.arithmetic = PoolArithmetic::kRequantize;
      pool.rounding = Rounding::kFloatEven;
      pool.words.multiplier = numerics::FloatToWord(numerics::OrtGlobalPoolScale(
          layer.x.quant.scale, layer.y.quant.scale, layer.height * layer.width));
    }
    return {pool, layer.y};
  }

  SoftmaxForm MakeSoftmax(const IntType& x, const IntType& y, int64_t width) const override {
    QSoftmax softmax;
    softmax.arithmetic = SoftmaxArithmetic::kFloatQuotient;
    const std::array<float, 256> table = numerics::OrtSoftmaxTable(x.quant.scale, width);
    for (size_t d = 0; d < table.size(); ++d) softmax.entries[d] = numerics::FloatToWord(table[d]);
    softmax.clamp = {y.qmin(), y.qmax()};
    return {softmax, y};
  }
  IntType SoftmaxType(const IntType& y, int64_t width) const override {
    IntType type = y;
    type.quant.scale = std::max(y.quant.scale, numerics::OrtLeastSoftmaxScale(width));
    return type;
  }

 private:
  // QLinearAdd, QLinearMul.
  static bool HasKernel(BinaryOp op) { return op == BinaryOp::kAdd || op == BinaryOp::kMul; }
  // Rounding never turns two numbers around: the extremum of what is rounded.
  static bool IsExtremum(BinaryOp op) { return op == BinaryOp::kMax || op == BinaryOp::kMin; }

  static numerics::OrtAddFactors Sum(const BinaryLayer& layer, bool keeps_sign) {
    const auto zero = [&](const IntType& type) {
      return type.quant.zero_point + LiftOf(type, keeps_sign);
    };
    return numerics::OrtAdd(layer.a.quant.scale, zero(layer.a), layer.b.quant.scale, zero(layer.b),
                            layer.y.quant.scale, zero(layer.y));
  }
};

}  // namespace

const Arithmetic& OnnxRuntimeArithmetic() {
  static const OnnxRuntime onnxruntime;
  return onnxruntime;
}

}  // namespace rshift
