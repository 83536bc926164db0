// tpu: Multiplier and rshift, one rounding half up. NUMERICS.md sections 3 to 10.
#include <algorithm>
#include <cmath>

#include "quantize/numerics/add.h"
#include "quantize/numerics/average_pool.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/log_softmax.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/normalize_terms.h"
#include "quantize/numerics/prelu.h"
#include "quantize/numerics/quotient_softmax.h"
#include "quantize/numerics/table.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/profiles/two_operands.h"

namespace rshift {
namespace {

double Ratio(const IntType& x, const IntType& y) {
  return static_cast<double>(x.quant.scale) / static_cast<double>(y.quant.scale);
}

// {0, 0}, factor 1, where x and y have equal scales.
RequantWords PositiveSide(const ByteLayer& layer) {
  if (layer.x.quant.scale == layer.y.quant.scale) return {};
  return numerics::RescaleMultiplier(Ratio(layer.x, layer.y));
}

// A factor too large for `bits` takes 32.
RequantWords NegativeSide(double factor, int bits) {
  if (factor == 0) return {};
  const double limit = static_cast<double>(int64_t{1} << (bits - 1)) - 1;
  if (factor < limit) return numerics::QuantizeMultiplier(factor, bits);
  return numerics::AccumulatorMultiplier(factor);
}

Op WithFactors(const ClampQ& clamp, const numerics::AddFactors& factors, int32_t sign_b) {
  if (!factors.ok) return isa::AddFloat{.clamp = clamp};
  return isa::Add{.multiplier = factors.multiplier_a,
                  .multiplier2 = sign_b * factors.multiplier_b,
                  .rshift = factors.rshift,
                  .clamp = clamp};
}

class Tpu final : public Arithmetic {
 public:
  bool HasBinary(BinaryOp op) const override { return !kResultIsBool[static_cast<size_t>(op)]; }
  bool HasPRelu() const override { return true; }
  bool HasPReluOfPairs() const override { return true; }
  QBinaryTable MakePReluOfPairs(const BinaryLayer& layer) const override {
    return TableOfPairs(layer, [](double x, double slope) { return x < 0 ? x * slope : x; });
  }

  bool ScalesBelowZero() const override { return true; }
  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.clamp = Bounds(layer.clamp, layer.y);
    return form;
  }

  RequantWords Words(const LinearLayer& layer, float scale_w, float) const override {
    const double scale = static_cast<double>(layer.x.quant.scale) * static_cast<double>(scale_w) /
                         static_cast<double>(layer.y.quant.scale) * layer.slope;
    if (layer.x.is_s16()) return numerics::WideMultiplier(scale);
    return numerics::AccumulatorMultiplier(scale, layer.multiplier_bits);
  }

  Op MakeBinary(const BinaryLayer& layer) const override {
    if (layer.a.is_s16() || layer.b.is_s16() || layer.y.is_s16()) return OfInt16(layer);
    switch (layer.op) {
      case BinaryOp::kAdd:
        return Sum(layer);
      case BinaryOp::kSub:
        return Difference(layer);
      case BinaryOp::kMul:
        return Product(layer);
      case BinaryOp::kMin:
      case BinaryOp::kMax:
        return ExtremumOf(layer, Bounds(layer.clamp, layer.y));
      case BinaryOp::kDiv:  // by the reciprocals of what are integers of scale and zero point
        if (layer.listed_a.empty()) return QuotientOf(layer, Bounds(layer.clamp, layer.y));
        [[fallthrough]];
      default:
        return TableOfPairs(layer, [&](double a, double b) { return Evaluate(layer.op, a, b); });
    }
  }

  bool HasSoftmax() const override { return true; }
  bool HasSoftmaxOfAnyAxis() const override { return true; }
  SoftmaxForm MakeSoftmax(const IntType& x, const IntType& y, int64_t) const override {
    return SoftmaxBy(SoftmaxArithmetic::kQuotient, x, y);
  }
  QQuotientSoftmaxS16 MakeSoftmaxS16(const IntType& x, const IntType& y, bool log) const override {
    QQuotientSoftmaxS16 softmax;
    softmax.log = log;
    softmax.words = log ? numerics::MakeLogSoftmaxScale(x.quant.scale, y.quant.scale).log
                        : numerics::AccumulatorMultiplier(1.0 / double{y.quant.scale});
    softmax.entries = numerics::SoftmaxProductTables(x.quant.scale);
    softmax.clamp = {y.qmin(), y.qmax()};
    return softmax;
  }
  bool HasLogSoftmax() const override { return true; }
  SoftmaxForm MakeLogSoftmax(const IntType& x, const IntType& y) const override {
    return SoftmaxBy(SoftmaxArithmetic::kLogQuotient, x, y);
  }

  bool HasNormalize() const override { return true; }
  QNormalize MakeNormalize(const NormalizeLayer& layer) const override {
    const double scale_x = layer.x.quant.scale, scale_y = layer.y.quant.scale;
    const int64_t most = std::max(Reach(layer.x), 1);
    const int32_t halvings = layer.x.is_s16() ? numerics::NormalizeHalvings(layer.n) : 0;
    const numerics::VarianceTerms terms =
        numerics::MakeVarianceTerms(layer.n, most, layer.epsilon / (scale_x * scale_x), halvings);
    QNormalize result;
    result.epsilon = terms.epsilon;
    result.variance_shift = terms.shift;
    double largest = 0;
    for (const double s : layer.scale) largest = std::max(largest, std::fabs(s / scale_y));
    result.rshift = numerics::FactorShift(largest);
    for (size_t i = 0; i < layer.scale.size(); ++i) {
      result.row_factors.push_back(
          numerics::NormalizeFactor(layer.scale[i] / scale_y, result.rshift));
      result.row_offsets.push_back(numerics::NormalizeOffset(
          layer.bias[i] / scale_y + layer.y.quant.zero_point, result.rshift));
    }
    result.clamp = {layer.y.qmin(), layer.y.qmax()};
    return result;
  }

  bool HasBatchedMatMul() const override { return true; }
  bool FactorsBatchedMatMul() const override { return true; }
  isa::BatchedMatMul MakeBatchedMatMul(const BatchedMatMulLayer& layer) const override {
    const RequantWords words = numerics::AccumulatorMultiplier(
        static_cast<double>(layer.a.quant.scale) * static_cast<double>(layer.b.quant.scale) /
            static_cast<double>(layer.y.quant.scale) * layer.factor,
        layer.multiplier_bits);
    return {.words = words, .clamp = Bounds(layer.clamp, layer.y)};
  }
  isa::BatchedMatMulS16 MakeBatchedMatMulS16(const BatchedMatMulLayer& layer,
                                             int64_t k) const override {
    const double scale = static_cast<double>(layer.a.quant.scale) *
                         static_cast<double>(layer.b.quant.scale) /
                         static_cast<double>(layer.y.quant.scale) * layer.factor;
    return {.words = numerics::WideMultiplier(scale, numerics::ProductSumZeros(k)),
            .clamp = Bounds(layer.clamp, layer.y)};
  }

  PoolForm MakePool(const PoolLayer& layer) const override {
    const QuantParams &x = layer.x.quant, &y = layer.y.quant;
    isa::AveragePool pool;
    pool.window = layer.window;
    pool.count_include_pad = layer.count_include_pad;
    pool.scale = static_cast<float>(Ratio(layer.x, layer.y));
    pool.offset = numerics::AveragePoolOffset(pool.scale, x.zero_point, y.zero_point);
    pool.clamp = {layer.y.qmin(), layer.y.qmax()};
    return {pool, layer.y};
  }
  bool HasMean() const override { return true; }
  bool HasReduction(ReduceOp op) const override {
    return op == ReduceOp::kMean || op == ReduceOp::kSum || op == ReduceOp::kMax ||
           op == ReduceOp::kMin || op == ReduceOp::kL1 || op == ReduceOp::kL2 ||
           op == ReduceOp::kSumSquare;
  }
  bool HasResize() const override { return true; }
  bool HasWhere() const override { return true; }
  bool HoldsModelInt16() const override { return true; }

  QTable Table(const ByteLayer& layer,
               const std::function<double(double)>& function) const override {
    return TableOf(layer.x, [&](int32_t q) {
      return numerics::QuantizeReal(function(layer.x.RealOf(q)), layer.y.quant.scale,
                                    layer.y.quant.zero_point, layer.y.qmin(), layer.y.qmax());
    });
  }

  Op MakeLeakyRelu(const ByteLayer& layer, double alpha) const override {
    if (alpha < 0) return Arithmetic::MakeLeakyRelu(layer, alpha);  // not monotonic: a table
    const RequantWords negative =
        NegativeSide(alpha * Ratio(layer.x, layer.y), layer.multiplier_bits);
    return isa::LeakyRelu{.multiplier = negative.multiplier,
                          .rshift = negative.rshift,
                          .positive = PositiveSide(layer),
                          .clamp = {layer.y.qmin(), layer.y.qmax()}};
  }

  Op MakePRelu(const ByteLayer& layer, std::span<const float> slopes) const override {
    const double ratio = Ratio(layer.x, layer.y);
    double largest = 0;
    for (float slope : slopes) largest = std::max(largest, std::fabs(slope * ratio));
    QPRelu prelu;
    prelu.rshift = numerics::PReluShift(largest);
    for (float slope : slopes) {
      prelu.slopes.push_back(numerics::PReluSlope(slope * ratio, prelu.rshift));
    }
    prelu.positive = PositiveSide(layer);
    prelu.clamp = {layer.y.qmin(), layer.y.qmax()};
    return prelu;
  }

  Op MakeRescale(const ByteLayer& layer, const ClampQ& clamp) const override {
    if (layer.x.is_s16() || layer.y.is_s16())
      return isa::RequantizeS16{.words = PositiveSide(layer), .clamp = clamp};
    return Requantize{PositiveSide(layer), clamp};
  }

 private:
  Op OfInt16(const BinaryLayer& layer) const {
    if (kResultIsBool[static_cast<size_t>(layer.op)]) {
      const numerics::UnitFactors units = numerics::UnitFactorsOf(
          layer.a.quant.scale, layer.b.quant.scale, numerics::kMostCompareShift);
      return isa::CompareS16{.op = layer.op, .factor = units.a, .factor2 = units.b};
    }
    const ClampQ clamp = Bounds(layer.clamp, layer.y);
    if (layer.op == BinaryOp::kMul)
      return isa::MulS16{.words = ProductWords(layer), .clamp = clamp};
    if (layer.op == BinaryOp::kMax || layer.op == BinaryOp::kMin)
      return isa::ExtremumS16{.min = layer.op == BinaryOp::kMin, .clamp = clamp};
    if (layer.op == BinaryOp::kDiv) {
      const double divisor =
          static_cast<double>(layer.b.quant.scale) * static_cast<double>(layer.y.quant.scale);
      const double ratio = static_cast<double>(layer.a.quant.scale) / divisor;
      return isa::DivS16{.words = numerics::QuotientInt16Words(ratio), .clamp = clamp};
    }
    if (layer.op == BinaryOp::kMod) {
      const numerics::UnitFactors units = numerics::UnitFactorsOf(
          layer.a.quant.scale, layer.b.quant.scale, numerics::kMostModShift);
      return isa::ModS16{.factor = units.a,
                         .factor2 = units.b,
                         .words = numerics::ModWords(units.exponent, layer.y.quant.scale),
                         .clamp = clamp};
    }
    if (layer.op == BinaryOp::kPow) {
      const numerics::PowWords words =
          numerics::PowWordsOf(layer.a.quant.scale, layer.b.quant.scale, layer.y.quant.scale);
      QPowS16 pow;
      pow.words = {words.multiplier, words.rshift};
      pow.log_src = words.log_a;
      pow.log_dst = words.log_y;
      pow.clamp = clamp;
      pow.entries = numerics::PowTable();
      return pow;
    }
    const numerics::SumFactors factors =
        numerics::SumInt16Factors(Ratio(layer.a, layer.y), Ratio(layer.b, layer.y));
    const int32_t sign = layer.op == BinaryOp::kSub ? -1 : 1;
    return isa::AddS16{.multiplier = factors.multiplier_a,
                       .multiplier2 = sign * factors.multiplier_b,
                       .rshift = factors.rshift,
                       .clamp = clamp};
  }

  Op Sum(const BinaryLayer& layer) const {
    numerics::AddFactors factors;
    if (layer.mode == QuantMode::kSymmetric) {
      factors =
          numerics::AddMultipliers(Ratio(layer.a, layer.y), Ratio(layer.b, layer.y),
                                   layer.a.magnitude(), layer.b.magnitude(), layer.multiplier_bits);
    }
    return WithFactors(Bounds(layer.clamp, layer.y), factors, 1);
  }

  // There is no float form of a difference: the integer one serves both modes. Ratios too large for
  // 8 bits take 16; beyond those both are taken down together: what then is not 0 saturates.
  Op Difference(const BinaryLayer& layer) const {
    double a = Ratio(layer.a, layer.y), b = Ratio(layer.b, layer.y);
    const int32_t reach_a = Reach(layer.a), reach_b = Reach(layer.b);
    numerics::AddFactors factors =
        numerics::AddMultipliers(a, b, reach_a, reach_b, layer.multiplier_bits);
    if (!factors.ok) {
      const double excess = std::max(1.0, std::max(a, b) / 32766.0);
      factors = numerics::AddMultipliers(a / excess, b / excess, reach_a, reach_b, 16);
    }
    return WithFactors(Bounds(layer.clamp, layer.y), factors, -1);
  }

  static SoftmaxForm SoftmaxBy(SoftmaxArithmetic arithmetic, const IntType& x, const IntType& y) {
    QSoftmax softmax;
    softmax.arithmetic = arithmetic;
    softmax.entries = numerics::QuotientSoftmaxTable(x.quant.scale);
    softmax.clamp = {y.qmin(), y.qmax()};
    return {softmax, y};
  }

  static int32_t Reach(const IntType& type) {
    return std::max(type.qmax() - type.quant.zero_point, type.quant.zero_point - type.qmin());
  }

  static RequantWords ProductWords(const BinaryLayer& layer) {
    return numerics::AccumulatorMultiplier(static_cast<double>(layer.a.quant.scale) *
                                           static_cast<double>(layer.b.quant.scale) /
                                           static_cast<double>(layer.y.quant.scale));
  }

  isa::Mul Product(const BinaryLayer& layer) const {
    return {ProductWords(layer), Bounds(layer.clamp, layer.y)};
  }
};

}  // namespace

const Arithmetic& TpuArithmetic() {
  static const Tpu tpu;
  return tpu;
}

}  // namespace rshift
