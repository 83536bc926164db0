// Max, Min, Div, Pow, Mod, comparisons of two tensors; Where; PRelu by a table of pairs.
#include "quantize/profiles/two_operands.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "quantize/numerics/quantize.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

// A constant of few different numbers: bytes that number them, so that none is rounded.
struct Listed {
  std::vector<int8_t> bytes;
  std::vector<double> reals;  // 256
};

std::optional<Listed> ListValues(std::span<const float> values) {
  std::map<float, int> numbers;
  for (const float v : values) numbers.emplace(v, 0);
  if (numbers.size() > 256) return {};
  Listed listed;
  for (auto& [value, number] : numbers) {
    number = static_cast<int>(listed.reals.size());
    listed.reals.push_back(static_cast<double>(value));
  }
  for (const float v : values) listed.bytes.push_back(static_cast<int8_t>(numbers[v]));
  listed.reals.resize(256, listed.reals.back());
  return listed;
}

Operand ListedOrInteger(Emitter& emitter, const Node& node, ValueId id,
                        std::vector<double>* reals) {
  const Value& value = emitter.old().value(id);
  if (!value.is_constant()) return MakeOperand(emitter, node, id);
  RequireFinite(node, value);
  std::optional<Listed> listed = ListValues(value.constant->As<float>());
  if (!listed) return MakeOperand(emitter, node, id);
  const IntType numbers{DType::kU8, {1.0f, 0}};
  const Value& y = emitter.old().value(node.outputs[0]);
  *reals = std::move(listed->reals);
  return {AddOperandConstant(emitter, value, y, numbers, listed->bytes), numbers};
}

ValueId ConstantLikeOutput(Emitter& emitter, const Node& node, const Value& value,
                           const IntType& type) {
  RequireFinite(node, value);
  std::vector<int8_t> bytes;
  for (const float v : value.constant->As<float>()) {
    bytes.push_back(static_cast<int8_t>(RulesOf(emitter).Constant(v, type)));
  }
  return AddOperandConstant(emitter, value, emitter.old().value(node.outputs[0]), type, bytes);
}

// An operand of Max or Min, in y's type.
ValueId LikeOutput(Emitter& emitter, const Node& node, ValueId id, const IntType& type) {
  const Value& value = emitter.old().value(id);
  if (value.is_constant()) return ConstantLikeOutput(emitter, node, value, type);
  return ExpandOperand(emitter, node, value, IntOfType(emitter, id, type), type);
}

// An activation and one number: a table of 256.
void EmitScalarComparison(Emitter& emitter, const Node& node, BinaryOp op, int scalar) {
  const float c = emitter.old().value(node.inputs[scalar]).constant->As<float>()[0];
  const ValueId old_x = node.inputs[1 - scalar];
  const IntType type = emitter.Type(old_x);
  const QTable table = TableOf(type, [&](int32_t q) {
    const float x = numerics::DequantizeValue(q, type.quant.scale, type.quant.zero_point);
    return Compare(op, scalar == 0 ? c : x, scalar == 0 ? x : c) ? 1 : 0;
  });
  const ValueId x = emitter.Int(old_x);
  emitter.AddNode(node.name, table, {x}, emitter.DefineFloat(node.outputs[0]));
}

}  // namespace

bool HasFewNumbers(const Value& value) {
  return ListValues(value.constant->As<float>()).has_value();
}

void EmitComparison(Emitter& emitter, const Node& node, BinaryLayer layer, int scalar) {
  if (scalar >= 0) return EmitScalarComparison(emitter, node, layer.op, scalar);
  const Operand a = ListedOrInteger(emitter, node, node.inputs[0], &layer.listed_a);
  const Operand b = ListedOrInteger(emitter, node, node.inputs[1], &layer.listed_b);
  layer.a = a.type;
  layer.b = b.type;
  emitter.AddNode(node.name, TableOfComparison(layer), {a.id, b.id},
                  emitter.DefineFloat(node.outputs[0]));
}

// Both branches in y's type, then bytes are chosen.
void EmitWhere(Emitter& emitter, const Node& node) {
  const IntType type = emitter.Type(node.outputs[0]);
  std::vector<ValueId> inputs = {emitter.Same(node.inputs[0])};
  for (size_t i = 1; i < 3; ++i) {
    const Value& value = emitter.old().value(node.inputs[i]);
    inputs.push_back(value.is_constant() ? ConstantLikeOutput(emitter, node, value, type)
                                         : IntOfType(emitter, node.inputs[i], type));
  }
  emitter.AddNode(node.name, Where{}, inputs, emitter.DefineInt(node.outputs[0]));
}

void EmitPReluOfPairs(Emitter& emitter, const Node& node) {
  BinaryLayer layer;
  const Operand a = MakeOperand(emitter, node, node.inputs[0]);
  const Arithmetic& rules = RulesOf(emitter);
  const Operand b = rules.RoundsSlopes()
                        ? MakeOperand(emitter, node, node.inputs[1])
                        : ListedOrInteger(emitter, node, node.inputs[1], &layer.listed_b);
  layer.a = a.type;
  layer.b = b.type;
  layer.y = emitter.Type(node.outputs[0]);
  const QBinaryTable table = rules.MakePReluOfPairs(layer);
  emitter.AddNode(node.name, table, {a.id, b.id}, emitter.DefineInt(node.outputs[0]));
}

void EmitExtremum(Emitter& emitter, const Node& node, BinaryLayer layer) {
  layer.a = layer.b = layer.y;
  const ValueId a = LikeOutput(emitter, node, node.inputs[0], layer.y);
  const ValueId b = LikeOutput(emitter, node, node.inputs[1], layer.y);
  const Op op = RulesOf(emitter).MakeBinary(layer);
  emitter.AddNode(node.name, op, {a, b}, emitter.DefineInt(node.outputs[0]));
}

void EmitTwoOperands(Emitter& emitter, const Node& node, BinaryLayer layer) {
  const Operand a = ListedOrInteger(emitter, node, node.inputs[0], &layer.listed_a);
  const Operand b = ListedOrInteger(emitter, node, node.inputs[1], &layer.listed_b);
  layer.a = a.type;
  layer.b = b.type;
  const Op op = RulesOf(emitter).MakeBinary(layer);
  emitter.AddNode(node.name, op, {a.id, b.id}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
