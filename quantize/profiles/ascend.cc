// ascend: AscendDequant to fp16, bias and relu in fp16, AscendQuant. NUMERICS.md, profile ascend.
#include "quantize/numerics/ascend.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/qparams.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

RealRounding RoundingOf(Variant variant) {
  switch (variant) {
    case Variant::kAway:
      return RealRounding::kAway;
    case Variant::kFloor:
      return RealRounding::kFloor;
    case Variant::kCeil:
      return RealRounding::kCeil;
    case Variant::kTruncate:
      return RealRounding::kTruncate;
    case Variant::kByTable:
    case Variant::kD1:
    case Variant::kD2:
    case Variant::kF2:
    case Variant::kFp32:
    case Variant::kPrecise:
    case Variant::kHalf:
      break;
  }
  return RealRounding::kEven;
}

class Ascend final : public Arithmetic {
 public:
  explicit Ascend(Variant variant) : variant_(variant), rounding_(RoundingOf(variant)) {}

  // The device quantizes convolutions and full connections alone; the rest is F32 here.
  bool HasBinary(BinaryOp) const override { return false; }
  bool HasPool(const AveragePool&) const override { return false; }

  // AscendQuant gives s8 only.
  IntType ActivationType(const ValueRange& range, QuantMode mode) const override {
    if (mode == QuantMode::kAsymmetric) return TypeOfRange(range, mode);
    return {DType::kS8, {numerics::SymmetricParams(range.threshold, true).scale, 0}};
  }
  Quantize InputForm() const override { return {.rounding = rounding_}; }
  std::optional<numerics::AscendScale> InputScale(const IntType& type) const override {
    const HalfEpilogue epilogue = Epilogue(type);
    return numerics::AscendScale{epilogue.quant_scale, epilogue.sqrt_quant};
  }

  int32_t Constant(float value, const IntType& type) const override {
    return Quant(numerics::RoundToHalf(value), type);
  }

  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.rounding = Rounding::kHalfFloat;
    form.float_bias = true;
    form.half = Epilogue(layer.y);
    form.half.relu = layer.clamp.lo == 0.0f;
    form.clamp = Bounds(layer.clamp, layer.y);
    return form;
  }

  // deq_scale = S_x S_w, always packed as f32; the bias in fp16.
  RequantWords Words(const LinearLayer& layer, float scale_w, float bias) const override {
    const float half = numerics::RoundToHalf(bias);
    RSHIFT_REQUIRE(std::isfinite(half), ErrorCode::kInvalidInput, "profile ascend: a bias is ",
                   bias, ", which no fp16 holds; keep the layer in F32 with --config");
    return {numerics::FloatToWord(layer.x.quant.scale * scale_w), numerics::FloatToWord(half)};
  }

  Op MakeBinary(const BinaryLayer&) const override {
    Fail(ErrorCode::kInternal, "profile ascend has no integer arithmetic of two tensors");
  }
  PoolForm MakePool(const PoolLayer&) const override {
    Fail(ErrorCode::kInternal, "profile ascend has no integer AveragePool");
  }

  // Dequantized to fp16, the function rounded to fp16, AscendQuant.
  QTable Table(const ByteLayer& layer,
               const std::function<double(double)>& function) const override {
    return TableOf(layer.x, [&](int32_t q) {
      const float x = numerics::RoundToHalf(
          numerics::DequantizeValue(q, layer.x.quant.scale, layer.x.quant.zero_point));
      const auto y = static_cast<float>(function(static_cast<double>(x)));
      return Quant(numerics::RoundToHalf(y), layer.y);
    });
  }

 private:
  HalfEpilogue Epilogue(const IntType& y) const {
    HalfEpilogue epilogue;
    epilogue.quant_scale = static_cast<float>(1.0 / static_cast<double>(y.quant.scale));
    epilogue.quant_offset = static_cast<float>(y.quant.zero_point);
    epilogue.mode = rounding_;
    if (variant_ == Variant::kHalf) {
      const numerics::AscendScale scale = numerics::MakeAscendScale(epilogue.quant_scale);
      epilogue.quant_scale = numerics::AttributeInHalf(scale.value);
      epilogue.sqrt_quant = scale.sqrt_mode;
    }
    return epilogue;
  }

  int32_t Quant(float half, const IntType& type) const {
    return numerics::QuantizeHalf(half, Epilogue(type), type.qmin(), type.qmax());
  }

  Variant variant_;
  RealRounding rounding_;
};

}  // namespace

const Arithmetic& AscendArithmetic(Variant variant) {
  static const std::vector<Ascend> all = [] {
    std::vector<Ascend> made;
    made.reserve(kVariantCount);
    for (int i = 0; i < kVariantCount; ++i) made.emplace_back(static_cast<Variant>(i));
    return made;
  }();
  return all[static_cast<size_t>(variant)];
}

}  // namespace rshift
