// Sub-graphs written as formulas. An Expr is a value while its node is imported; what is computed
// from it becomes graph nodes named after that node, or constants where everything is constant:
//
//   Expr x = In(node, 0);
//   Give(x * Sigmoid(alpha * x));
#ifndef RSHIFT_GRAPH_ONNX_EXPR_H_
#define RSHIFT_GRAPH_ONNX_EXPR_H_

#include <utility>
#include <vector>

#include "graph/onnx/node.h"

namespace rshift {

class Expr {
 public:
  Expr(OnnxNode& node, ValueId id) : node_(&node), id_(id) {}

  OnnxNode& node() const { return *node_; }
  ValueId id() const { return id_; }
  const Value& value() const { return node_->At(id_); }  // dies with the next formula
  Shape shape() const { return value().shape; }
  int64_t dim(size_t d) const;  // throws kInvalidInput when there is none
  size_t rank() const { return value().shape.size(); }
  DType type() const { return value().dtype; }
  bool is_constant() const { return value().is_constant(); }
  int64_t Axis(int64_t axis) const { return node_->Axis(axis, rank()); }  // from 0
  // What an operator of the same node gives.
  Expr Emit(Op op, std::vector<ValueId> inputs, DType type, Shape shape) const {
    return {*node_, node_->Emit(std::move(op), std::move(inputs), type, std::move(shape))};
  }

 private:
  OnnxNode* node_;
  ValueId id_;
};

// Throws kUnsupported for more elements than a constant that no file holds may have.
void CheckConstantSize(const OnnxNode& node, int64_t elements);

// --- what formulas begin with ---
Expr In(OnnxNode& node, int i);
Expr FloatIn(OnnxNode& node, int i);  // throws kUnsupported unless it is f32
Expr Number(OnnxNode& node, double value, DType type = DType::kF32);  // a scalar
Expr Floats(OnnxNode& node, const Shape& shape, const std::vector<float>& elements);
Expr Ints(OnnxNode& node, const Shape& shape, const std::vector<int64_t>& elements,
          DType type = DType::kS64);
Expr Bools(OnnxNode& node, const Shape& shape, const std::vector<bool>& elements);
// One number, spread to a shape.
Expr Filled(OnnxNode& node, double value, const Shape& shape, DType type = DType::kF32);
// 0, 1, ... count - 1 along dimension `axis` of `rank`; 1 element along the others.
Expr Iota(OnnxNode& node, int64_t count, size_t rank, int64_t axis, DType type = DType::kS64);

// --- what they end with: output i of the node is this value ---
void Give(const Expr& x, int i = 0);
void GiveReshaped(const Expr& x, const Shape& shape, int i = 0);

// --- elements, with numpy broadcasting; numbers take the type of the other operand ---
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator+(const Expr& a, double b);
Expr operator-(const Expr& a, double b);
Expr operator-(double a, const Expr& b);
Expr operator*(const Expr& a, double b);
Expr operator*(double a, const Expr& b);
Expr operator/(const Expr& a, double b);
Expr Apply(BinaryOp op, const Expr& a, const Expr& b);
Expr Min(const Expr& a, const Expr& b);
Expr Max(const Expr& a, const Expr& b);
Expr Equal(const Expr& a, const Expr& b);
Expr Less(const Expr& a, const Expr& b);
Expr And(const Expr& a, const Expr& b);
Expr Apply(const Unary& function, const Expr& x);
Expr Apply(UnaryOp function, const Expr& x);
Expr Sigmoid(const Expr& x);
Expr Tanh(const Expr& x);
Expr Sqrt(const Expr& x);
Expr Square(const Expr& x);
Expr Abs(const Expr& x);
Expr Not(const Expr& x);
Expr Clipped(const Expr& x, float lo, float hi);
Expr CastTo(const Expr& x, DType to);
Expr Select(const Expr& condition, const Expr& a, const Expr& b);

// --- rows and matrices; a negative axis counts from the end ---
Expr Product(const Expr& a, const Expr& b);  // of matrices, in the last two dimensions
Expr SoftmaxOf(const Expr& x, int64_t axis, bool log = false);
Expr Reduced(ReduceOp op, const Expr& x, std::vector<int64_t> axes, bool keep = true);
Expr ArgMaxOf(const Expr& x, int64_t axis);  // the first one; the axis stays, with one element

// --- movement; shapes that do not fit throw kInvalidInput ---
Expr Reshaped(const Expr& x, const Shape& shape);
Expr Unsqueezed(const Expr& x, int64_t axis);  // of the result
Expr Transposed(const Expr& x, const std::vector<int64_t>& perm);
Expr Swapped(const Expr& x);  // the last two dimensions
// Elements start, start + step ... before `end` along one dimension.
Expr Part(const Expr& x, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
Expr Flipped(const Expr& x, int64_t axis);
Expr At(const Expr& x, int64_t axis, int64_t index);  // the axis stays, with one element
Expr Joined(const std::vector<Expr>& parts, int64_t axis);
Expr Stacked(const std::vector<Expr>& parts, int64_t axis);  // along a new dimension
Expr Expanded(const Expr& x, const Shape& shape);
Expr Padded(const Expr& x, int64_t axis, int64_t before, int64_t after, double value = 0.0);
Expr Gathered(const Expr& x, const Expr& indices, int64_t axis);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_EXPR_H_
