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

Expr Like(const Expr& x, double number) { return Number(x.node(), number, x.type()); }

}  // namespace

int64_t Expr::dim(size_t d) const {
  node_->Check(d < rank(), Quoted(value().name), " has the shape ", ToString(shape()),
               ", expected at least ", d + 1, " dimensions");
  return value().shape[d];
}

void CheckConstantSize(const OnnxNode& node, int64_t elements) {
  node.CheckSupported(elements <= kFoldedElements, "needs a constant of ", elements,
                      " elements, expected at most ", kFoldedElements);
}

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
  CheckConstantSize(node, count);
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
  return x.Emit(function, {x.id()}, x.type(), x.shape());
}

Expr Apply(UnaryOp function, const Expr& x) { return Apply(Unary{function, 0.0f, 0.0f}, x); }
Expr Sigmoid(const Expr& x) { return Apply(UnaryOp::kSigmoid, x); }
Expr Tanh(const Expr& x) { return Apply(UnaryOp::kTanh, x); }
Expr Sqrt(const Expr& x) { return Apply(UnaryOp::kSqrt, x); }
Expr Square(const Expr& x) { return Apply(UnaryOp::kSquare, x); }
Expr Abs(const Expr& x) { return Apply(UnaryOp::kAbs, x); }
Expr Not(const Expr& x) { return Apply(UnaryOp::kNot, x); }

Expr Clipped(const Expr& x, float lo, float hi) {
  return x.Emit(Clip{{lo, hi}}, {x.id()}, x.type(), x.shape());
}

Expr CastTo(const Expr& x, DType to) { return {x.node(), x.node().Converted(x.id(), to)}; }

Expr Select(const Expr& condition, const Expr& a, const Expr& b) {
  const std::string& where = a.node().where();
  return a.Emit(Where{}, {condition.id(), a.id(), b.id()}, a.type(),
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
  return a.Emit(MatMul{}, {a.id(), b.id()}, DType::kF32, out);
}

Expr SoftmaxOf(const Expr& x, int64_t axis, bool log) {
  return x.Emit(Softmax{x.Axis(axis), log}, {x.id()}, DType::kF32, x.shape());
}

Expr Reduced(ReduceOp op, const Expr& x, std::vector<int64_t> axes, bool keep) {
  axes = x.node().Axes(std::move(axes), x.rank());
  Shape shape;
  for (size_t d = 0; d < x.rank(); ++d) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d));
    if (!reduced) shape.push_back(x.dim(d));
    if (reduced && keep) shape.push_back(1);
  }
  return x.Emit(Reduce{op, axes}, {x.id()}, x.type(), shape);
}

Expr ArgMaxOf(const Expr& x, int64_t axis) {
  axis = x.Axis(axis);
  Shape shape = x.shape();
  shape[axis] = 1;
  return x.Emit(ArgMax{axis, false, false}, {x.id()}, DType::kS64, shape);
}

}  // namespace rshift
