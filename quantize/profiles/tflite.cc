// tflite, tflite-ref, tflite-ruy, tflite-xnnpack: an older TFLite by its table of D1, D2, F2, and
// the three ways in which today's LiteRT computes. NUMERICS.md, profiles tflite*.
#include "quantize/numerics/tflite.h"

#include <vector>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/fixed_exp.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/logistic.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/tflite_unary.h"
#include "quantize/numerics/xnnpack.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

RequantWords Words(const RequantWords& m) { return {m.multiplier, m.rshift}; }

// How a convolution's accumulator becomes a byte.
struct Requant {
  Rounding rounding;
  enum class Scale { kDouble, kProduct, kSingle, kFloat } scale;
};
constexpr Requant kD1{Rounding::kHalfUp, Requant::Scale::kDouble};
constexpr Requant kD2{Rounding::kTwoStep, Requant::Scale::kDouble};
constexpr Requant kF2{Rounding::kTwoStep, Requant::Scale::kSingle};
constexpr Requant kProductD2{Rounding::kTwoStep, Requant::Scale::kProduct};
constexpr Requant kUp{Rounding::kTwoStepUp, Requant::Scale::kDouble};
constexpr Requant kProductUp{Rounding::kTwoStepUp, Requant::Scale::kProduct};
constexpr Requant kDoubleProduct{Rounding::kDoubleAway, Requant::Scale::kDouble};
constexpr Requant kXnnpack{Rounding::kFloatEven, Requant::Scale::kFloat};

// The table of SNPS-Caffe's QUANTIZED_OP.md: one scale D2, F2, F2; one for each channel D1, D2, D1
// (general, depthwise, pointwise). FullyConnected has one scale there and is D2.
Requant ByTable(const LinearLayer& layer, Variant variant) {
  if (variant == Variant::kD1) return kD1;
  if (variant == Variant::kD2) return kD2;
  if (variant == Variant::kF2) return kF2;
  if (layer.kind == LinearKind::kFullyConnected) return kD2;
  // A depthwise convolution of several outputs for each input is general to SNPS-Caffe.
  const bool general = variant == Variant::kSnps && layer.depth_multiplier;
  const bool depthwise = layer.kind == LinearKind::kDepthwise && !general;
  if (layer.per_channel) return depthwise ? kD2 : kD1;
  const bool pointwise = layer.kind == LinearKind::kPointwise;
  return depthwise || pointwise ? kF2 : kD2;
}

bool IsUnsigned(const LinearLayer& layer) { return layer.x.dtype == DType::kU8; }

Requant Reference(const LinearLayer& layer) {
  if (layer.kind == LinearKind::kFullyConnected) return kDoubleProduct;
  return IsUnsigned(layer) ? kProductD2 : kD2;
}

Requant Optimised(const LinearLayer& layer) {
  if (layer.kind == LinearKind::kDepthwise && IsUnsigned(layer)) return kProductD2;
  if (layer.kind == LinearKind::kGrouped) return Reference(layer);  // there is no optimised one
  const bool single = layer.kind == LinearKind::kFullyConnected && !layer.per_channel;
  return single || IsUnsigned(layer) ? kProductUp : kUp;
}

class TfLite final : public Arithmetic {
 public:
  explicit TfLite(const Profile& profile) : profile_(profile) {}

  bool HasBinary(BinaryOp op) const override {
    return op == BinaryOp::kAdd || op == BinaryOp::kSub || op == BinaryOp::kMul;
  }
  bool ScalarIsTable(BinaryOp op) const override { return !HasBinary(op); }
  // Pads never count in TFLite.
  bool HasPool(const AveragePool& op) const override {
    const Window& w = op.window;
    const bool pads = w.pad_top > 0 || w.pad_left > 0 || w.pad_bottom > 0 || w.pad_right > 0;
    return !(pads && op.count_include_pad);
  }
  bool HasSoftmax() const override { return true; }
  bool HasMean() const override { return true; }

  Quantize InputForm(const IntType&) const override {
    const bool optimised =
        profile_.id == ProfileId::kTfLiteRuy || profile_.id == ProfileId::kTfLiteXnnpack;
    return {optimised ? RealRounding::kEven : RealRounding::kAway, optimised};
  }

  // Bounds, constants and table entries. XNNPACK adds the zero point before it rounds to even,
  // everything else rounds half away from zero.
  int32_t Constant(float value, const IntType& type) const override {
    const QuantParams& q = type.quant;
    if (!IsXnnpack()) {
      return numerics::QuantizeValueBy(RealRounding::kAway, value, q.scale, q.zero_point,
                                       type.qmin(), type.qmax());
    }
    return numerics::RoundWithZero(value / q.scale, q.zero_point, type.qmin(), type.qmax());
  }

  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.clamp = Bounds(layer.clamp, layer.y);
    form.rounding = RequantOf(layer).rounding;
    return form;
  }

  RequantWords Words(const LinearLayer& layer, float scale_w, float) const override {
    const float x = layer.x.quant.scale, y = layer.y.quant.scale;
    const Requant requant = RequantOf(layer);
    if (requant.rounding == Rounding::kDoubleAway) {
      const double scale = numerics::TfLiteScaleDouble(x, scale_w, y);
      return {numerics::UpperWord(scale), numerics::LowerWord(scale)};
    }
    switch (requant.scale) {
      case Requant::Scale::kDouble: {
        RequantWords words = Pair(numerics::TfLiteScaleDouble(x, scale_w, y));
        if (InScalarRemainder(layer, requant)) words.rshift += numerics::kScalarRemainder;
        return words;
      }
      case Requant::Scale::kProduct:
        return Pair(numerics::TfLiteScaleProduct(x, scale_w, y));
      case Requant::Scale::kSingle:
        return Pair(numerics::TfLiteScaleSingle(x, scale_w, y));
      case Requant::Scale::kFloat:
        break;
    }
    return {numerics::FloatToWord(numerics::FloatScale(x, scale_w, y)), 0};
  }

  Op MakeBinary(const BinaryLayer& layer) const override {
    return layer.op == BinaryOp::kMul ? Product(layer) : Sum(layer);
  }

  PoolForm MakePool(const PoolLayer& layer) const override {
    const bool same = layer.x.quant == layer.y.quant && layer.x.dtype == layer.y.dtype;
    if (layer.mean || (layer.whole && !same)) return {Mean(layer), layer.y};
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.arithmetic = PoolArithmetic::kInteger;
    pool.clamp = {layer.x.qmin(), layer.x.qmax()};
    return {pool, layer.x};
  }

  SoftmaxForm MakeSoftmax(const IntType& x, const IntType& y, int64_t) const override {
    QSoftmax softmax;
    softmax.clamp = {y.qmin(), y.qmax()};
    if (profile_.id == ProfileId::kTfLite || profile_.id == ProfileId::kTfLiteRef) {
      softmax.arithmetic = SoftmaxArithmetic::kFixedPoint;
      softmax.entries = numerics::FixedSoftmaxTable(x.quant.scale);
      const IntType only{y.dtype, {0x1p-8f, y.qmin()}};
      return {softmax, only};
    }
    softmax.arithmetic = SoftmaxArithmetic::kFloatTable;
    for (int d = 0; d < 256; ++d) {
      const float exponent = -x.quant.scale * static_cast<float>(d);
      const auto value = static_cast<float>(numerics::Exp(static_cast<double>(exponent)));
      softmax.entries[static_cast<size_t>(d)] = numerics::FloatToWord(value);
    }
    return {softmax, y};
  }

  QTable Table(const ByteLayer& layer,
               const std::function<double(double)>& function) const override {
    const QuantParams &x = layer.x.quant, &y = layer.y.quant;
    return TableOf(layer.x, [&](int32_t q) {
      const float real = numerics::DequantizeValue(q, x.scale, x.zero_point);
      const auto value = static_cast<float>(function(static_cast<double>(real)));
      return Constant(value, {layer.y.dtype, y});
    });
  }

  QTable MakeUnary(const ByteLayer& layer, const Unary& op) const override {
    const float sx = layer.x.quant.scale, sy = layer.y.quant.scale;
    const ClampQ whole = {layer.y.qmin(), layer.y.qmax()};
    switch (op.op) {
      case UnaryOp::kHardSwish:
        return Bytes(layer, whole, [=](int32_t v) { return numerics::TfLiteHardSwish(v, sx, sy); });
      case UnaryOp::kAbs:
        return Bytes(layer, whole, [=](int32_t v) { return numerics::TfLiteAbs(v, sx, sy); });
      case UnaryOp::kSqrt:
        return Bytes(layer, whole, [=](int32_t v) { return numerics::TfLiteSqrt(v, sx, sy); });
      default:
        break;
    }
    if (op.op != UnaryOp::kSigmoid || IsXnnpack()) return Arithmetic::MakeUnary(layer, op);
    return Table(layer, [](double v) {
      return static_cast<double>(numerics::TfLiteLogistic(static_cast<float>(v)));
    });
  }

  Op MakeLeakyRelu(const ByteLayer& layer, double alpha) const override {
    const float sx = layer.x.quant.scale, sy = layer.y.quant.scale;
    const auto slope = static_cast<float>(alpha);
    const float ratio = sx / sy, negative = ratio * slope;
    const bool xnnpack = IsXnnpack() && numerics::IsXnnpackRatio(ratio) &&
                         numerics::IsXnnpackRatio(negative < 0 ? -negative : negative);
    return Bytes(layer, {layer.y.qmin(), layer.y.qmax()}, [=](int32_t v) {
      return xnnpack ? numerics::XnnpackLeakyRelu(v, sx, slope, sy)
                     : numerics::TfLiteLeakyRelu(v, sx, slope, sy);
    });
  }

  // The optimised kernel rounds both halves up in vectors of 16 elements and behind them as the
  // reference does: a table of bytes cannot know the place, and is that of the vectors.
  Op MakeRescale(const ByteLayer& layer, const ClampQ& clamp) const override {
    if (layer.x == layer.y) return Requantize{{}, clamp};
    const float sx = layer.x.quant.scale, sy = layer.y.quant.scale;
    const bool xnnpack = IsXnnpack() && numerics::IsXnnpackRescale(sx / sy);
    return Bytes(layer, clamp, [=, up = IsOptimised()](int32_t v) {
      if (xnnpack) return numerics::XnnpackRescale(v, sx, sy);
      return up ? numerics::TfLiteRescaleUp(v, sx, sy) : numerics::TfLiteRescale(v, sx, sy);
    });
  }
  // A Relu of its own is the reference's kernel everywhere.
  Op MakeClip(const ByteLayer& layer, const ClampQ& clamp) const override {
    if (layer.x == layer.y) return Requantize{{}, clamp};
    const float sx = layer.x.quant.scale, sy = layer.y.quant.scale;
    return Bytes(layer, clamp, [=](int32_t v) { return numerics::TfLiteRescale(v, sx, sy); });
  }

  // Signed tensors of a TFLite Concat have one type; unsigned ones are rescaled in binary32.
  Op MakeConcatPart(const ByteLayer& layer) const override {
    if (layer.x.dtype == DType::kS8) return Arithmetic::MakeConcatPart(layer);
    const QuantParams& x = layer.x.quant;
    const float sy = layer.y.quant.scale;
    return TableOf(layer.x, [&](int32_t q) {
      const int32_t v = numerics::TfLiteConcatPart(q, x.scale, x.zero_point, sy);
      return numerics::Clamp(int64_t{v} + layer.y.quant.zero_point, layer.y.qmin(), layer.y.qmax());
    });
  }

 private:
  bool IsXnnpack() const { return profile_.id == ProfileId::kTfLiteXnnpack; }

  // What the delegate does not take runs in the optimised kernels.
  bool IsOptimised() const { return IsXnnpack() || profile_.id == ProfileId::kTfLiteRuy; }

  Requant RequantOf(const LinearLayer& layer) const {
    switch (profile_.id) {
      case ProfileId::kTfLiteRef:
        return Reference(layer);
      case ProfileId::kTfLiteRuy:
        return Optimised(layer);
      case ProfileId::kTfLiteXnnpack:
        return kXnnpack;
      case ProfileId::kTfLite:
      case ProfileId::kTpu:  // and all others have an arithmetic of their own
      case ProfileId::kOnnxRuntime:
      case ProfileId::kCaffe2:
      case ProfileId::kOneDnn:
      case ProfileId::kAscend:
      case ProfileId::kOpenVino:
        break;
    }
    return ByTable(layer, profile_.variant);
  }

  // The optimised signed depthwise and transposed kernels compute vectors of 8 channels; the rest
  // is rounded as the reference does.
  static bool InScalarRemainder(const LinearLayer& layer, const Requant& requant) {
    const bool vectors =
        layer.kind == LinearKind::kDepthwise || layer.kind == LinearKind::kTransposed;
    return requant.rounding == Rounding::kTwoStepUp && vectors &&
           layer.channel >= layer.channels / 8 * 8;
  }

  static RequantWords Pair(double scale) {
    return rshift::Words(numerics::TfLiteMultiplier(scale));
  }

  // function: of q - Z_x, without Z_y.
  static QTable Bytes(const ByteLayer& layer, const ClampQ& clamp,
                      const std::function<int32_t(int32_t)>& function) {
    return TableOf(layer.x, [&](int32_t q) {
      const int64_t y = int64_t{function(q - layer.x.quant.zero_point)} + layer.y.quant.zero_point;
      return numerics::Clamp(y, clamp.lo, clamp.hi);
    });
  }

  // Add, Sub.
  Op Sum(const BinaryLayer& layer) const {
    const bool subtract = layer.op == BinaryOp::kSub;
    const float a = layer.a.quant.scale, b = layer.b.quant.scale, y = layer.y.quant.scale;
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    if (IsXnnpack()) {
      const numerics::XnnpackAddFactors f = numerics::XnnpackAdd(a, b, y);
      if (f.ok) {
        return isa::Add{.multiplier = f.multiplier_a,
                        .multiplier2 = subtract ? -f.multiplier_b : f.multiplier_b,
                        .rshift = f.shift,
                        .clamp = clamp};
      }
    }
    const numerics::TfLiteAddFactors f = numerics::TfLiteAdd(a, b, y);
    // A factor that rounds to 0 has no shift of its own; the operands' shifts are 31 or more.
    const auto operand = [](const RequantWords& m) {
      return m.multiplier == 0 ? RequantWords{0, 31} : m;
    };
    isa::AddShifted add{.words = operand(f.a),
                        .words2 = operand(f.b),
                        .words3 = f.y,
                        .left_shift = numerics::kTfLiteAddShift,
                        .clamp = clamp,
                        .rounding = Rounding::kTwoStep};
    if (subtract) {
      add.blocks = AddBlocks::kSubtract;
    } else if (IsOptimised()) {
      add.blocks = layer.y.dtype == DType::kS8 ? AddBlocks::kSixteen : AddBlocks::kEight;
    }
    return add;
  }

  Op Product(const BinaryLayer& layer) const {
    const float a = layer.a.quant.scale, b = layer.b.quant.scale, y = layer.y.quant.scale;
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    const float scale = numerics::FloatScale(a, b, y);
    if (IsXnnpack() && numerics::IsXnnpackMulScale(scale)) {
      return isa::Mul{{numerics::FloatToWord(scale), 0}, clamp, Rounding::kFloatEven};
    }
    return isa::Mul{numerics::TfLiteMul(a, b, y), clamp, Rounding::kTwoStep};
  }

  isa::AveragePool Mean(const PoolLayer& layer) const {
    const QuantParams &x = layer.x.quant, &y = layer.y.quant;
    const int64_t n = layer.height * layer.width;
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.clamp = {layer.y.qmin(), layer.y.qmax()};
    pool.arithmetic = PoolArithmetic::kRawSum;
    if (IsXnnpack()) {
      const auto f = numerics::XnnpackMean(x.scale, x.zero_point, y.scale, y.zero_point, n);
      pool.rounding = Rounding::kFloatZeroEven;
      pool.words.multiplier = numerics::FloatToWord(f.scale);
      pool.offset = f.bias;
    } else if (profile_.id == ProfileId::kTfLiteRuy) {
      const auto f = numerics::TfLiteOptimisedMean(x.scale, x.zero_point, y.scale, y.zero_point, n);
      pool.rounding = Rounding::kTwoStepUp;
      pool.words = f.m;
      pool.offset = static_cast<float>(f.bias);
    } else {
      pool.arithmetic = PoolArithmetic::kRequantize;
      pool.rounding = Rounding::kTwoStep;
      pool.words = numerics::TfLiteReferenceMean(x.scale, y.scale, n);
    }
    return pool;
  }

  Profile profile_;
};

}  // namespace

const Arithmetic& TfLiteArithmetic(const Profile& profile) {
  static const std::vector<TfLite> all = [] {
    std::vector<TfLite> made;
    made.reserve(kProfileCount * kVariantCount);
    for (int i = 0; i < kProfileCount * kVariantCount; ++i) {
      made.emplace_back(Profile{static_cast<ProfileId>(i / kVariantCount),
                                static_cast<Variant>(i % kVariantCount)});
    }
    return made;
  }();
  return all[static_cast<size_t>(profile.id) * kVariantCount +
             static_cast<size_t>(profile.variant)];
}

}  // namespace rshift
