#include "quantize/ops/operand.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "quantize/numerics/qparams.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

void RequireFinite(const Node& node, const std::string& constant, std::span<const float> numbers) {
  for (float v : numbers) {
    RSHIFT_REQUIRE(std::isfinite(v), ErrorCode::kInvalidInput, node.name, ": constant '", constant,
                   "' holds ", v, ", expected finite numbers; repair the model");
  }
}

// A constant uses its own range to the full: its largest magnitude is 127, not 128.
IntType TypeOfConstant(std::span<const float> values, QuantMode mode) {
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  if (mode == QuantMode::kAsymmetric) {
    const QuantParams params = numerics::AsymmetricParams(*min, *max);
    return {DType::kS8, {params.scale, params.zero_point}};
  }
  const float largest = std::max(std::fabs(*min), std::fabs(*max));
  if (*min >= 0) return {DType::kU8, {numerics::SymmetricParams(largest, false).scale, 0}};
  return {DType::kS8, {numerics::WeightScale(largest), 0}};
}

// The integers of a QDQ model with one scale, u8 or s8; false: there are none.
bool TakeIntegers(const Value& value, std::vector<int8_t>* bytes, IntType* type) {
  const QuantizedOrigin* origin = value.origin.get();
  if (origin == nullptr || origin->scales.size() != 1) return false;
  if (origin->dtype != DType::kS8 && origin->dtype != DType::kU8) return false;
  const auto q = origin->integers->As<int8_t>();
  bytes->assign(q.begin(), q.end());
  const int32_t zero = origin->zero_points.empty() ? 0 : origin->zero_points[0];
  *type = {origin->dtype, {origin->scales[0], zero}};
  return true;
}

// Infinities of a sum (the mask of an attention) as numbers that take it out of its range.
std::vector<float> FiniteNumbers(Emitter& emitter, const Node& node, const Value& value) {
  const auto constant = value.constant->As<float>();
  std::vector<float> numbers(constant.begin(), constant.end());
  const auto* binary = std::get_if<Binary>(&node.op);
  const auto is_infinite = [](float v) { return std::isinf(v); };
  const bool sum =
      binary != nullptr && (binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub);
  if (sum && std::ranges::any_of(numbers, is_infinite)) {
    // Beyond the whole range of the result and of the other operand together.
    float scales = emitter.Type(node.outputs[0]).quant.scale;
    for (const ValueId id : node.inputs) {
      if (!emitter.old().value(id).is_constant()) scales += emitter.Type(id).quant.scale;
    }
    const float beyond = std::min(256 * scales, std::numeric_limits<float>::max());
    for (float& v : numbers) {
      if (std::isinf(v)) v = std::copysign(beyond, v);
    }
  }
  RequireFinite(node, value.name, numbers);
  return numbers;
}

Operand ConstantOperand(Emitter& emitter, const Node& node, const Value& value, const Value& y) {
  const auto [type, integers] = IntegersOf(emitter, node, value);
  return {AddOperandConstant(emitter, value, y, type, integers), type};
}

}  // namespace

void RequireFinite(const Node& node, const Value& value) {
  RequireFinite(node, value.name, value.constant->As<float>());
}

ConstantIntegers IntegersOf(Emitter& emitter, const Node& node, const Value& value) {
  const std::vector<float> values = FiniteNumbers(emitter, node, value);
  ConstantIntegers result;
  if (TakeIntegers(value, &result.bytes, &result.type)) return result;
  result.type = TypeOfConstant(values, emitter.options().mode);
  for (float v : values) {
    result.bytes.push_back(static_cast<int8_t>(RulesOf(emitter).Constant(v, result.type)));
  }
  return result;
}

ValueId AddOperandConstant(Emitter& emitter, const Value& value, const Value& y,
                           const IntType& type, std::span<const int8_t> bytes) {
  Shape shape(y.shape.size() - value.shape.size(), 1);
  shape.insert(shape.end(), value.shape.begin(), value.shape.end());
  return emitter.AddConstant(value.name + "__q", y.layout, shape, type, bytes);
}

ValueId ExpandOperand(Emitter& emitter, const Node& node, const Value& value, ValueId x,
                      const IntType& type) {
  if (value.shape == emitter.old().value(node.outputs[0]).shape) return x;
  const ValueId expanded = emitter.Temporary(node.outputs[0], "__operand", type);
  emitter.AddNode(node.name + "__expand", Expand{}, {x}, expanded);
  return expanded;
}

IntType Int16TypeOf(std::span<const float> reals) {
  float largest = 0;
  for (const float v : reals) largest = std::max(largest, std::fabs(v));
  return {DType::kS16, {numerics::ScaleOrOne(static_cast<double>(largest) / 32767.0), 0}};
}

std::vector<int16_t> ToInt16(const Emitter& emitter, std::span<const float> reals,
                             const IntType& type) {
  std::vector<int16_t> numbers;
  for (const float v : reals)
    numbers.push_back(static_cast<int16_t>(RulesOf(emitter).Constant(v, type)));
  return numbers;
}

Operand Int16Numbers(Emitter& emitter, const Node& node, const Value& value, const IntType& type,
                     std::span<const int16_t> numbers) {
  const Value& y = emitter.old().value(node.outputs[0]);
  Shape shape(y.shape.size() - value.shape.size(), 1);
  shape.insert(shape.end(), value.shape.begin(), value.shape.end());
  size_t d = 0;
  while (d < shape.size() && shape[d] == 1) ++d;
  bool repeats = true;
  for (; d < shape.size(); ++d) repeats = repeats && shape[d] == y.shape[d];
  const ValueId constant = emitter.AddConstant(value.name + "__q", y.layout, shape, type, numbers);
  if (repeats) return {constant, type};
  const ValueId expanded = emitter.Temporary(node.outputs[0], "__operand", type);
  emitter.AddNode(node.name + "__expand", Expand{}, {constant}, expanded);
  return {expanded, type};
}

bool IsInt16Constant(const Value& value) {
  const QuantizedOrigin* origin = value.origin.get();
  return origin != nullptr && origin->dtype == DType::kS16 && origin->scales.size() == 1 &&
         (origin->zero_points.empty() || origin->zero_points[0] == 0);
}

Operand OwnInt16(Emitter& emitter, const Node& node, const Value& value) {
  const IntType type{DType::kS16, {value.origin->scales[0], 0}};
  return Int16Numbers(emitter, node, value, type, value.origin->integers->As<int16_t>());
}

Operand MakeOperand(Emitter& emitter, const Node& node, ValueId old_id) {
  const Value& value = emitter.old().value(old_id);
  const Value& y = emitter.old().value(node.outputs[0]);
  if (value.is_constant()) return ConstantOperand(emitter, node, value, y);
  const IntType type = emitter.Type(old_id);
  return {ExpandOperand(emitter, node, value, emitter.Int(old_id), type), type};
}

}  // namespace rshift
