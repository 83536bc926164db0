// TopK: where the best elements of each row lie, and what they are.
#include <algorithm>
#include <numeric>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Of rows of constants.
Expr PlacesOfConstants(const Expr& rows, int64_t k, bool smallest) {
  const std::vector<double> elements = Doubles(rows.value());
  const int64_t n = rows.dim(1);
  std::vector<int64_t> places, order(n);
  for (int64_t r = 0; r < rows.dim(0); ++r) {
    const double* row = elements.data() + r * n;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const bool is_nan = row[a] != row[a] || row[b] != row[b];  // behind all numbers
      if (is_nan) return row[a] == row[a] && row[b] != row[b];
      return smallest ? row[a] < row[b] : row[a] > row[b];
    });
    places.insert(places.end(), order.begin(), order.begin() + k);
  }
  return Ints(rows.node(), {rows.dim(0), k}, places);
}

Expr PlacesOfBest(const Expr& rows, int64_t k, bool smallest) {
  if (rows.is_constant()) return PlacesOfConstants(rows, k, smallest);
  return rows.Emit(TopK{.smallest = smallest}, {rows.id()}, DType::kS64, {rows.dim(0), k});
}

void ImportTopK(OnnxNode& node) {
  const Expr x = In(node, 0);
  int64_t k = node.Int("k", 0);
  if (node.opset() >= 10) {
    const auto given = node.ConstantInts(1, "k");
    node.Check(given.size() == 1, "k has ", given.size(), " elements, expected 1");
    k = given[0];
  }
  const int64_t axis = node.Axis(node.Int("axis", -1), x.rank()), n = x.dim(axis);
  node.Check(k >= 0 && k <= n, "k is ", k, ", expected 0 to ", n);
  std::vector<int64_t> perm(x.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm.back());
  const Expr turned = Transposed(x, perm);
  const Expr rows = Reshaped(turned, {n == 0 ? 0 : NumElements(x.shape()) / n, n});
  Shape shape = turned.shape();
  shape.back() = k;
  const Expr places = Reshaped(PlacesOfBest(rows, k, node.Int("largest", 1) == 0), shape);
  const Expr values = Gathered(
      Flat(turned), PlacesAlong(places, turned.shape(), static_cast<int64_t>(x.rank()) - 1), 0);
  if (node.OutputUsed(0)) Give(Transposed(values, perm), 0);
  if (node.OutputUsed(1)) Give(Transposed(places, perm), 1);
}

constexpr ImportEntry kTopKImports[] = {{"TopK", ImportTopK}};

}  // namespace

std::span<const ImportEntry> TopKImports() { return kTopKImports; }

}  // namespace rshift
