// tflite, tflite-ref, tflite-ruy, tflite-xnnpack: an older TFLite by its table of D1, D2, F2, and
// the three ways in which today's LiteRT computes. NUMERICS.md, profiles tflite*.
#include "quantize/numerics/tflite.h"

#include <array>
#include <vector>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/fixed_exp.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/logistic.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/tflite_unary.h"
#include "quantize/numerics/xnnpack.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/profiles/tflite_int16.h"
#include "quantize/profiles/tflite_requant.h"
#include "quantize/profiles/two_operands.h"

namespace rshift {
namespace {

using tflite::Requant;

RequantWords Words(const RequantWords& m) { return {m.multiplier, m.rshift}; }

class TfLite final : public Arithmetic {
 public:
  explicit TfLite(const Profile& profile) : profile_(profile) {}

  bool HasBinary(BinaryOp op) const override {
    return IsSum(op) || op == BinaryOp::kMul || op == BinaryOp::kMax || op == BinaryOp::kMin ||
           op == BinaryOp::kSquaredDifference;
  }
  bool ScalarIsTable(BinaryOp op) const override {
    return !IsSum(op) && op != BinaryOp::kMul && op != BinaryOp::kSquaredDifference;
  }
  bool RoundsConstants(BinaryOp op) const override { return op == BinaryOp::kSquaredDifference; }
  // Pads never count in TFLite.
  bool HasPool(const AveragePool& op) const override {
    const Window& w = op.window;
    const bool pads = w.pad_top > 0 || w.pad_left > 0 || w.pad_bottom > 0 || w.pad_right > 0;
    return !(pads && op.count_include_pad);
  }
  bool HasSoftmax() const override { return true; }
  bool HasMean() const override { return true; }
  // Sums: the optimised kernel divides floats, and not as any command does.
  bool HasReduction(ReduceOp op) const override {
    if (op == ReduceOp::kSum) return profile_.id != ProfileId::kTfLiteRuy;
    return op == ReduceOp::kMean || op == ReduceOp::kMax || op == ReduceOp::kMin ||
           op == ReduceOp::kProd;
  }
  isa::Product MakeProduct(const IntType& x, const IntType& y, int64_t n) const override {
    return {.words = numerics::TfLiteProductWords(x.quant.scale, y.quant.scale, n),
            .clamp = {y.qmin(), y.qmax()}};
  }
  isa::AveragePool MakeReduction(const ReductionLayer& layer) const override {
    const QuantParams &x = layer.x.quant, &y = layer.y.quant;
    const int64_t divisor = layer.mean ? layer.rows : 1;
    isa::AveragePool pool;
    pool.clamp = {layer.y.qmin(), layer.y.qmax()};
    if (!IsXnnpack()) return ByMultiplier(pool, x, y, divisor);
    return ByFloat(pool, x, y, layer.rows, divisor);
  }
  bool HasWhere() const override { return true; }
  bool HasL2Normalize() const override { return true; }

  bool HasLinearResize() const override { return true; }
  std::optional<ResizeArithmetic> LinearResize(DType dtype) const override {
    if (dtype == DType::kS16) return ResizeArithmetic::kHalfAway;  // not XNNPACK's
    if (IsXnnpack()) return std::nullopt;
    if (dtype == DType::kS8) return ResizeArithmetic::kHalfAway;
    return IsOptimised() ? ResizeArithmetic::kFloatProduct : ResizeArithmetic::kFloatFirst;
  }

  bool HasPReluOfPairs() const override { return true; }
  bool RoundsSlopes() const override { return true; }
  QBinaryTable MakePReluOfPairs(const BinaryLayer& layer) const override {
    const float a = layer.a.quant.scale, b = layer.b.quant.scale, y = layer.y.quant.scale;
    const ClampQ whole = {layer.y.qmin(), layer.y.qmax()};
    return TableOfIntegers(layer, [=, zero = layer.y.quant.zero_point](int32_t x, int32_t slope) {
      return numerics::Clamp(numerics::TfLitePRelu(x, slope, a, b, y) + int64_t{zero}, whole.lo,
                             whole.hi);
    });
  }
  bool HasSoftmaxOfAnyAxis() const override { return true; }

  // One kernel for all ways.
  bool HasBatchedMatMul() const override { return true; }
  isa::BatchedMatMul MakeBatchedMatMul(const BatchedMatMulLayer& layer) const override {
    return {.words = Pair(numerics::TfLiteScaleProduct(layer.a.quant.scale, layer.b.quant.scale,
                                                       layer.y.quant.scale)),
            .clamp = Bounds(layer.clamp, layer.y),
            .rounding = Rounding::kTwoStep};
  }

  Quantize InputForm(const IntType&) const override {
    const bool optimised =
        profile_.id == ProfileId::kTfLiteRuy || profile_.id == ProfileId::kTfLiteXnnpack;
    return {optimised ? RealRounding::kEven : RealRounding::kAway, optimised};
  }

  // Bounds, constants and table entries. XNNPACK adds the zero point before it rounds to even,
  // everything else rounds half away from zero.
  int32_t Constant(float value, const IntType& type) const override {
    const QuantParams& q = type.quant;
    if (!IsXnnpack() || type.is_s16()) {
      return numerics::QuantizeValueBy(RealRounding::kAway, value, q.scale, q.zero_point,
                                       type.qmin(), type.qmax());
    }
    return numerics::RoundWithZero(value / q.scale, q.zero_point, type.qmin(), type.qmax());
  }

  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.clamp = Bounds(layer.clamp, layer.y);
    form.rounding = layer.x.is_s16() ? tflite::Int16RoundingOf(layer, IsOptimised())
                                     : RequantOf(layer).rounding;
    return form;
  }

  RequantWords Words(const LinearLayer& layer, float scale_w, float) const override {
    if (layer.x.is_s16()) return tflite::Int16WordsOf(layer, scale_w, IsOptimised());
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

  // An older TFLite, by its table, has no 16 bits.
  const ModelInt16Rules* ModelInt16() const override {
    return profile_.id == ProfileId::kTfLite ? nullptr : &tflite::Int16Rules(IsOptimised());
  }

  Op MakeBinary(const BinaryLayer& layer) const override {
    if (layer.y.is_s16()) return tflite::Int16Binary(layer, Bounds(layer.clamp, layer.y));
    if (IsSum(layer.op)) return Sum(layer);
    if (layer.op == BinaryOp::kMul) return Product(layer);
    if (layer.op == BinaryOp::kSquaredDifference) return SquaredDifference(layer);
    return ExtremumOf(layer, Bounds(layer.clamp, layer.y));
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
    softmax.entries = FloatExponentials(x.quant.scale);
    return {softmax, y};
  }

  // One kernel for all ways, whose result has one type.
  bool HasLogSoftmax() const override { return true; }
  SoftmaxForm MakeLogSoftmax(const IntType& x, const IntType& y) const override {
    QSoftmax softmax;
    softmax.arithmetic = SoftmaxArithmetic::kLogFloatTable;
    softmax.clamp = {y.qmin(), y.qmax()};
    softmax.entries = FloatExponentials(x.quant.scale);
    return {softmax, {y.dtype, {0x1p-4f, y.qmax()}}};
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
      case UnaryOp::kRsqrt:
        return Bytes(layer, whole, [=](int32_t v) {
          return numerics::TfLiteRsqrt(v, sx, sy, whole.hi - layer.y.quant.zero_point);
        });
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
    if (HasInt16(layer)) return tflite::Int16Rescale(layer, clamp, false);
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
    if (HasInt16(layer)) return tflite::Int16Rescale(layer, clamp, true);
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
  // exp(-d S) as f32 bits.
  static std::array<int32_t, 256> FloatExponentials(float scale) {
    std::array<int32_t, 256> entries;
    for (int d = 0; d < 256; ++d) {
      const float exponent = -scale * static_cast<float>(d);
      const auto value = static_cast<float>(numerics::Exp(static_cast<double>(exponent)));
      entries[static_cast<size_t>(d)] = numerics::FloatToWord(value);
    }
    return entries;
  }

  static bool IsSum(BinaryOp op) { return op == BinaryOp::kAdd || op == BinaryOp::kSub; }

  static bool HasInt16(const ByteLayer& layer) { return layer.x.is_s16() || layer.y.is_s16(); }

  bool IsXnnpack() const { return profile_.id == ProfileId::kTfLiteXnnpack; }

  // What the delegate does not take runs in the optimised kernels.
  bool IsOptimised() const { return IsXnnpack() || profile_.id == ProfileId::kTfLiteRuy; }

  Requant RequantOf(const LinearLayer& layer) const {
    switch (profile_.id) {
      case ProfileId::kTfLiteRef:
        return tflite::RequantOfReference(layer);
      case ProfileId::kTfLiteRuy:
        return tflite::RequantOfOptimised(layer);
      case ProfileId::kTfLiteXnnpack:
        return tflite::kXnnpack;
      case ProfileId::kTfLite:
      case ProfileId::kTpu:  // and all others have an arithmetic of their own
      case ProfileId::kOnnxRuntime:
      case ProfileId::kCaffe2:
      case ProfileId::kOneDnn:
      case ProfileId::kAscend:
      case ProfileId::kOpenVino:
        break;
    }
    return tflite::RequantByTable(layer, profile_.variant);
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

  // One kernel for all ways.
  Op SquaredDifference(const BinaryLayer& layer) const {
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    const auto factors = numerics::TfLiteSquaredDifferenceFactors(
        layer.a.quant.scale, layer.b.quant.scale, layer.y.quant.scale);
    return TableOfIntegers(layer, [=, zero = layer.y.quant.zero_point](int32_t a, int32_t b) {
      return numerics::Clamp(int64_t{numerics::TfLiteSquaredDifference(a, b, factors)} + zero,
                             clamp.lo, clamp.hi);
    });
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
    if (IsXnnpack()) return ByFloat(pool, x, y, n, n);
    if (profile_.id == ProfileId::kTfLiteRuy) {
      const auto f = numerics::TfLiteOptimisedMean(x.scale, x.zero_point, y.scale, y.zero_point, n);
      pool.rounding = Rounding::kTwoStepUp;
      pool.words = f.m;
      pool.offset = static_cast<float>(f.bias);
      return pool;
    }
    return ByMultiplier(pool, x, y, n);
  }

  static isa::AveragePool ByMultiplier(isa::AveragePool pool, const QuantParams& x,
                                       const QuantParams& y, int64_t divisor) {
    pool.arithmetic = PoolArithmetic::kRequantize;
    pool.rounding = Rounding::kTwoStep;
    pool.words = numerics::TfLiteReferenceMean(x.scale, y.scale, divisor);
    return pool;
  }

  static isa::AveragePool ByFloat(isa::AveragePool pool, const QuantParams& x, const QuantParams& y,
                                  int64_t n, int64_t divisor) {
    const auto f = numerics::XnnpackMean(x.scale, x.zero_point, y.scale, y.zero_point, n, divisor);
    pool.arithmetic = PoolArithmetic::kRawSum;
    pool.rounding = Rounding::kFloatZeroEven;
    pool.words.multiplier = numerics::FloatToWord(f.scale);
    pool.offset = f.bias;
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
