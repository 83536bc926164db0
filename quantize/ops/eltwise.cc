// Operators on two tensors; any function of a tensor and one constant number as a table.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "quantize/numerics/table.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"

namespace rshift {

bool IsScalarConstant(const Value& value) {
  return value.is_constant() && value.dtype == DType::kF32 && NumElements(value.shape) == 1;
}

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

bool IsSumOrProduct(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kSub || op == BinaryOp::kMul;
}

std::function<double(double, double)> PairFunction(const Binary& op) {
  const double lo = op.clamp.lo, hi = op.clamp.hi;
  return [lo, hi, kind = op.op](double a, double b) {
    const double y = Evaluate(kind, a, b);
    return y < lo ? lo : y > hi ? hi : y;
  };
}

std::function<double(double)> ScalarFunction(const Graph& graph, const Node& node, const Binary& op,
                                             int scalar) {
  const double c = graph.value(node.inputs[scalar]).constant->As<float>()[0];
  return [c, scalar, f = PairFunction(op)](double v) { return scalar == 0 ? f(c, v) : f(v, c); };
}

namespace {

// By a table, where the profile has a rule of its own for a tensor and one number.
bool EmitIntegerScalar(Emitter& emitter, const Node& node, BinaryLayer layer, int scalar) {
  const Value& value = emitter.old().value(node.inputs[scalar]);
  const ConstantIntegers constant = IntegersOf(emitter, node, value);
  const ValueId old_x = node.inputs[1 - scalar];
  layer.a = scalar == 0 ? constant.type : emitter.Type(old_x);
  layer.b = scalar == 1 ? constant.type : emitter.Type(old_x);
  const int32_t q = numerics::ValueOfByte(static_cast<uint8_t>(constant.bytes[0]),
                                          constant.type.dtype == DType::kS8);
  const std::optional<QTable> table = RulesOf(emitter).MakeScalar(layer, q, scalar == 0);
  if (!table) return false;
  const ValueId x = emitter.Int(old_x);
  emitter.AddNode(node.name, *table, {x}, emitter.DefineInt(node.outputs[0]));
  return true;
}

// Of a table of pairs: a constant whose numbers bytes cannot tell apart.
bool HasManyNumbers(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return graph.value(id).is_constant() && !HasFewNumbers(graph.value(id));
  });
}

// May an operator of an activation and one number be a table of the activation's bytes?
bool IsFunctionOfByte(BinaryOp op) { return !kResultIsBool[static_cast<size_t>(op)]; }

}  // namespace

OpSupport SupportBinary(const Graph& graph, const Node& node, const Binary& op,
                        const Arithmetic& rules) {
  const bool scalar = IsFunctionOfByte(op.op) && ScalarOperand(graph, node) >= 0;
  if (scalar && rules.ScalarIsTable(op.op)) return {OpKind::kFunction, ""};
  if (kResultIsBool[static_cast<size_t>(op.op)]) return {OpKind::kMove, ""};
  if (rules.BinaryIsTable(op.op) && HasManyNumbers(graph, node))
    return {OpKind::kFloat, "its constant has more than 256 different numbers"};
  if (rules.HasBinary(op.op)) return {OpKind::kFunction, ""};
  return {OpKind::kFloat, Cat(OpName(node.op), " of two tensors has no integer form")};
}

void EmitBinary(Emitter& emitter, const Node& node, const Binary& op) {
  const Arithmetic& rules = RulesOf(emitter);
  const int scalar = ScalarOperand(emitter.old(), node);
  if (scalar >= 0 && IsFunctionOfByte(op.op) && rules.ScalarIsTable(op.op)) {
    const ValueId x = node.inputs[1 - scalar];
    EmitValueFunction(emitter, node, {x, ScalarFunction(emitter.old(), node, op, scalar)});
    return;
  }
  BinaryLayer layer;
  layer.op = op.op;
  if (kResultIsBool[static_cast<size_t>(op.op)]) {
    return EmitComparison(emitter, node, layer, scalar);
  }
  layer.y = emitter.Type(node.outputs[0]);
  layer.clamp = op.clamp;
  layer.mode = emitter.options().mode;
  layer.multiplier_bits =
      emitter.Layer(node).multiplier_bits.value_or(emitter.options().target.add_multiplier_bits);
  if (scalar >= 0 && EmitIntegerScalar(emitter, node, layer, scalar)) return;
  if (op.op == BinaryOp::kMax || op.op == BinaryOp::kMin) return EmitExtremum(emitter, node, layer);
  if (rules.BinaryIsTable(op.op) || !(IsSumOrProduct(op.op) || rules.RoundsConstants(op.op)))
    return EmitTwoOperands(emitter, node, layer);
  const Operand a = MakeOperand(emitter, node, node.inputs[0]);
  const Operand b = MakeOperand(emitter, node, node.inputs[1]);
  layer.a = a.type;
  layer.b = b.type;
  emitter.AddNode(node.name, rules.MakeBinary(layer), {a.id, b.id},
                  emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
