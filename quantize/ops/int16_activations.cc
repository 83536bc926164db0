// Softmax, LogSoftmax, products of two tensors, Max, Min and Where that read or write 16-bit
// integers. NUMERICS.md sections 29.2, 29.6 and 29.7.
#include <utility>
#include <vector>

#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/quotient_softmax.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

size_t AxisOf(const Softmax& op, const Shape& shape) {
  return static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(shape.size()) : op.axis);
}

// An operand of Max, Min or Where in y's type, of its own shape.
ValueId InTypeOf(Emitter& emitter, const Node& node, ValueId id, const IntType& y) {
  const Value& value = emitter.old().value(id);
  if (!value.is_constant()) return IntOfType(emitter, id, y);
  RequireFinite(node, value);
  return Int16Numbers(emitter, node, value, y, ToInt16(emitter, value.constant->As<float>(), y)).id;
}

// The same as Max and Min want it: activations do not broadcast.
ValueId LikeOutput(Emitter& emitter, const Node& node, ValueId id, const IntType& y) {
  const ValueId made = InTypeOf(emitter, node, id, y);
  const Value& value = emitter.old().value(id);
  return value.is_constant() ? made : ExpandOperand(emitter, node, value, made, y);
}

// Of the integers that a model brings, else of those that reach the largest number.
IntType TypeOfFactor(const Value& value) {
  const QuantizedOrigin* origin = value.origin.get();
  const bool symmetric = origin != nullptr && origin->scales.size() == 1 &&
                         (origin->zero_points.empty() || origin->zero_points[0] == 0);
  if (symmetric && (origin->dtype == DType::kS8 || origin->dtype == DType::kS16))
    return {DType::kS16, {origin->scales[0], 0}};
  return Int16TypeOf(value.constant->As<float>());
}

// An activation, or a constant: its own integers where a model brings them, else 16 bits of its
// range.
Operand FactorOfProduct(Emitter& emitter, const Node& node, ValueId id) {
  const Value& value = emitter.old().value(id);
  if (!value.is_constant()) return {emitter.Int16(id, 1), emitter.Int16Type(id, 1)};
  RequireFinite(node, value);
  const IntType type = TypeOfFactor(value);
  const std::vector<int16_t> numbers = ToInt16(emitter, value.constant->As<float>(), type);
  return {emitter.AddConstant(value.name + "__q", value.layout, value.shape, type, numbers), type};
}

}  // namespace

bool HasSoftmaxOfInt16(const Graph& graph, const Node& node, const Softmax& op) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  return !shape.empty() && shape[AxisOf(op, shape)] <= numerics::kMostSoftmaxToInt16;
}

bool HasProductOfInt16(const Graph& graph, const Node& node) {
  const Value &a = graph.value(node.inputs[0]), &b = graph.value(node.inputs[1]);
  return !(a.is_constant() && b.is_constant()) && a.shape.back() <= numerics::kMostInt16Products;
}

void EmitSoftmaxInt16(Emitter& emitter, const Node& node, const Softmax& op) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType x = emitter.Int16Type(old_x, 1), y = emitter.Type(old_y);
  const Shape& shape = emitter.old().value(old_x).shape;
  const size_t axis = AxisOf(op, shape);
  QQuotientSoftmaxS16 softmax = RulesOf(emitter).MakeSoftmaxS16(x, y, op.log);
  const ValueId input = emitter.Int16(old_x, 1);
  if (axis + 1 == shape.size())
    return emitter.AddNode(node.name, std::move(softmax), {input}, emitter.DefineInt(old_y));
  // Its axis to the end and back: an exchange is its own inverse.
  std::vector<int64_t> perm;
  for (size_t d = 0; d < shape.size(); ++d) perm.push_back(static_cast<int64_t>(d));
  std::swap(perm[axis], perm.back());
  Shape moved = shape;
  std::swap(moved[axis], moved.back());
  const ValueId before =
      emitter.AddStep(node, "__last", Transpose{perm}, input, old_x, x, moved, Layout::kPlain);
  const ValueId after = emitter.Temporary(old_y, "__last", y, moved, Layout::kPlain);
  emitter.AddNode(node.name, std::move(softmax), {before}, after);
  emitter.AddNode(node.name + "__back", Transpose{perm}, {after}, emitter.DefineInt(old_y));
}

void EmitProductInt16(Emitter& emitter, const Node& node, const MatMul& op) {
  const FusedPostOps fused = emitter.PostOps(node);
  double factor = 1;
  for (const RealPostOp& behind : fused.ops) factor *= static_cast<double>(behind.alpha);
  const ValueId a = node.inputs[0], b = node.inputs[1];
  const Operand first = FactorOfProduct(emitter, node, a),
                second = FactorOfProduct(emitter, node, b);
  const BatchedMatMulLayer layer{first.type, second.type, emitter.Type(fused.y), factor, op.clamp};
  emitter.AddNode(node.name,
                  RulesOf(emitter).MakeBatchedMatMulS16(layer, emitter.old().value(a).shape.back()),
                  {first.id, second.id}, emitter.DefineInt(fused.y));
}

void EmitExtremumInt16(Emitter& emitter, const Node& node, const Binary& op) {
  BinaryLayer layer;
  layer.op = op.op;
  layer.y = emitter.Type(node.outputs[0]);
  layer.a = layer.b = layer.y;
  layer.clamp = op.clamp;
  ValueId a = LikeOutput(emitter, node, node.inputs[0], layer.y);
  ValueId b = LikeOutput(emitter, node, node.inputs[1], layer.y);
  // The command repeats its second operand alone.
  if (emitter.old().value(node.inputs[0]).is_constant()) std::swap(a, b);
  emitter.AddNode(node.name, RulesOf(emitter).MakeBinary(layer), {a, b},
                  emitter.DefineInt(node.outputs[0]));
}

void EmitWhereInt16(Emitter& emitter, const Node& node) {
  const IntType y = emitter.Type(node.outputs[0]);
  const ValueId condition = emitter.Same(node.inputs[0]);
  const ValueId a = InTypeOf(emitter, node, node.inputs[1], y);
  const ValueId b = InTypeOf(emitter, node, node.inputs[2], y);
  emitter.AddNode(node.name, Where{}, {condition, a, b}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
