// What planning, the profiles and the emitter share: types of integer tensors and forms of nodes.
#ifndef RSHIFT_QUANTIZE_TYPES_H_
#define RSHIFT_QUANTIZE_TYPES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "isa/functions.h"
#include "quantize/ascend_attributes.h"
#include "quantize/ranges/ranges.h"

namespace rshift {

// Element type and parameters of an integer tensor.
struct IntType {
  DType dtype = DType::kS8;
  QuantParams quant;
  AscendQuantAttributes ascend{};  // of the AscendQuant that makes it; profile ascend
  // The ends that scale and zero point came from (graph.h), for profile openvino; null: unknown.
  std::shared_ptr<const LevelRanges> ranges{};
  // Zero points of the channels, where a depthwise convolution takes off one of each: NUMERICS.md
  // section 20. Null: quant's.
  std::shared_ptr<const std::vector<int32_t>> channel_zeros{};
  // ONNX Runtime computes with an s8 tensor as it is, not + 128 (section 13.6).
  bool keeps_sign = false;
  bool shifts_operands = false;  // Value's
  // Of integers below the zero point, where it is another than quant's: the byte between a product
  // and a function (quantize/ops/function_scales.h). 0: quant's.
  float negative_scale = 0;
  bool is_s16() const { return dtype == DType::kS16; }
  int32_t qmin() const { return dtype == DType::kU8 ? 0 : is_s16() ? -32768 : -128; }
  int32_t qmax() const { return dtype == DType::kU8 ? 255 : is_s16() ? 32767 : 127; }
  int32_t magnitude() const {  // largest |q|
    return dtype == DType::kU8 ? 255 : is_s16() ? 32768 : 128;
  }
  int32_t ZeroOf(int64_t channel) const {
    return channel_zeros == nullptr ? quant.zero_point
                                    : (*channel_zeros)[static_cast<size_t>(channel)];
  }
  // What the integer q stands for.
  double RealOf(int32_t q) const {
    const int32_t v = q - quant.zero_point;
    const float scale = v < 0 && negative_scale > 0 ? negative_scale : quant.scale;
    return static_cast<double>(scale) * v;
  }
  // The values that bytes stand for; `ranges`, `keeps_sign` and `shifts_operands` are no part of
  // that.
  friend bool operator==(const IntType& a, const IntType& b) {
    return a.dtype == b.dtype && a.quant == b.quant && a.ascend == b.ascend &&
           a.channel_zeros == b.channel_zeros && a.negative_scale == b.negative_scale;
  }
};
IntType TypeOfRange(const ValueRange& range, QuantMode mode);

// What is known of the values of the old graph, one entry each.
struct ValueTypes {
  std::vector<IntType> types;      // as integers; scale 0: never held as integers
  std::vector<bool> zero;          // calibration never saw anything but 0
  std::vector<std::string> names;  // of the integers, where it is not the value's own; else empty
  // Of 16 bits: what the nodes that can read it as (quantize/int16_plan.h). Scale 0: 8 bits alone.
  std::vector<IntType> int16 = {};
  std::vector<bool> reads_int16 = {};  // by node
};

// What the only reader of a convolution makes of its real result f: a function of it (post_op
// without its scale), the sum with a tensor of type `addend` (kSum), or a clamp (kClip: alpha,
// beta).
struct RealPostOp {
  PostOpKind kind = PostOpKind::kRelu;
  float alpha = 0, beta = 0;
  IntType addend;
  float scale = 1;  // of the function's result; of the addend
  // kChannelLinear, kChannelRelu: as in PostOp.
  std::vector<float> alphas{}, betas{};
  // kSum: of the FakeQuantize before it that does not round (SplitOptions).
  std::shared_ptr<const LevelRanges> before{};
};

// Which form each node gets (quantize/plan.h, quantize/qdq.h).
enum class NodeForm {
  kOther,  // does not touch f32 activations: copied as it is
  kFloat,  // runs in F32
  kInteger,
};

struct QuantizationPlan {
  std::vector<NodeForm> forms;       // by node
  std::vector<std::string> reasons;  // by node: why kFloat
};

// Whether the model holds its own quantization: QuantizeLinear, DequantizeLinear or FakeQuantize of
// activations.
bool HoldsQuantization(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_TYPES_H_
