// Matching of decomposed functions, shared by the recognizers.
#ifndef RSHIFT_GRAPH_PASSES_PATTERNS_H_
#define RSHIFT_GRAPH_PASSES_PATTERNS_H_

#include <optional>
#include <vector>

#include "graph/passes/util.h"

namespace rshift {

// Mul, Div by a constant, Neg and small integer Pow, multiplied out: number * factors[0] *
// factors[1] ...
struct Product {
  double number = 1.0;
  std::vector<ValueId> factors;
};

// term + number, constants on either side. Nothing when the value is not such a sum.
struct Sum {
  ValueId term;
  double number = 0.0;
  Clamp clamp;
};

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph), links_(graph) {}

  // Looks through the products that make up `value`. A value with other readers than this product
  // is a factor, not looked into (except `value` itself).
  Product ReadProduct(ValueId value) const;
  std::optional<Sum> ReadSum(ValueId value) const;
  // x of f(x) when `value` is made by that function.
  ValueId ArgumentOf(ValueId value, UnaryOp function) const;
  const Graph& graph() const { return graph_; }
  const Links& links() const { return links_; }
  // For whoever rewrites the graph; see Links.
  Links& links() { return links_; }

 private:
  void Multiply(ValueId value, int depth, Product* product) const;
  bool MultiplyNode(const Node& node, int depth, Product* product) const;

  const Graph& graph_;
  Links links_;
};

// Whether a is b to float accuracy.
bool Near(double a, double b);

// Removes `value` from the factors once; false when it is not there.
bool TakeFactor(Product* product, ValueId value);

// One number per row of x: what remains when `axis` goes.
struct RowValue {
  ValueId x;
  int64_t axis = 0;
  friend bool operator==(const RowValue&, const RowValue&) = default;
};

// The value that holds the same elements in the same order, looked for through Reshape and through
// the max(-inf, x) with which JAX begins a maximum.
ValueId BehindCopies(const Matcher& m, ValueId value);
// Whether `value`, before any Expand, is the shape of x with one element along the axis, so that it
// meets x row by row.
bool MeetsRows(const Matcher& m, ValueId value, const RowValue& rows);
// `value` without the Expand that spreads it.
ValueId BeforeExpand(const Matcher& m, ValueId value);
// What `value` reduces by `op` (kMean: also a sum times 1 / size), when that is one dimension.
std::optional<RowValue> ReadReduced(const Matcher& m, ValueId value, ReduceOp op);

// The recognizer of graph/passes/layer_norm.cc: rewrites one LayerNorm that ends at node `index`.
// `matcher` is of `graph` and stays so.
bool RecognizeLayerNorm(Graph& graph, Matcher& matcher, size_t index);
// As RecognizeLayerNorm(), of graph/passes/softmax.cc.
bool RecognizeSoftmax(Graph& graph, Matcher& matcher, size_t index);
bool RecognizeLogSoftmax(Graph& graph, Matcher& matcher, size_t index);
// Where(IsNaN(y), 0, y) of a Softmax y that has no row of minus infinities becomes the Softmax;
// what adds zeros in front of a Softmax goes.
bool DropSoftmaxGuard(Graph& graph, Matcher& matcher, size_t index);
bool DropEmptyMask(Graph& graph, Matcher& matcher, size_t index);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_PATTERNS_H_
