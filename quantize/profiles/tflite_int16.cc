#include "quantize/profiles/tflite_int16.h"

#include <utility>

#include "base/error.h"
#include "quantize/numerics/double_scale.h"
#include "quantize/numerics/fixed_int16.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/tflite_int16.h"
#include "quantize/numerics/tflite_unary.h"

namespace rshift::tflite {
namespace {

// A table of 513 numbers where it gives the same results, else one number for each s16. `results`:
// of -32768 .. 32767.
QTableS16 TableOfResults(const std::vector<int16_t>& table, std::vector<int16_t> results) {
  QTableS16 made;
  made.clamp = {-32768, 32767};
  for (const int16_t entry : table)
    made.interpolated.push_back(int32_t{entry} << numerics::kTableFractionBits);
  for (size_t i = 0; i < results.size() && !made.interpolated.empty(); ++i) {
    const int32_t q = static_cast<int32_t>(i) - 32768;
    const int32_t line = numerics::InterpolateInt16(made.interpolated.data(),
                                                    numerics::kTableStepBits, q, 0, -32768, 32767);
    if (line != results[i]) made.interpolated.clear();
  }
  if (made.interpolated.empty()) made.entries = std::move(results);
  return made;
}

std::vector<int16_t> ResultsOf(const std::function<int32_t(int32_t)>& function) {
  std::vector<int16_t> results;
  for (int32_t q = -32768; q < 32768; ++q)
    results.push_back(static_cast<int16_t>(numerics::Clamp(function(q), -32768, 32767)));
  return results;
}

// Between the entries of LiteRT's table; a slope is held in 16 bits, modulo 2^16.
QTableS16 LookedUp(const std::vector<int16_t>& table) {
  return TableOfResults(
      table, ResultsOf([&](int32_t q) {
        const int32_t i = (q + 32768) >> 7, part = (q + 32768) & 127;
        const auto at = static_cast<size_t>(i);
        const auto slope = static_cast<int16_t>(table[at + 1] - table[at]);
        return int32_t{static_cast<int16_t>(table[at] + ((slope * part + 64) >> 7))};
      }));
}

// The functions that LiteRT has for int16 as such tables.
bool IsTable(UnaryOp op) {
  return op == UnaryOp::kExp || op == UnaryOp::kLog || op == UnaryOp::kRsqrt ||
         op == UnaryOp::kGelu || op == UnaryOp::kGeluTanh;
}

QTableS16 MakeTable(const IntType& x, const IntType& y, const Unary& op) {
  const auto range = numerics::TfLiteTableRangeOf<float>(x.quant.scale, 0, y.quant.scale);
  return LookedUp(numerics::TfLiteTable<float>(range, [&](float v) {
    if (op.op == UnaryOp::kLog && v <= 0) return range.y_min;
    if (op.op == UnaryOp::kRsqrt && v <= 0) return range.y_max;
    return static_cast<float>(Evaluate(op, static_cast<double>(v)));
  }));
}

bool IsLogistic(UnaryOp op) { return op == UnaryOp::kSigmoid || op == UnaryOp::kTanh; }

// Scales at which the optimised kernels shift their input, and compute in fixed point.
bool IsShifted(float scale, UnaryOp op) {
  return numerics::IsTfLitePower(scale, -12) ||
         (numerics::IsTfLitePower(scale, -11) && op == UnaryOp::kTanh);
}

QTableS16 MakeShiftedLogistic(const IntType& x, UnaryOp op) {
  const int32_t factor = numerics::IsTfLitePower(x.quant.scale, -12) ? 1 : 2;
  return TableOfResults({}, ResultsOf([&](int32_t q) {
                          const int32_t a = numerics::fixed16::Held(q * factor);
                          return op == UnaryOp::kTanh ? numerics::fixed16::Tanh(a)
                                                      : numerics::fixed16::Logistic(a);
                        }));
}

QTableS16 MakeLogistic(const IntType& x, UnaryOp op) {
  const auto table = numerics::TfLiteLogisticTable();
  const auto input = numerics::TfLiteLogisticInputOf(x.quant.scale, op == UnaryOp::kTanh);
  return TableOfResults({}, ResultsOf([&](int32_t q) {
                          return op == UnaryOp::kTanh
                                     ? numerics::TfLiteTanhInt16(table, q, input)
                                     : numerics::TfLiteLogisticInt16(table, q, input);
                        }));
}

class Int16 final : public ModelInt16Rules {
 public:
  explicit Int16(bool optimised) : optimised_(optimised) {}

  bool HasNarrowSums() const override { return optimised_; }

  std::string WhyNot(const Unary& op, const IntType& x, const IntType& y) const override {
    if (IsTable(op.op) || op.op == UnaryOp::kAbs || op.op == UnaryOp::kSqrt) return "";
    if (op.op == UnaryOp::kNeg)
      return x == y ? "" : "LiteRT negates 16-bit integers without changing their scale";
    if (!IsLogistic(op.op)) return "LiteRT has no 16-bit form of it";
    if (y.quant.scale != 0x1p-15f) return "the scale of its 16-bit result is not 1/32768";
    const float scale = x.quant.scale;
    if (static_cast<double>(scale) > numerics::kMostTfLiteLogisticScale)
      return Cat("the scale of its 16-bit input is ", scale, ", more than LiteRT takes");
    return "";
  }

  QTableS16 MakeUnary(const IntType& x, const IntType& y, const Unary& op) const override {
    if (IsTable(op.op)) return MakeTable(x, y, op);
    if (IsLogistic(op.op) && optimised_ && IsShifted(x.quant.scale, op.op))
      return MakeShiftedLogistic(x, op.op);
    if (IsLogistic(op.op)) return MakeLogistic(x, op.op);
    if (op.op == UnaryOp::kNeg)
      return TableOfResults({}, ResultsOf([](int32_t q) { return q == -32768 ? q : -q; }));
    if (op.op == UnaryOp::kSqrt)
      return TableOfResults({}, ResultsOf([&](int32_t q) {
                              return numerics::TfLiteSqrt(q, x.quant.scale, y.quant.scale);
                            }));
    const float ratio = x.quant.scale / y.quant.scale;
    const RequantWords m = numerics::TfLiteMultiplier(static_cast<double>(ratio));
    return TableOfResults({}, ResultsOf([&](int32_t q) {
                            const int32_t v = q < 0 ? -q : q;
                            if (x == y) return v;
                            return numerics::MultiplyTwoStep(v, m.multiplier, m.rshift);
                          }));
  }

  QTableS16 MakeLeakyRelu(const IntType& x, const IntType& y, float alpha) const override {
    return TableOfResults({}, ResultsOf([&](int32_t q) {
                            return numerics::TfLiteLeakyRelu(q, x.quant.scale, alpha,
                                                             y.quant.scale);
                          }));
  }

  isa::AveragePoolS16 MakePool() const override {
    isa::AveragePoolS16 pool;
    pool.words = {1, 0};
    pool.clamp = {-32768, 32767};
    pool.rounding = Rounding::kHalfAway;
    return pool;
  }

  isa::AveragePoolS16 MakeMean(const IntType& x, const IntType& y, int64_t n) const override {
    isa::AveragePoolS16 pool;
    pool.words = numerics::TfLiteReferenceMean(x.quant.scale, y.quant.scale, n);
    if (pool.words.multiplier == 0) pool.words = {1, 62};  // every sum rounds to 0
    pool.clamp = {-32768, 32767};
    pool.rounding = Rounding::kTwoStep;
    return pool;
  }

  QSoftmaxS16 MakeSoftmax(const IntType& x) const override {
    QSoftmaxS16 softmax;
    softmax.words = numerics::TfLiteSoftmaxWords(x.quant.scale);
    softmax.entries = numerics::TfLiteSoftmaxTables();
    return softmax;
  }

  isa::BatchedMatMulS16 MakeBatchedMatMul(const IntType& a, const IntType& b,
                                          const IntType& y) const override {
    const double scale = numerics::TfLiteScaleProduct(a.quant.scale, b.quant.scale, y.quant.scale);
    return {.words = numerics::TfLiteWideMultiplier(scale), .clamp = {-32768, 32767}};
  }

 private:
  bool optimised_;
};

bool IsNarrow(const LinearLayer& layer, bool optimised) {
  return layer.kind == LinearKind::kFullyConnected && !layer.has_bias && optimised;
}

}  // namespace

const ModelInt16Rules& Int16Rules(bool optimised) {
  static const Int16 kReference(false), kOptimised(true);
  return optimised ? kOptimised : kReference;
}

Rounding Int16RoundingOf(const LinearLayer& layer, bool optimised) {
  if (layer.kind != LinearKind::kFullyConnected) return Rounding::kHalfUp;
  return IsNarrow(layer, optimised) ? Rounding::kTwoStepUp : Rounding::kDoubleAway;
}

RequantWords Int16WordsOf(const LinearLayer& layer, float scale_w, bool optimised) {
  const float x = layer.x.quant.scale, y = layer.y.quant.scale;
  const double scale = numerics::TfLiteScaleDouble(x, scale_w, y);
  if (layer.kind != LinearKind::kFullyConnected) return numerics::TfLiteWideMultiplier(scale);
  if (!IsNarrow(layer, optimised)) return {numerics::UpperWord(scale), numerics::LowerWord(scale)};
  return numerics::TfLiteMultiplier(
      layer.per_channel ? scale : numerics::TfLiteScaleProduct(x, scale_w, y));
}

Op Int16Binary(const BinaryLayer& layer, const ClampQ& clamp) {
  const float a = layer.a.quant.scale, b = layer.b.quant.scale, y = layer.y.quant.scale;
  if (layer.op == BinaryOp::kMul) {
    return isa::MulS16{
        .words = numerics::TfLiteMul(a, b, y), .clamp = clamp, .rounding = Rounding::kTwoStep};
  }
  if (layer.op == BinaryOp::kMax || layer.op == BinaryOp::kMin)
    return isa::ExtremumS16{.min = layer.op == BinaryOp::kMin, .clamp = clamp};
  const bool subtract = layer.op == BinaryOp::kSub;
  const numerics::ShiftedSumWords w = layer.y.shifts_operands
                                          ? numerics::TfLiteShiftedSumInt16(a, b, y, subtract)
                                          : numerics::TfLiteSumInt16(a, b, y, subtract);
  return isa::AddShiftedS16{.words = w.a,
                            .words2 = w.b,
                            .words3 = w.y,
                            .left_shift = w.left_shift,
                            .clamp = clamp,
                            .subtract = subtract};
}

Op Int16Rescale(const ByteLayer& layer, const ClampQ& clamp, bool lone_clip) {
  isa::RequantizeS16 rescale{.words = {}, .clamp = clamp, .rounding = Rounding::kTwoStep};
  if (layer.x == layer.y) return rescale;
  const float x = layer.x.quant.scale, y = layer.y.quant.scale;
  const double scale =
      lone_clip ? static_cast<double>(x / y) : static_cast<double>(x) / static_cast<double>(y);
  rescale.words = numerics::TfLiteMultiplier(scale);
  if (rescale.words.multiplier == 0) rescale.words = {1 << 30, 62};  // every number rounds to 0
  return rescale;
}

}  // namespace rshift::tflite
