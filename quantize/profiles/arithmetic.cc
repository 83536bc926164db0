#include "quantize/profiles/arithmetic.h"

#include "base/error.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/table.h"

namespace rshift {

IntType Arithmetic::ActivationType(const ValueRange& range, QuantMode mode) const {
  return TypeOfRange(range, mode);
}

int32_t Arithmetic::Constant(float value, const IntType& type) const {
  return numerics::QuantizeValue(value, type.quant.scale, type.quant.zero_point, type.qmin(),
                                 type.qmax());
}

ClampQ Arithmetic::Bounds(const Clamp& clamp, const IntType& type) const {
  return {Constant(clamp.lo, type), Constant(clamp.hi, type)};
}

isa::Product Arithmetic::MakeProduct(const IntType&, const IntType&, int64_t) const {
  Fail(ErrorCode::kInternal, "this profile has no integer product of many elements");
}

SoftmaxForm Arithmetic::MakeSoftmax(const IntType&, const IntType&, int64_t) const {
  Fail(ErrorCode::kInternal, "this profile has no integer Softmax");
}

SoftmaxForm Arithmetic::MakeLogSoftmax(const IntType&, const IntType&) const {
  Fail(ErrorCode::kInternal, "this profile has no integer LogSoftmax");
}

isa::BatchedMatMul Arithmetic::MakeBatchedMatMul(const BatchedMatMulLayer&) const {
  Fail(ErrorCode::kInternal, "this profile has no integer product of two activations");
}

isa::BatchedMatMulS16 Arithmetic::MakeBatchedMatMulS16(const BatchedMatMulLayer&, int64_t) const {
  Fail(ErrorCode::kInternal, "this profile has no 16-bit product of two activations");
}

QQuotientSoftmaxS16 Arithmetic::MakeSoftmaxS16(const IntType&, const IntType&, bool) const {
  Fail(ErrorCode::kInternal, "this profile has no Softmax of 16-bit integers");
}

QNormalize Arithmetic::MakeNormalize(const NormalizeLayer&) const {
  Fail(ErrorCode::kInternal, "this profile has no integer normalization");
}

Op Arithmetic::MakePRelu(const ByteLayer&, std::span<const float>) const {
  Fail(ErrorCode::kInternal, "this profile has no integer PRelu");
}

QTable Arithmetic::Table(const ByteLayer& layer,
                         const std::function<double(double)>& function) const {
  return TableOf(layer.x, [&](int32_t q) {
    const float real = numerics::DequantizeValue(q, layer.x.quant.scale, layer.x.quant.zero_point);
    const auto value = static_cast<float>(function(static_cast<double>(real)));
    return numerics::QuantizeValue(value, layer.y.quant.scale, layer.y.quant.zero_point,
                                   layer.y.qmin(), layer.y.qmax());
  });
}

Op Arithmetic::MakeLeakyRelu(const ByteLayer& layer, double alpha) const {
  return Table(layer, [alpha](double v) { return v >= 0 ? v : alpha * v; });
}

QTable Arithmetic::MakeUnary(const ByteLayer& layer, const Unary& op) const {
  return Table(layer, [&op](double v) { return Evaluate(op, v); });
}

Op Arithmetic::MakeRescale(const ByteLayer& layer, const ClampQ& clamp) const {
  if (layer.x == layer.y) return Requantize{{}, clamp};
  QTable table = Table(layer, [](double v) { return v; });
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t q = numerics::ValueOfByte(table.entries[byte], layer.y.dtype == DType::kS8);
    table.entries[byte] = static_cast<uint8_t>(numerics::Clamp(q, clamp.lo, clamp.hi));
  }
  return table;
}

Op Arithmetic::MakeClip(const ByteLayer& layer, const ClampQ& clamp) const {
  return MakeRescale(layer, clamp);
}

Op Arithmetic::MakeConcatPart(const ByteLayer& layer) const {
  return MakeRescale(layer, {layer.y.qmin(), layer.y.qmax()});
}

// One rounding, times 1 / n for a mean.
isa::AveragePool Arithmetic::MakeReduction(const ReductionLayer& layer) const {
  isa::AveragePool pool;
  pool.arithmetic = PoolArithmetic::kRequantize;
  pool.words = numerics::AccumulatorMultiplier(
      static_cast<double>(layer.x.quant.scale) / static_cast<double>(layer.y.quant.scale) /
      (layer.mean ? static_cast<double>(layer.rows) : 1.0));
  pool.clamp = {layer.y.qmin(), layer.y.qmax()};
  return pool;
}

QBinaryTable Arithmetic::MakePReluOfPairs(const BinaryLayer&) const {
  Fail(ErrorCode::kInternal, "this profile has no PRelu of pairs of bytes");
}

QTable TableOf(const IntType& x, const std::function<int32_t(int32_t)>& entry) {
  QTable table;
  for (int byte = 0; byte < 256; ++byte) {
    table.entries[byte] =
        static_cast<uint8_t>(entry(numerics::ValueOfByte(byte, x.dtype == DType::kS8)));
  }
  return table;
}

const Arithmetic& ArithmeticOf(const Profile& profile) {
  switch (profile.id) {
    case ProfileId::kTpu:
      return TpuArithmetic();
    case ProfileId::kTfLite:
    case ProfileId::kTfLiteRef:
    case ProfileId::kTfLiteRuy:
    case ProfileId::kTfLiteXnnpack:
      return TfLiteArithmetic(profile);
    case ProfileId::kOnnxRuntime:
      return OnnxRuntimeArithmetic();
    case ProfileId::kCaffe2:
      return Caffe2Arithmetic(profile.variant);
    case ProfileId::kOneDnn:
      return OneDnnArithmetic();
    case ProfileId::kOpenVino:
      return OpenVinoArithmetic();
    case ProfileId::kAscend:
      return AscendArithmetic(profile.variant);
  }
  Fail(ErrorCode::kInternal, "profile ", static_cast<int>(profile.id), " does not exist");
}

}  // namespace rshift
