// TopK by counting: an element's place is the number of those that come before it.
#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Comparisons of one node: rows * length^2.
constexpr int64_t kMostComparisons = int64_t{1} << 24;

// x: [..., n] -> places [..., n] as f32; equal elements keep their order.
Expr PlacesOf(const Expr& x, bool largest) {
  OnnxNode& node = x.node();
  const int64_t n = x.dim(x.rank() - 1);
  const Expr self = Unsqueezed(x, -1), others = Unsqueezed(x, -2);
  const Expr ahead = largest ? Less(self, others) : Less(others, self);
  const Expr earlier = Less(Iota(node, n, 2, 1), Iota(node, n, 2, 0));
  const Expr before = Apply(BinaryOp::kOr, ahead, And(Equal(self, others), earlier));
  return Reduced(ReduceOp::kSum, CastTo(before, DType::kF32), {-1}, false);
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
  node.Check(k >= 1 && k <= n, "k is ", k, ", expected 1 to ", n);
  const int64_t work = NumElements(x.shape());
  node.CheckSupported(work <= kMostComparisons / n, "sorts ", n, " elements of ",
                      ToString(x.shape()), " with ", work, " * ", n,
                      " comparisons, expected at most ", kMostComparisons,
                      "; deploy the part before it and run the rest in the application");
  std::vector<int64_t> perm(x.rank());
  for (size_t d = 0; d < perm.size(); ++d) perm[d] = static_cast<int64_t>(d);
  std::swap(perm[axis], perm.back());
  const Expr rows = Transposed(x, perm);
  const Expr places = Unsqueezed(PlacesOf(rows, node.Int("largest", 1) != 0), -2);  // [..., 1, n]
  const Expr wanted = CastTo(Iota(node, k, 2, 0), DType::kF32);                     // [k, 1]
  const Expr found = CastTo(Equal(places, wanted), DType::kF32);                    // [..., k, n]
  Shape shape = rows.shape();
  shape.back() = k;
  const Expr indices = Reshaped(ArgMaxOf(found, -1), shape);
  const Expr values = Gathered(
      Flat(rows), PlacesAlong(indices, rows.shape(), static_cast<int64_t>(x.rank()) - 1), 0);
  if (node.OutputUsed(0)) Give(Transposed(values, perm), 0);
  if (node.OutputUsed(1)) Give(Transposed(indices, perm), 1);
}

constexpr ImportEntry kTopKImports[] = {{"TopK", ImportTopK}};

}  // namespace

std::span<const ImportEntry> TopKImports() { return kTopKImports; }

}  // namespace rshift
