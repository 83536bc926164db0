#include "graph/onnx/expr.h"

#include <algorithm>

#include "graph/fold/fold.h"

namespace rshift {
namespace {

Expr Constant(OnnxNode& node, const Shape& shape, DType type,
              std::shared_ptr<const ConstantData> elements) {
  Value value;
  value.dtype = type;
  value.shape = shape;
  value.constant = std::move(elements);
  return {node, node.Add(std::move(value))};
}

Expr Emitted(const Expr& like, Op op, std::vector<ValueId> inputs, DType type, Shape shape) {
  return {like.node(), like.node().Emit(std::move(op), std::move(inputs), type, std::move(shape))};
}

Expr Like(const Expr& x, double number) { return Number(x.node(), number, x.type()); }

int64_t AxisOf(const Expr& x, int64_t axis) { return x.node().Axis(axis, x.rank()); }

}  // namespace

Expr In(OnnxNode& node, int i) { return {node, node.Input(i)}; }

Expr FloatIn(OnnxNode& node, int i) {
  node.RequireFloat(i);
  return In(node, i);
}

Expr Number(OnnxNode& node, double value, DType type) {
  if (type != DType::kF32) return Ints(node, {}, {static_cast<int64_t>(value)}, type);
  return Floats(node, {}, {static_cast<float>(value)});
}

Expr Floats(OnnxNode& node, const Shape& shape, const std::vector<float>& elements) {
  return Constant(node, shape, DType::kF32, MakeConstant<float>(elements));
}

Expr Ints(OnnxNode& node, const Shape& shape, const std::vector<int64_t>& elements, DType type) {
  return Constant(node, shape, type, StoreInts(elements, type));
}

Expr Bools(OnnxNode& node, const Shape& shape, const std::vector<bool>& elements) {
  return Ints(node, shape, {elements.begin(), elements.end()}, DType::kBool);
}

Expr Filled(OnnxNode& node, double value, const Shape& shape, DType type) {
  return Expanded(Number(node, value, type), shape);
}

Expr Iota(OnnxNode& node, int64_t count, size_t rank, int64_t axis, DType type) {
  Shape shape(rank, 1);
  shape[axis] = count;
  std::vector<int64_t> elements(count);
  for (int64_t i = 0; i < count; ++i) elements[i] = i;
  return CastTo(Ints(node, shape, elements), type);
}

void Give(const Expr& x, int i) { x.node().Output(Identity{}, {x.id()}, x.type(), x.shape(), i); }

void GiveReshaped(const Expr& x, const Shape& shape, int i) {
  x.node().Output(Reshape{}, {x.id()}, x.type(), shape, i);
}

Expr Apply(BinaryOp op, const Expr& a, const Expr& b) {
  return {a.node(), a.node().Broadcasted(op, a.id(), b.id())};
}

Expr operator+(const Expr& a, const Expr& b) { return Apply(BinaryOp::kAdd, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Apply(BinaryOp::kSub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Apply(BinaryOp::kMul, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return Apply(BinaryOp::kDiv, a, b); }
Expr operator+(const Expr& a, double b) { return a + Like(a, b); }
Expr operator-(const Expr& a, double b) { return a - Like(a, b); }
Expr operator-(double a, const Expr& b) { return Like(b, a) - b; }
Expr operator*(const Expr& a, double b) { return b == 1.0 ? a : a * Like(a, b); }
Expr operator*(double a, const Expr& b) { return b * a; }
Expr operator/(const Expr& a, double b) { return a / Like(a, b); }
Expr Min(const Expr& a, const Expr& b) { return Apply(BinaryOp::kMin, a, b); }
Expr Max(const Expr& a, const Expr& b) { return Apply(BinaryOp::kMax, a, b); }
Expr Equal(const Expr& a, const Expr& b) { return Apply(BinaryOp::kEqual, a, b); }
Expr Less(const Expr& a, const Expr& b) { return Apply(BinaryOp::kLess, a, b); }
Expr And(const Expr& a, const Expr& b) { return Apply(BinaryOp::kAnd, a, b); }

Expr Apply(const Unary& function, const Expr& x) {
  return Emitted(x, function, {x.id()}, x.type(), x.shape());
}

Expr Apply(UnaryOp function, const Expr& x) { return Apply(Unary{function, 0.0f, 0.0f}, x); }
Expr Sigmoid(const Expr& x) { return Apply(UnaryOp::kSigmoid, x); }
Expr Tanh(const Expr& x) { return Apply(UnaryOp::kTanh, x); }
Expr Sqrt(const Expr& x) { return Apply(UnaryOp::kSqrt, x); }
Expr Square(const Expr& x) { return Apply(UnaryOp::kSquare, x); }
Expr Abs(const Expr& x) { return Apply(UnaryOp::kAbs, x); }
Expr Not(const Expr& x) { return Apply(UnaryOp::kNot, x); }

Expr Clipped(const Expr& x, float lo, float hi) {
  return Emitted(x, Clip{{lo, hi}}, {x.id()}, x.type(), x.shape());
}

Expr CastTo(const Expr& x, DType to) { return {x.node(), x.node().Converted(x.id(), to)}; }

Expr Select(const Expr& condition, const Expr& a, const Expr& b) {
  const std::string& where = a.node().where();
  return Emitted(a, Where{}, {condition.id(), a.id(), b.id()}, a.type(),
                 Broadcast(condition.shape(), Broadcast(a.shape(), b.shape(), where), where));
}

Expr Product(const Expr& a, const Expr& b) {
  const Shape left = a.shape(), right = b.shape();
  const OnnxNode& node = a.node();
  node.Check(left.size() >= 2 && right.size() >= 2 && left.back() == right[right.size() - 2],
             "multiplies matrices of shapes ", ToString(left), " and ", ToString(right),
             ", whose inner dimensions differ");
  Shape out = Broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2),
                        node.where());
  out.push_back(left[left.size() - 2]);
  out.push_back(right.back());
  return Emitted(a, MatMul{}, {a.id(), b.id()}, DType::kF32, out);
}

Expr SoftmaxOf(const Expr& x, int64_t axis, bool log) {
  return Emitted(x, Softmax{AxisOf(x, axis), log}, {x.id()}, DType::kF32, x.shape());
}

Expr Reduced(ReduceOp op, const Expr& x, std::vector<int64_t> axes, bool keep) {
  axes = x.node().Axes(std::move(axes), x.rank());
  Shape shape;
  for (size_t d = 0; d < x.rank(); ++d) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d));
    if (!reduced) shape.push_back(x.dim(d));
    if (reduced && keep) shape.push_back(1);
  }
  return Emitted(x, Reduce{op, axes}, {x.id()}, x.type(), shape);
}

Expr ArgMaxOf(const Expr& x, int64_t axis) {
  axis = AxisOf(x, axis);
  Shape shape = x.shape();
  shape[axis] = 1;
  return Emitted(x, ArgMax{axis, false, false}, {x.id()}, DType::kS64, shape);
}

Expr Reshaped(const Expr& x, const Shape& shape) {
  return {x.node(), x.node().Reshaped(x.id(), shape)};
}

Expr Unsqueezed(const Expr& x, int64_t axis) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + x.node().Axis(axis, x.rank() + 1), 1);
  return Reshaped(x, shape);
}

Expr Transposed(const Expr& x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  Shape shape;
  for (int64_t p : perm) shape.push_back(x.dim(p));
  return Emitted(x, Transpose{perm}, {x.id()}, x.type(), shape);
}

Expr Swapped(const Expr& x) {
  std::vector<int64_t> perm(x.rank());
  for (size_t d = 0; d < perm.size(); ++d) perm[d] = static_cast<int64_t>(d);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transposed(x, perm);
}

Expr Part(const Expr& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  axis = AxisOf(x, axis);
  if (start == 0 && end == x.dim(axis) && step == 1) return x;
  Slice op{std::vector<int64_t>(x.rank(), 0), std::vector<int64_t>(x.rank(), 1)};
  op.starts[axis] = start;
  op.steps[axis] = step;
  Shape shape = x.shape();
  shape[axis] = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  return Emitted(x, op, {x.id()}, x.type(), shape);
}

Expr Flipped(const Expr& x, int64_t axis) {
  const int64_t size = x.dim(AxisOf(x, axis));
  return size < 2 ? x : Part(x, axis, size - 1, -1, -1);
}

Expr At(const Expr& x, int64_t axis, int64_t index) { return Part(x, axis, index, index + 1); }

Expr Joined(const std::vector<Expr>& parts, int64_t axis) {
  const Expr& first = parts.front();
  if (parts.size() == 1) return first;
  axis = AxisOf(first, axis);
  Shape shape = first.shape();
  shape[axis] = 0;
  std::vector<ValueId> ids;
  for (const Expr& part : parts) {
    shape[axis] += part.dim(axis);
    ids.push_back(part.id());
  }
  return Emitted(first, Concat{axis}, ids, first.type(), shape);
}

Expr Stacked(const std::vector<Expr>& parts, int64_t axis) {
  std::vector<Expr> stacked;
  stacked.reserve(parts.size());
  for (const Expr& part : parts) stacked.push_back(Unsqueezed(part, axis));
  return Joined(stacked, axis);
}

Expr Expanded(const Expr& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return Emitted(x, Expand{}, {x.id()}, x.type(), shape);
}

Expr Padded(const Expr& x, int64_t axis, int64_t before, int64_t after, double value) {
  if (before == 0 && after == 0) return x;
  axis = AxisOf(x, axis);
  Pad op{PadMode::kConstant, std::vector<int64_t>(x.rank(), 0), std::vector<int64_t>(x.rank(), 0),
         static_cast<float>(value)};
  op.before[axis] = before;
  op.after[axis] = after;
  Shape shape = x.shape();
  shape[axis] += before + after;
  return Emitted(x, op, {x.id()}, x.type(), shape);
}

Expr Gathered(const Expr& x, const Expr& indices, int64_t axis) {
  axis = AxisOf(x, axis);
  const Shape data = x.shape(), list = indices.shape();
  Shape shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), list.begin(), list.end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  return Emitted(x, Gather{axis}, {x.id(), indices.id()}, x.type(), shape);
}

}  // namespace rshift
