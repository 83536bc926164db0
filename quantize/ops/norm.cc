// Softmax and normalizations.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "quantize/numerics/l2_normalize.h"
#include "quantize/numerics/normalize.h"
#include "quantize/numerics/softmax_row.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

// The axis of a Softmax or LayerNorm, counted from the front.
size_t AxisFromFront(int64_t axis, const Shape& shape) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
}

// The dimensions with `axis` and the last one exchanged.
std::vector<int64_t> ToLast(size_t rank, size_t axis) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm[rank - 1]);
  return perm;
}

// The softmax itself, over the last dimension of x and y, of this shape. Some frameworks have one
// output type only: a rescaling to the range's own follows.
void EmitLast(Emitter& emitter, const Node& node, const SoftmaxForm& form, ValueId x, ValueId y,
              const IntType& type, const Shape& shape, Layout layout) {
  if (form.type == type) return emitter.AddNode(node.name, form.op, {x}, y);
  const ValueId raw = emitter.Temporary(node.outputs[0], "__raw", form.type, shape, layout);
  emitter.AddNode(node.name, form.op, {x}, raw);
  emitter.AddRequantize(node.name + "__rescale", raw, form.type, y, type,
                        {type.qmin(), type.qmax()});
}

SoftmaxForm SoftmaxOf(const Emitter& emitter, const IntType& x, const IntType& y, int64_t width) {
  const Arithmetic& rules = RulesOf(emitter);
  const bool bound = HoldsQuantization(emitter.old());
  return rules.MakeSoftmax(x, bound ? y : rules.SoftmaxType(y, width), width);
}

bool IsConstantOf(const Graph& graph, const Node& node, size_t input, int64_t count) {
  const Value& value = graph.value(node.inputs[input]);
  return value.is_constant() && NumElements(value.shape) == count;
}

bool HasBias(const Node& node) { return node.inputs.size() > 2 && node.inputs[2].valid(); }

// x / |x| over the last dimension, as graph/passes/layer_norm.cc writes it: what keeps the length
// from 0 is at most 10^-6, LiteRT's own number for floats.
bool IsUnitVector(const Graph& graph, const Node& node, const LayerNorm& op, size_t axis,
                  int64_t n) {
  if (!op.rms || axis + 1 != graph.value(node.inputs[0]).shape.size() || HasBias(node) ||
      !IsConstantOf(graph, node, 1, n)) {
    return false;
  }
  constexpr double kMostEpsilon = 1.001e-12;
  if (static_cast<double>(op.epsilon) * static_cast<double>(n) > kMostEpsilon) return false;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(n)));
  const auto scales = graph.value(node.inputs[1]).constant->As<float>();
  return std::all_of(scales.begin(), scales.end(), [&](float s) { return s == scale; });
}

void EmitL2Normalize(Emitter& emitter, const Node& node) {
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(node.outputs[0]);
  const IntType only{x.dtype, {0x1p-7f, x.dtype == DType::kU8 ? 128 : 0}};
  const ValueId input = emitter.Int(node.inputs[0]);
  if (only == y)
    return emitter.AddNode(node.name, isa::L2Normalize{}, {input},
                           emitter.DefineInt(node.outputs[0]));
  const ValueId raw = emitter.Temporary(node.outputs[0], "__raw", only);
  emitter.AddNode(node.name, isa::L2Normalize{}, {input}, raw);
  emitter.AddRequantize(node.name + "__rescale", raw, only, emitter.DefineInt(node.outputs[0]), y,
                        {y.qmin(), y.qmax()});
}

OpSupport SupportNormalize(const Graph& graph, const Node& node, const Arithmetic& rules, int64_t n,
                           int64_t count) {
  if (!rules.HasNormalize()) return {OpKind::kFloat, Cat(OpName(node.op), " has no integer form")};
  if (n < 1 || n > numerics::kMostNormalized || NumElements(graph.value(node.inputs[0]).shape) == 0)
    return {OpKind::kFloat,
            Cat("it normalizes over ", n, " elements, expected 1 to ", numerics::kMostNormalized)};
  if (!IsConstantOf(graph, node, 1, count) ||
      (HasBias(node) && !IsConstantOf(graph, node, 2, count))) {
    return {OpKind::kFloat, "its scale or bias is not constant"};
  }
  return {OpKind::kFunction, ""};
}

int64_t Product(Shape::const_iterator begin, Shape::const_iterator end) {
  return NumElements(Shape(begin, end));
}

// Where images are [N, H, W, C], each channel by itself; else planes in memory order.
bool IsNhwc(const Value& x) { return x.layout == Layout::kNhwc; }

int64_t InstanceSize(const Value& x) {
  if (IsNhwc(x)) return Product(x.shape.begin() + 1, x.shape.end() - 1);
  return Product(x.shape.begin() + 2, x.shape.end());
}

bool AllEqual(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
}

// The `count` scales (input 1) or biases (input 2; without one, zeros).
std::vector<double> NormalizeNumbers(const Graph& graph, const Node& node, size_t input,
                                     int64_t count) {
  std::vector<double> result(static_cast<size_t>(count), 0.0);
  if (input == 2 && !HasBias(node)) return result;
  const auto values = graph.value(node.inputs[input]).constant->As<float>();
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<double>(values.size() == 1 ? values[0] : values[i % values.size()]);
    RSHIFT_REQUIRE(std::isfinite(result[i]), ErrorCode::kInvalidInput, node.name, ": constant '",
                   graph.value(node.inputs[input]).name, "' holds ", result[i],
                   ", expected finite numbers; repair the model");
  }
  return result;
}

// x of 16 bits at the least scale, a power of two times its own, at which epsilon fits the
// variance's bits.
IntType ForEpsilon(IntType x, int64_t n, double epsilon) {
  const double count = std::ldexp(static_cast<double>(n), -numerics::NormalizeHalvings(n));
  const auto units = [&] {
    const double of_x = count / static_cast<double>(x.quant.scale);
    return epsilon * of_x * of_x;
  };
  while (units() >= 0x1p60 && x.quant.scale < FLT_MAX / 4) x.quant.scale *= 2;
  return x;
}

// The node's input in that type.
ValueId InCoarseInt16(Emitter& emitter, const Node& node, const IntType& type) {
  const ValueId old_x = node.inputs[0], x = emitter.Int16(old_x, 1);
  const IntType own = emitter.Int16Type(old_x, 1);
  if (type == own) return x;
  const ValueId coarse = emitter.Temporary(old_x, "__coarse", type);
  emitter.AddRequantize(node.name + "__coarse", x, own, coarse, type, {type.qmin(), type.qmax()});
  return coarse;
}

// The same numbers as those of the command on 16 bits.
QNormalizeS16 OfInt16(QNormalize numbers) {
  QNormalizeS16 op;
  op.axis = numbers.axis;
  op.center = numbers.center;
  op.channels = numbers.channels;
  op.epsilon = numbers.epsilon;
  op.variance_shift = numbers.variance_shift;
  op.rshift = numbers.rshift;
  op.clamp = numbers.clamp;
  op.row_factors = std::move(numbers.row_factors);
  op.row_offsets = std::move(numbers.row_offsets);
  return op;
}

// `n` elements together, `count` pairs of scale and bias.
void EmitNormalize(Emitter& emitter, const Node& node, isa::Normalize shape, int64_t n,
                   int64_t count, float epsilon) {
  const bool wide = emitter.HasInt16(node);
  const double added = std::max(static_cast<double>(epsilon), 0.0);
  const IntType x_type = wide ? ForEpsilon(emitter.Int16Type(node.inputs[0], 1), n, added)
                              : emitter.Type(node.inputs[0]);
  const NormalizeLayer layer{x_type,
                             emitter.Type(node.outputs[0]),
                             n,
                             added,
                             NormalizeNumbers(emitter.old(), node, 1, count),
                             NormalizeNumbers(emitter.old(), node, 2, count)};
  QNormalize op = RulesOf(emitter).MakeNormalize(layer);
  op.axis = shape.axis;
  op.center = shape.center;
  op.channels = shape.channels;
  const ValueId x = wide ? InCoarseInt16(emitter, node, layer.x) : emitter.Int(node.inputs[0]);
  const ValueId y = emitter.DefineInt(node.outputs[0]);
  if (wide) return emitter.AddNode(node.name, OfInt16(std::move(op)), {x}, y);
  emitter.AddNode(node.name, std::move(op), {x}, y);
}

}  // namespace

OpSupport SupportSoftmax(const Graph& graph, const Node& node, const Softmax& op,
                         const Arithmetic& rules) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const bool last = op.axis == -1 || op.axis == rank - 1;
  if (op.log ? !rules.HasLogSoftmax() : !rules.HasSoftmax()) {
    return {OpKind::kFloat, Cat(OpName(node.op), " has no integer form")};
  }
  if (!last && !rules.HasSoftmaxOfAnyAxis())
    return {OpKind::kFloat, "it is not over the last dimension"};
  if (rules.HasSoftmaxOfAnyAxis() &&
      (shape.empty() || shape[AxisFromFront(op.axis, shape)] > numerics::kMostSoftmax)) {
    return {OpKind::kFloat,
            Cat("its rows have no or more than ", numerics::kMostSoftmax, " elements")};
  }
  return {OpKind::kFunction, ""};
}

void EmitSoftmax(Emitter& emitter, const Node& node, const Softmax& op) {
  const ValueId old_y = node.outputs[0];
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(old_y);
  const Shape& shape = emitter.old().value(node.inputs[0]).shape;
  const size_t axis = AxisFromFront(op.axis, shape);
  const Arithmetic& rules = RulesOf(emitter);
  const SoftmaxForm form =
      op.log ? rules.MakeLogSoftmax(x, y) : SoftmaxOf(emitter, x, y, shape[axis]);
  const ValueId input = emitter.Int(node.inputs[0]);
  if (axis + 1 == shape.size())
    return EmitLast(emitter, node, form, input, emitter.DefineInt(old_y), y, shape,
                    emitter.old().value(old_y).layout);
  const std::vector<int64_t> perm = ToLast(shape.size(), axis);
  Shape moved = shape;
  std::swap(moved[axis], moved.back());
  const ValueId before = emitter.AddStep(node, "__last", Transpose{perm}, input, node.inputs[0], x,
                                         moved, Layout::kPlain);
  const ValueId after = emitter.Temporary(old_y, "__last", y, moved, Layout::kPlain);
  EmitLast(emitter, node, form, before, after, y, moved, Layout::kPlain);
  emitter.AddNode(node.name + "__back", Transpose{perm}, {after}, emitter.DefineInt(old_y));
}

OpSupport SupportLayerNorm(const Graph& graph, const Node& node, const LayerNorm& op,
                           const Arithmetic& rules) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  if (shape.empty()) return {OpKind::kFloat, "its input is a scalar"};
  const auto axis = static_cast<std::ptrdiff_t>(AxisFromFront(op.axis, shape));
  const int64_t n = Product(shape.begin() + axis, shape.end());
  if (rules.HasL2Normalize() && n > 0 &&
      IsUnitVector(graph, node, op, static_cast<size_t>(axis), n)) {
    if (n <= numerics::kMostL2Normalized) return {OpKind::kFunction, ""};
    return {OpKind::kFloat, Cat("its rows have more than ", numerics::kMostL2Normalized,
                                " elements, whose squares may leave 32 bits")};
  }
  return SupportNormalize(graph, node, rules, n, n);
}

void EmitLayerNorm(Emitter& emitter, const Node& node, const LayerNorm& op) {
  if (RulesOf(emitter).HasL2Normalize()) return EmitL2Normalize(emitter, node);
  const Shape& shape = emitter.old().value(node.inputs[0]).shape;
  isa::Normalize form;
  form.axis = static_cast<int64_t>(AxisFromFront(op.axis, shape));
  form.center = !op.rms;
  const int64_t n = Product(shape.begin() + form.axis, shape.end());
  EmitNormalize(emitter, node, form, n, n, op.epsilon);
}

// Planes that are not NHWC have one scale and bias for all: what GroupNormalization is made of.
OpSupport SupportInstanceNorm(const Graph& graph, const Node& node, const Arithmetic& rules) {
  const Value& x = graph.value(node.inputs[0]);
  if (x.shape.size() < 3) return {OpKind::kFloat, "its input has fewer than 3 dimensions"};
  const int64_t channels = IsNhwc(x) ? x.shape.back() : x.shape[1];
  OpSupport support = SupportNormalize(graph, node, rules, InstanceSize(x), channels);
  if (support.kind == OpKind::kFloat || IsNhwc(x)) return support;
  for (size_t i = 1; i < (HasBias(node) ? 3u : 2u); ++i) {
    if (!AllEqual(graph.value(node.inputs[i]).constant->As<float>()))
      return {OpKind::kFloat, "scales of its own for the channels of planes that are not NHWC"};
  }
  return support;
}

void EmitInstanceNorm(Emitter& emitter, const Node& node, const InstanceNorm& op) {
  const Value& x = emitter.old().value(node.inputs[0]);
  isa::Normalize form;
  form.center = true;
  form.channels = IsNhwc(x);
  form.axis = IsNhwc(x) ? 1 : 2;
  const int64_t n = InstanceSize(x);
  EmitNormalize(emitter, node, form, n, IsNhwc(x) ? x.shape.back() : n, op.epsilon);
}

}  // namespace rshift
