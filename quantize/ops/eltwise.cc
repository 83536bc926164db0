// Add, Sub, Mul of two tensors; any function of a tensor and one constant number as a table.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "quantize/numerics/qparams.h"
#include "quantize/numerics/table.h"
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

// By BinaryOp: what a table of one operand's bytes holds; null where no table is made.
using RealFunction = double (*)(double, double);
namespace reals {
constexpr RealFunction Add = [](double a, double b) { return a + b; };
constexpr RealFunction Sub = [](double a, double b) { return a - b; };
constexpr RealFunction Mul = [](double a, double b) { return a * b; };
constexpr RealFunction Div = [](double a, double b) { return a / b; };
constexpr RealFunction Pow = [](double a, double b) { return std::pow(a, b); };
constexpr RealFunction Min = [](double a, double b) { return std::fmin(a, b); };
constexpr RealFunction Max = [](double a, double b) { return std::fmax(a, b); };
constexpr RealFunction Mod = nullptr, Equal = nullptr, Less = nullptr, LessOrEqual = nullptr,
                       Greater = nullptr, GreaterOrEqual = nullptr, And = nullptr, Or = nullptr,
                       Xor = nullptr;
}  // namespace reals
constexpr RealFunction kRealFunctions[] = {
#define RSHIFT_BINARY(id, name, ...) reals::name,
#include "isa/functions.def"
};

RealFunction FunctionOf(BinaryOp op) { return kRealFunctions[static_cast<size_t>(op)]; }

void EmitScalar(Emitter& emitter, const Node& node, const Binary& op, int scalar) {
  const double c = emitter.old().value(node.inputs[scalar]).constant->As<float>()[0];
  const double lo = op.clamp.lo, hi = op.clamp.hi;
  const auto function = [=, apply = FunctionOf(op.op)](double v) {
    const double y = scalar == 0 ? apply(c, v) : apply(v, c);
    return y < lo ? lo : y > hi ? hi : y;
  };
  const ValueId x = node.inputs[1 - scalar];
  const ByteLayer layer{emitter.Type(x), emitter.Type(node.outputs[0])};
  const QTable table = RulesOf(emitter).Table(layer, function);
  const ValueId input = emitter.Int(x);
  emitter.AddNode(node.name, table, {input}, emitter.DefineInt(node.outputs[0]));
}

struct Operand {
  ValueId id;
  IntType type;
};

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

}  // namespace

ConstantIntegers IntegersOf(Emitter& emitter, const Node& node, const Value& value) {
  const auto values = value.constant->As<float>();
  for (float v : values) {
    RSHIFT_REQUIRE(std::isfinite(v), ErrorCode::kInvalidInput, node.name, ": constant '",
                   value.name, "' holds ", v, ", expected finite numbers; repair the model");
  }
  ConstantIntegers result;
  if (TakeIntegers(value, &result.bytes, &result.type)) return result;
  result.type = TypeOfConstant(values, emitter.options().mode);
  for (float v : values) {
    result.bytes.push_back(static_cast<int8_t>(RulesOf(emitter).Constant(v, result.type)));
  }
  return result;
}

namespace {

// The constant in its own shape: what smaller ones meet, the command broadcasts them to.
Operand ConstantOperand(Emitter& emitter, const Node& node, const Value& value, const Value& y) {
  const auto [type, integers] = IntegersOf(emitter, node, value);
  Shape shape(y.shape.size() - value.shape.size(), 1);
  shape.insert(shape.end(), value.shape.begin(), value.shape.end());
  return {emitter.AddConstant(value.name + "__q", y.layout, shape, type, integers), type};
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

}  // namespace

OpSupport SupportBinary(const Graph& graph, const Node& node, const Binary& op,
                        const Arithmetic& rules) {
  const bool scalar = FunctionOf(op.op) != nullptr && ScalarOperand(graph, node) >= 0;
  if (scalar && rules.ScalarIsTable(op.op)) return {OpKind::kFunction, ""};
  if (rules.HasBinary(op.op)) return {OpKind::kFunction, ""};
  return {OpKind::kFloat, Cat(OpName(node.op), " of two tensors has no integer form")};
}

void EmitBinary(Emitter& emitter, const Node& node, const Binary& op) {
  const Arithmetic& rules = RulesOf(emitter);
  const int scalar = ScalarOperand(emitter.old(), node);
  if (scalar >= 0 && rules.ScalarIsTable(op.op)) {
    EmitScalar(emitter, node, op, scalar);
    return;
  }
  BinaryLayer layer;
  layer.op = op.op;
  layer.y = emitter.Type(node.outputs[0]);
  layer.clamp = op.clamp;
  layer.mode = emitter.options().mode;
  layer.multiplier_bits =
      emitter.Layer(node).multiplier_bits.value_or(emitter.options().target.add_multiplier_bits);
  if (scalar >= 0 && EmitIntegerScalar(emitter, node, layer, scalar)) return;
  const Operand a = MakeOperand(emitter, node, node.inputs[0]);
  const Operand b = MakeOperand(emitter, node, node.inputs[1]);
  layer.a = a.type;
  layer.b = b.type;
  emitter.AddNode(node.name, rules.MakeBinary(layer), {a.id, b.id},
                  emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
