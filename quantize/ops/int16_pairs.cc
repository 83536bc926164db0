// Operators of two tensors that read or write 16-bit integers, but Max, Min and Where
// (int16_activations.cc). NUMERICS.md sections 29.2, 29.3 and 29.11.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "isa/function_names.h"
#include "quantize/numerics/compare.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

// Numbers in place of a constant's: s16.
Operand Int16Reals(Emitter& emitter, const Node& node, const Value& value,
                   std::span<const float> values, const IntType& type) {
  return Int16Numbers(emitter, node, value, type, ToInt16(emitter, values, type));
}

// A constant with a range of its own.
Operand Int16Constant(Emitter& emitter, const Node& node, const Value& value) {
  if (IsInt16Constant(value)) return OwnInt16(emitter, node, value);
  RequireFinite(node, value);
  const auto values = value.constant->As<float>();
  return Int16Reals(emitter, node, value, values, Int16TypeOf(values));
}

// Of a scale 2^-k at which all are integers, where there is one, so that exponents and divisors
// like 2 and 0.5 are not rounded; else of their range.
IntType ExactInt16TypeOf(std::span<const float> values) {
  const auto largest = std::max_element(
      values.begin(), values.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  if (largest == values.end() || *largest == 0) return Int16TypeOf(values);
  const float scale = std::ldexp(1.0f, std::ilogb(*largest) - 14);
  const bool exact = std::all_of(values.begin(), values.end(), [&](float v) {
    return v / scale == std::nearbyint(v / scale) && std::fabs(v / scale) <= 32767;
  });
  return exact ? IntType{DType::kS16, {scale, 0}} : Int16TypeOf(values);
}

Operand ExactInt16Constant(Emitter& emitter, const Node& node, const Value& value) {
  if (IsInt16Constant(value)) return OwnInt16(emitter, node, value);
  RequireFinite(node, value);
  const auto values = value.constant->As<float>();
  return Int16Reals(emitter, node, value, values, ExactInt16TypeOf(values));
}

// a op b as b op' a, of comparisons, sums and products. A difference stays one: EmitPair turns its
// signs.
BinaryOp Mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLess:
      return BinaryOp::kGreater;
    case BinaryOp::kLessOrEqual:
      return BinaryOp::kGreaterOrEqual;
    case BinaryOp::kGreater:
      return BinaryOp::kLess;
    case BinaryOp::kGreaterOrEqual:
      return BinaryOp::kLessOrEqual;
    case BinaryOp::kEqual:
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
      return op;
    default:
      Fail(ErrorCode::kInternal, Name(op), " is not mirrored");
  }
}

// 1 / d of a divisor that is constant; empty where it is not, or holds a 0.
std::vector<float> ReciprocalsOf(const Value& divisor) {
  if (!divisor.is_constant()) return {};
  std::vector<float> reciprocals;
  for (const float d : divisor.constant->As<float>()) {
    if (!std::isfinite(1 / d)) return {};
    reciprocals.push_back(1 / d);
  }
  return reciprocals;
}

// A constant that is compared with a tensor: integers of the tensor's own scale, so that its
// numbers are equal to themselves, at the ends of its range, too. Constants that all lie beyond
// them keep their own scale.
Operand ComparedConstant(Emitter& emitter, const Node& node, const Value& value,
                         const IntType& other) {
  const auto values = value.constant->As<float>();
  const double reach = 32768.5 * static_cast<double>(other.quant.scale);
  const auto is_beyond = [&](float v) { return static_cast<double>(std::fabs(v)) > reach; };
  if (!other.is_s16() || std::all_of(values.begin(), values.end(), is_beyond))
    return ExactInt16Constant(emitter, node, value);
  if (std::none_of(values.begin(), values.end(), is_beyond))
    return Int16Reals(emitter, node, value, values, other);
  // Twice the scale has room for what lies beyond; what lies within stays below the range's end.
  const IntType twice{DType::kS16, {2 * other.quant.scale, 0}};
  std::vector<int16_t> numbers = ToInt16(emitter, values, twice);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!is_beyond(values[i]))
      numbers[i] = static_cast<int16_t>(std::clamp<int32_t>(numbers[i], -16384, 16383));
  }
  return Int16Numbers(emitter, node, value, twice, numbers);
}

Operand Int16Operand(Emitter& emitter, const Node& node, BinaryOp op, size_t input) {
  const ValueId old_id = node.inputs[input];
  const Value& value = emitter.old().value(old_id);
  if (!value.is_constant()) return MakeOperand(emitter, node, old_id);
  if (numerics::IsComparison(op) && !IsInt16Constant(value))
    return ComparedConstant(emitter, node, value, emitter.Type(node.inputs[1 - input]));
  const bool exact = op == BinaryOp::kPow || op == BinaryOp::kMod;
  return exact ? ExactInt16Constant(emitter, node, value) : Int16Constant(emitter, node, value);
}

BinaryLayer LayerOf(BinaryOp op, const IntType& a, const IntType& b, const IntType& y) {
  BinaryLayer layer;
  layer.op = op;
  layer.a = a;
  layer.b = b;
  layer.y = y;
  return layer;
}

// Writes the node's output from both operands.
void EmitPair(Emitter& emitter, const Node& node, BinaryLayer layer, Operand a, Operand b) {
  const Value& first = emitter.old().value(node.inputs[0]);
  // The command repeats its second operand alone.
  const bool symmetric = IsSumOrProduct(layer.op) || numerics::IsComparison(layer.op);
  if (first.is_constant() && symmetric) {
    std::swap(a, b);
    layer.op = Mirrored(layer.op);
  } else if (first.is_constant()) {
    a.id = ExpandOperand(emitter, node, first, a.id, a.type);
  }
  layer.a = a.type;
  layer.b = b.type;
  Op command = RulesOf(emitter).MakeBinary(layer);
  if (auto* sum = std::get_if<isa::AddS16>(&command);
      sum != nullptr && first.is_constant() && layer.op == BinaryOp::kSub) {
    sum->multiplier = -sum->multiplier;
    sum->multiplier2 = -sum->multiplier2;
  }
  const ValueId y = numerics::IsComparison(layer.op) ? emitter.DefineFloat(node.outputs[0])
                                                     : emitter.DefineInt(node.outputs[0]);
  emitter.AddNode(node.name, std::move(command), {a.id, b.id}, y);
}

// The largest magnitude of the numbers that integers of a type stand for.
double ReachOf(const IntType& type) {
  const int32_t zero = type.quant.zero_point;
  return static_cast<double>(type.quant.scale) * std::max(type.qmax() - zero, zero - type.qmin());
}

// (a - b)^2: the difference has 16 bits of what a square within y's range needs.
void EmitSquaredDifference(Emitter& emitter, const Node& node, const Binary& op) {
  const Operand a = Int16Operand(emitter, node, op.op, 0);
  const Operand b = Int16Operand(emitter, node, op.op, 1);
  const IntType y = emitter.Type(node.outputs[0]);
  const double largest = std::min(ReachOf(a.type) + ReachOf(b.type), std::sqrt(ReachOf(y)));
  const IntType between{DType::kS16, {numerics::Int16Scale(static_cast<float>(largest)), 0}};
  const ValueId difference = emitter.Temporary(node.outputs[0], "__difference", between);
  const Arithmetic& rules = RulesOf(emitter);
  const Value& first = emitter.old().value(node.inputs[0]);
  // Its square is that of b - a.
  const bool swapped = first.is_constant();
  const Operand &left = swapped ? b : a, &right = swapped ? a : b;
  emitter.AddNode(node.name + "__difference",
                  rules.MakeBinary(LayerOf(BinaryOp::kSub, left.type, right.type, between)),
                  {left.id, right.id}, difference);
  BinaryLayer square = LayerOf(BinaryOp::kMul, between, between, y);
  square.clamp = op.clamp;
  emitter.AddNode(node.name, rules.MakeBinary(square), {difference, difference},
                  emitter.DefineInt(node.outputs[0]));
}

// Slopes that are one for each element or channel, and the largest of them.
struct Slopes {
  Operand numbers;
  double largest = 0;
};

Slopes SlopesOf(Emitter& emitter, const Node& node) {
  const Value& value = emitter.old().value(node.inputs[1]);
  if (!value.is_constant()) {
    const Operand computed = MakeOperand(emitter, node, node.inputs[1]);
    return {computed, ReachOf(computed.type)};
  }
  Slopes slopes{Int16Constant(emitter, node, value)};
  for (const float v : value.constant->As<float>())
    slopes.largest = std::max(slopes.largest, static_cast<double>(std::fabs(v)));
  return slopes;
}

// max(x, 0) + slope min(x, 0): both parts are exact, the product and the sum are rounded.
void EmitPReluOfSlopes(Emitter& emitter, const Node& node) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType x = emitter.Int16Type(old_x, kBytesFactor), y = emitter.Type(old_y);
  const ValueId input = emitter.Int16(old_x, kBytesFactor);
  const auto part = [&](const char* suffix, int32_t lo, int32_t hi) {
    return emitter.AddStep(node, suffix, isa::RequantizeS16{.words = {}, .clamp = {lo, hi}}, input,
                           old_x, x, emitter.old().value(old_x).shape,
                           emitter.old().value(old_x).layout);
  };
  const ValueId positive = part("__positive", 0, x.qmax()),
                negative = part("__negative", x.qmin(), 0);
  const Slopes slopes = SlopesOf(emitter, node);
  // What leaves y's range is clamped there in any case.
  const double largest =
      std::min(static_cast<double>(x.quant.scale) * slopes.largest * 32768.0, ReachOf(y));
  const IntType product{DType::kS16, {numerics::Int16Scale(static_cast<float>(largest)), 0}};
  const Arithmetic& rules = RulesOf(emitter);
  const ValueId scaled = emitter.Temporary(old_y, "__scaled", product);
  emitter.AddNode(node.name + "__scaled",
                  rules.MakeBinary(LayerOf(BinaryOp::kMul, x, slopes.numbers.type, product)),
                  {negative, slopes.numbers.id}, scaled);
  emitter.AddNode(node.name, rules.MakeBinary(LayerOf(BinaryOp::kAdd, x, product, y)),
                  {positive, scaled}, emitter.DefineInt(old_y));
}

}  // namespace

bool EmitBinaryInt16(Emitter& emitter, const Node& node, const Binary& op) {
  const int scalar = ScalarOperand(emitter.old(), node);
  if (scalar >= 0 && !numerics::IsComparison(op.op)) {
    EmitValueFunctionInt16(
        emitter, node, {node.inputs[1 - scalar], ScalarFunction(emitter.old(), node, op, scalar)});
    return true;
  }
  if (op.op == BinaryOp::kMax || op.op == BinaryOp::kMin) {
    if (!emitter.Type(node.outputs[0]).is_s16()) return false;  // operands become bytes first
    EmitExtremumInt16(emitter, node, op);
    return true;
  }
  if (op.op == BinaryOp::kSquaredDifference) {
    EmitSquaredDifference(emitter, node, op);
    return true;
  }
  const Value& second = emitter.old().value(node.inputs[1]);
  const std::vector<float> reciprocals =
      op.op == BinaryOp::kDiv ? ReciprocalsOf(second) : std::vector<float>{};
  BinaryLayer layer;
  layer.op = reciprocals.empty() ? op.op : BinaryOp::kMul;
  layer.clamp = op.clamp;
  if (!numerics::IsComparison(op.op)) layer.y = emitter.Type(node.outputs[0]);
  const Operand a = Int16Operand(emitter, node, op.op, 0);
  const Operand b = reciprocals.empty()
                        ? Int16Operand(emitter, node, op.op, 1)
                        : Int16Reals(emitter, node, second, reciprocals, Int16TypeOf(reciprocals));
  EmitPair(emitter, node, layer, a, b);
  return true;
}

void EmitPReluInt16(Emitter& emitter, const Node& node) {
  const Value& slope = emitter.old().value(node.inputs[1]);
  if (!slope.is_constant() || !IsScalarConstant(slope)) return EmitPReluOfSlopes(emitter, node);
  RequireFinite(node, slope);
  const auto alpha = static_cast<double>(slope.constant->As<float>()[0]);
  EmitValueFunctionInt16(emitter, node,
                         {node.inputs[0], [alpha](double v) { return v < 0 ? alpha * v : v; }});
}

}  // namespace rshift
