// Per-channel y = scale[c] * x + shift[c], and its folding into a product's weights.
#ifndef RSHIFT_GRAPH_PASSES_AFFINE_H_
#define RSHIFT_GRAPH_PASSES_AFFINE_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/util.h"

namespace rshift {

struct Affine {
  std::vector<double> scale, shift;  // one entry per channel
};

// The clamp of a Conv, ConvTranspose or MatMul; null for every other operator.
template <typename AnyOp>
auto ProductClamp(AnyOp& op) -> decltype(&std::get_if<Conv>(&op)->clamp) {
  if (auto* conv = std::get_if<Conv>(&op)) return &conv->clamp;
  if (auto* conv = std::get_if<ConvTranspose>(&op)) return &conv->clamp;
  if (auto* product = std::get_if<MatMul>(&op)) return &product->clamp;
  return nullptr;
}

// The dimension of the output that the bias runs along: 1 for convolutions, the last for MatMul; -1
// for every other operator.
int64_t OutputChannelAxis(const Graph& graph, const Node& node);
// Whether `affine` behind `node` can go into its weights and bias: they are F32 constants (the
// weights may be activations when every scale is 1) and no clamp stands between.
bool CanFold(const Graph& graph, const Node& node, const Affine& affine);
// Gives `node` new weights and bias constants (computed in double), named after `output`
// (by value: adding constants moves the names that the graph holds).
void Fold(Graph& graph, Links& links, Node& node, const Affine& affine, std::string output);

struct AffineStep {
  ValueId x;  // the operand that is not constant
  Affine affine;
};
// What `node` does to channel dimension `axis`, when it is an affine function of it.
std::optional<AffineStep> ReadAffineStep(const Graph& graph, const Node& node, int64_t axis);

// first, then second.
Affine Compose(const Affine& first, const Affine& second);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_AFFINE_H_
