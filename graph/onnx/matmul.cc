#include "graph/onnx/table.h"

namespace rshift {
namespace {

// A vector on the left is a row, on the right a column; the added dimension leaves the result
// again.
void ImportMatMul(OnnxNode& node) {
  node.RequireFloat(0);
  node.RequireFloat(1);
  Shape a = node.ShapeOf(0), b = node.ShapeOf(1);
  node.Check(!a.empty() && !b.empty(), "an input is a scalar, expected matrices");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  node.Check(a.back() == b[b.size() - 2], "inputs have the shapes ", ToString(node.ShapeOf(0)),
             " and ", ToString(node.ShapeOf(1)), ": inner dimensions ", a.back(), " and ",
             b[b.size() - 2], " differ");
  Shape out = Broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), node.where());
  out.push_back(a[a.size() - 2]);
  out.push_back(b.back());
  const std::vector<ValueId> inputs{node.Reshaped(node.Input(0), a),
                                    node.Reshaped(node.Input(1), b)};
  if (!row && !column) return node.Output(MatMul{}, inputs, DType::kF32, out);
  Shape reduced = out;
  if (column) reduced.pop_back();
  if (row) reduced.erase(reduced.end() - (column ? 1 : 2));
  node.OutputReshaped(node.Emit(MatMul{}, inputs, DType::kF32, out), reduced);
}

ValueId Transposed(OnnxNode& node, ValueId id, bool transpose) {
  if (!transpose) return id;
  const Shape shape = node.At(id).shape;
  return node.Emit(Transpose{{1, 0}}, {id}, DType::kF32, {shape[1], shape[0]});
}

ValueId Scaled(OnnxNode& node, ValueId id, float factor) {
  return factor == 1.0f ? id : node.Broadcasted(BinaryOp::kMul, id, node.Scalar(factor));
}

// Operand C, scaled by beta; invalid when it adds nothing.
ValueId GemmAddend(OnnxNode& node, const Shape& out) {
  const float beta = node.Float("beta", 1.0f);
  if (!node.HasInput(2) || beta == 0.0f) return {};
  node.RequireFloat(2);
  const Shape c = node.ShapeOf(2);
  node.Check(Broadcast(c, out, node.where()) == out, "C has the shape ", ToString(c),
             ", which does not broadcast to ", ToString(out));
  return Scaled(node, node.Input(2), beta);
}

// A constant that is the same for every row becomes the bias [N] of the product.
ValueId AsBias(OnnxNode& node, ValueId c, int64_t n) {
  const Shape shape = node.At(c).shape;
  const bool per_row = shape.size() == 2 && shape[0] != 1;
  if (!node.At(c).is_constant() || per_row) return {};
  const ValueId flat = node.Reshaped(c, {NumElements(shape)});
  if (node.At(flat).shape == Shape{n}) return flat;
  return node.Emit(Expand{}, {flat}, DType::kF32, {n});
}

void ImportGemm(OnnxNode& node) {
  node.RequireFloat(0);
  node.RequireFloat(1);
  node.Check(node.ShapeOf(0).size() == 2 && node.ShapeOf(1).size() == 2, "inputs have the shapes ",
             ToString(node.ShapeOf(0)), " and ", ToString(node.ShapeOf(1)),
             ", expected two matrices");
  const ValueId a = Transposed(node, node.Input(0), node.Int("transA", 0) != 0);
  ValueId b = Transposed(node, node.Input(1), node.Int("transB", 0) != 0);
  node.Check(node.At(a).shape[1] == node.At(b).shape[0], "inner dimensions ", node.At(a).shape[1],
             " and ", node.At(b).shape[0], " differ");
  const Shape out{node.At(a).shape[0], node.At(b).shape[1]};
  float alpha = node.Float("alpha", 1.0f);
  if (node.At(b).is_constant()) {
    b = Scaled(node, b, alpha);
    alpha = 1.0f;
  }
  const ValueId c = GemmAddend(node, out);
  std::vector<ValueId> inputs{a, b};
  if (!c.valid() && alpha == 1.0f) return node.Output(MatMul{}, inputs, DType::kF32, out);
  const ValueId bias = c.valid() && alpha == 1.0f ? AsBias(node, c, out[1]) : ValueId();
  if (bias.valid()) {
    inputs.push_back(bias);
    return node.Output(MatMul{}, inputs, DType::kF32, out);
  }
  const ValueId product = node.Emit(MatMul{}, inputs, DType::kF32, out);
  if (!c.valid()) return node.OutputBinary(BinaryOp::kMul, product, node.Scalar(alpha));
  node.OutputBinary(BinaryOp::kAdd, Scaled(node, product, alpha), c);
}

constexpr ImportEntry kMatMulImports[] = {{"MatMul", ImportMatMul}, {"Gemm", ImportGemm}};

}  // namespace

std::span<const ImportEntry> MatMulImports() { return kMatMulImports; }

}  // namespace rshift
