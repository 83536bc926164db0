// ascend: AscendQuant, an integer convolution, AscendDequant to fp16, bias and relu in fp16. All
// other operators are fp16's. NUMERICS.md, profile ascend.
#include "quantize/numerics/ascend.h"

#include <algorithm>
#include <cmath>
#include <map>
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
    case Variant::kRound:
    case Variant::kHalf:
      return RealRounding::kEven;
    default:
      Fail(ErrorCode::kInternal, Name(variant), " is no variant of ascend");
  }
}

bool FitsHalf(float scale) { return scale >= numerics::kHalfMin && scale <= numerics::kHalfMax; }

class Ascend final : public Arithmetic {
 public:
  explicit Ascend(Variant variant) : variant_(variant), rounding_(RoundingOf(variant)) {}

  bool HasBinary(BinaryOp) const override { return false; }
  bool HasPool(const AveragePool&) const override { return false; }
  bool HalfResults() const override { return true; }

  // AscendQuant gives s8 only.
  IntType ActivationType(const ValueRange& range, QuantMode mode) const override {
    if (mode == QuantMode::kAsymmetric) return TypeOfRange(range, mode);
    return {DType::kS8, {numerics::SymmetricParams(range.threshold, true).scale, 0}};
  }
  Quantize InputForm(const IntType& type) const override { return {.rounding = RoundMode(type)}; }
  std::optional<numerics::AscendScale> InputScale(const IntType& type) const override {
    return QuantScale(type);
  }

  int32_t Constant(float value, const IntType& type) const override {
    return numerics::QuantizeHalf(numerics::RoundToHalf(value), Epilogue(type), type.qmin(),
                                  type.qmax());
  }

  // y: bytes, where AscendQuant reads the result and nobody else; else the fp16 result itself.
  LinearForm Linear(const LinearLayer& layer) const override {
    LinearForm form;
    form.rounding = Rounding::kHalfFloat;
    form.float_bias = !layer.ascend.int32_bias;
    const bool real = layer.y.dtype == DType::kF32;
    if (real) {
      form.half.quant_scale = 0;
      form.clamp = {0, 0};
    } else {
      form.half = Epilogue(layer.y);
      form.clamp = Bounds(layer.clamp, layer.y);
    }
    form.half.relu = layer.clamp.lo == 0.0f;
    form.half.relu_flag = layer.ascend.relu_flag;
    return form;
  }

  // deq_scale = S_x S_w; the bias in fp16 unless it is the convolution's.
  RequantWords Words(const LinearLayer& layer, float scale_w, float bias) const override {
    const float scale = layer.x.quant.scale * scale_w;
    if (layer.ascend.int32_bias) return {numerics::FloatToWord(scale), 0};
    const float half = numerics::RoundToHalf(bias);
    RSHIFT_REQUIRE(std::isfinite(half), ErrorCode::kInvalidInput, "profile ascend: a bias is ",
                   bias,
                   ", which no fp16 holds; make it the convolution's (--config, ascend: {bias: "
                   "int32}) or keep the layer in F32 (mode: f32)");
    return {numerics::FloatToWord(scale), numerics::FloatToWord(half)};
  }

  // sqrt_mode and the type of deq_scale, which all channels share.
  void Complete(const LinearLayer& layer, QLinear* linear) const override {
    std::vector<ChannelRequant>* channels = &linear->channels;
    const bool half = layer.ascend.half_scale;
    bool root = half && std::any_of(channels->begin(), channels->end(), [](const auto& channel) {
                  const float scale = numerics::WordToFloat(channel.multiplier);
                  return scale != 0 && !FitsHalf(scale);
                });
    root = layer.ascend.sqrt_mode.value_or(root);
    linear->half.sqrt_dequant = root;
    if (!half && !root) return;
    for (ChannelRequant& channel : *channels) {
      const float given = numerics::WordToFloat(channel.multiplier);
      float scale = root ? std::sqrt(given) : given;
      RSHIFT_REQUIRE(!half || scale == 0 || FitsHalf(scale), ErrorCode::kInvalidInput,
                     "Ascend: deq_scale ", given, root ? " and its square root are" : " is",
                     " outside float16's [2^-14, 65504]",
                     root ? "; use deq_scale_type: uint64" : "; use deq_sqrt_mode: true");
      if (half) scale = numerics::AttributeInHalf(scale);
      channel.multiplier = numerics::FloatToWord(scale);
    }
  }

  Op MakeBinary(const BinaryLayer&) const override {
    Fail(ErrorCode::kInternal, "profile ascend has no integer arithmetic of two tensors");
  }
  PoolForm MakePool(const PoolLayer&) const override {
    Fail(ErrorCode::kInternal, "profile ascend has no integer AveragePool");
  }

 private:
  RealRounding RoundMode(const IntType& type) const {
    return type.ascend.round_mode.value_or(rounding_);
  }

  numerics::AscendScale QuantScale(const IntType& type) const {
    const float scale = type.ascend.scale > 0
                            ? type.ascend.scale
                            : static_cast<float>(1.0 / static_cast<double>(type.quant.scale));
    const bool half = type.ascend.half_scale.value_or(variant_ == Variant::kHalf);
    numerics::AscendScale made{scale, false};
    if (type.ascend.sqrt_mode.value_or(false)) {
      made = {std::sqrt(scale), true};
    } else if (half && !type.ascend.sqrt_mode) {
      made = numerics::MakeAscendScale(scale);
    }
    RSHIFT_REQUIRE(!half || FitsHalf(made.value), ErrorCode::kInvalidInput, "Ascend: scale ", scale,
                   made.sqrt_mode ? " and its square root are" : " is",
                   " outside float16's [2^-14, 65504]",
                   made.sqrt_mode ? "; use scale_type: float32" : "; use sqrt_mode: true");
    if (half) made.value = numerics::AttributeInHalf(made.value);
    return made;
  }

  HalfEpilogue Epilogue(const IntType& y) const {
    const numerics::AscendScale scale = QuantScale(y);
    HalfEpilogue epilogue;
    epilogue.quant_scale = scale.value;
    epilogue.sqrt_quant = scale.sqrt_mode;
    epilogue.quant_offset = static_cast<float>(y.quant.zero_point);
    epilogue.mode = RoundMode(y);
    return epilogue;
  }

  Variant variant_;
  RealRounding rounding_;
};

}  // namespace

const Arithmetic& AscendArithmetic(Variant variant) {
  static const std::map<Variant, Ascend> all = [] {
    std::map<Variant, Ascend> made;
    for (int i = 0; i < kVariantCount; ++i) {
      const auto one = static_cast<Variant>(i);
      if (HasVariant(ProfileId::kAscend, one)) made.try_emplace(one, one);
    }
    return made;
  }();
  const auto found = all.find(variant);
  RSHIFT_REQUIRE(found != all.end(), ErrorCode::kInternal, Name(variant),
                 " is no variant of ascend");
  return found->second;
}

}  // namespace rshift
