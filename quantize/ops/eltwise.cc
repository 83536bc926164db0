// Addition of two tensors; any function of a tensor and one constant number as a table.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "quantize/numerics/add.h"
#include "quantize/numerics/qparams.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

bool IsScalarConstant(const Value& value) {
  return value.is_constant() && value.dtype == DType::kF32 && NumElements(value.shape) == 1;
}

// The operand that is one constant number, if there is one: 0, 1 or -1.
int ScalarOperand(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.outputs[0]).shape;
  for (int i = 0; i < 2; ++i) {
    const Value& other = graph.value(node.inputs[1 - i]);
    if (IsScalarConstant(graph.value(node.inputs[i])) && !other.is_constant() &&
        other.shape == shape) {
      return i;
    }
  }
  return -1;
}

double Apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kPow:
      return std::pow(a, b);
    case BinaryOp::kMin:
      return std::fmin(a, b);
    case BinaryOp::kMax:
      return std::fmax(a, b);
    default:
      return std::nan("");  // SupportBinary() lets none of these through
  }
}

void EmitScalar(Emitter& emitter, const Node& node, const Binary& op, int scalar) {
  const double c = emitter.old().value(node.inputs[scalar]).constant->As<float>()[0];
  const double lo = op.clamp.lo, hi = op.clamp.hi;
  const auto function = [=, kind = op.op](double v) {
    const double y = scalar == 0 ? Apply(kind, c, v) : Apply(kind, v, c);
    return y < lo ? lo : y > hi ? hi : y;
  };
  EmitTable(emitter, node, node.inputs[1 - scalar], function);
}

struct Operand {
  ValueId id;
  IntType type;
};

// A constant uses its own range to the full: its largest magnitude is 127, not 128.
IntType TypeOfConstant(std::span<const float> values, QuantMode mode) {
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  if (mode == QuantMode::kAsymmetric) {
    const numerics::ScaleZero params = numerics::AsymmetricParams(*min, *max);
    return {DType::kS8, {params.scale, params.zero_point}};
  }
  const float largest = std::max(std::fabs(*min), std::fabs(*max));
  if (*min >= 0) return {DType::kU8, {numerics::SymmetricParams(largest, false).scale, 0}};
  return {DType::kS8, {numerics::WeightScale(largest), 0}};
}

// The constant spread out to `shape`, one byte an element.
Operand ConstantOperand(Emitter& emitter, const Node& node, const Value& value, const Value& y) {
  const auto values = value.constant->As<float>();
  for (float v : values) {
    Require(std::isfinite(v), ErrorCode::kInvalidInput, node.name, ": constant '", value.name,
            "' holds ", v, ", expected finite numbers; repair the model");
  }
  const IntType type = TypeOfConstant(values, emitter.options().mode);
  Shape padded(y.shape.size() - value.shape.size(), 1);
  padded.insert(padded.end(), value.shape.begin(), value.shape.end());
  Shape strides = Strides(padded);
  for (size_t d = 0; d < padded.size(); ++d) {
    if (padded[d] == 1) strides[d] = 0;
  }
  std::vector<int8_t> bytes;
  for (int64_t i = 0, count = NumElements(y.shape); i < count; ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = y.shape.size(); d-- > 0;) {
      at += rest % y.shape[d] * strides[d];
      rest /= y.shape[d];
    }
    bytes.push_back(static_cast<int8_t>(numerics::QuantizeValue(
        values[at], type.quant.scale, type.quant.zero_point, type.qmin(), type.qmax())));
  }
  return {emitter.AddConstant(value.name + "__q", y.layout, y.shape, type, bytes), type};
}

Operand MakeOperand(Emitter& emitter, const Node& node, ValueId old_id) {
  const Value& value = emitter.old().value(old_id);
  const Value& y = emitter.old().value(node.outputs[0]);
  if (value.is_constant()) return ConstantOperand(emitter, node, value, y);
  const IntType type = emitter.Type(old_id);
  const ValueId x = emitter.Int(old_id);
  if (value.shape == y.shape) return {x, type};
  const ValueId expanded = emitter.Temporary(node.outputs[0], "__operand", type);
  emitter.AddNode(node.name + "__expand", Expand{}, {x}, expanded);
  return {expanded, type};
}

}  // namespace

OpSupport SupportBinary(const Graph& graph, const Node& node, const Binary& op) {
  if (op.op <= BinaryOp::kMax && ScalarOperand(graph, node) >= 0) return {OpKind::kFunction, ""};
  if (op.op == BinaryOp::kAdd) return {OpKind::kFunction, ""};
  return {OpKind::kFloat, Cat(OpName(node.op), " of two tensors has no integer form")};
}

void EmitBinary(Emitter& emitter, const Node& node, const Binary& op) {
  if (const int scalar = ScalarOperand(emitter.old(), node); scalar >= 0) {
    EmitScalar(emitter, node, op, scalar);
    return;
  }
  const Operand a = MakeOperand(emitter, node, node.inputs[0]);
  const Operand b = MakeOperand(emitter, node, node.inputs[1]);
  const IntType y = emitter.Type(node.outputs[0]);
  QAdd add;
  add.clamp = QuantizeClamp(op.clamp, y);
  numerics::AddFactors factors;
  if (emitter.options().mode == QuantMode::kSymmetric) {
    const int bits =
        emitter.Layer(node).multiplier_bits.value_or(emitter.options().target.add_multiplier_bits);
    const auto ratio = [&](const Operand& operand) {
      return static_cast<double>(operand.type.quant.scale) / static_cast<double>(y.quant.scale);
    };
    factors =
        numerics::AddMultipliers(ratio(a), ratio(b), a.type.magnitude(), b.type.magnitude(), bits);
  }
  add.by_float = !factors.ok;
  add.multiplier_a = factors.multiplier_a;
  add.multiplier_b = factors.multiplier_b;
  add.rshift = factors.rshift;
  emitter.AddNode(node.name, add, {a.id, b.id}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
