// Det: elimination with the greatest pivot, written out for all matrices at once.
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr int64_t kLargestMatrix = 64;

// The first row of each matrix [M, n, n] eliminated: what is left [M, n - 1, n - 1], and the factor
// [M, 1, 1] that the determinant takes from it.
Expr Eliminated(const Expr& x, Expr* factor) {
  OnnxNode& node = x.node();
  const int64_t n = x.dim(1);
  const Expr place = ArgMaxOf(Abs(At(x, 2, 0)), 1);  // [M, 1, 1]
  const Expr zero = Number(node, 0.0);
  const Expr here = Equal(Iota(node, n, 3, 1), place);
  const Expr pivot_row = Reduced(ReduceOp::kSum, Select(here, x, zero), {1});
  const Expr swapped = Part(Select(here, At(x, 1, 0), x), 1, 1, n);
  const Expr pivot = At(pivot_row, 2, 0);
  const Expr moved = Less(Number(node, 0.0, DType::kS64), place);
  *factor = Select(moved, 0.0 - pivot, pivot);
  // A column of zeros: the determinant is 0, whatever is left.
  const Expr divisor = Select(Equal(pivot, zero), Number(node, 1.0), pivot);
  const Expr share = At(swapped, 2, 0) / divisor;
  return Part(swapped, 2, 1, n) - share * Part(pivot_row, 2, 1, n);
}

void ImportDet(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const Shape shape = x.shape();
  node.Check(shape.size() >= 2 && shape.back() == shape[shape.size() - 2], "input has the shape ",
             ToString(shape), ", expected square matrices");
  const int64_t n = shape.back();
  const Shape batch(shape.begin(), shape.end() - 2);
  node.CheckSupported(n >= 1 && n <= kLargestMatrix, "has matrices of ", n, " rows, expected 1 to ",
                      kLargestMatrix);
  Expr rest = Reshaped(x, {NumElements(batch), n, n});
  Expr result = Number(node, 1.0);
  for (int64_t i = 0; i + 1 < n; ++i) {
    Expr factor = result;
    rest = Eliminated(rest, &factor);
    result = i == 0 ? factor : result * factor;
  }
  GiveReshaped(n == 1 ? rest : result * rest, batch);
}

constexpr ImportEntry kDetImports[] = {{"Det", ImportDet}};

}  // namespace

std::span<const ImportEntry> DetImports() { return kDetImports; }

}  // namespace rshift
