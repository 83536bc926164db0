// Ranges of tensors that a scale set says nothing of, from those around them.
#ifndef RSHIFT_INTEROP_FILL_RANGES_H_
#define RSHIFT_INTEROP_FILL_RANGES_H_

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

using MaybeRanges = std::vector<std::optional<TensorRange>>;  // by value

// The values of the node's output are those of its first input: what moves data, and MaxPool.
bool MovesValues(const Graph& graph, const Node& node);
// The values of one tensor are those of another: what moves data and MaxPool hand their range on,
// forwards and backwards. Ranges that are there already stay.
void FillMovedRanges(const Graph& graph, MaybeRanges* ranges);
// The same and the further rules of propagation (quantize/ranges/propagation_rules.h): AveragePool
// hands its range on, Clip what is left of it, Concat the hull of its inputs'; backwards, Clip,
// LeakyRelu, PRelu and Concat give their input the output's. Functions with known bounds have them.
void FillRanges(const Graph& graph, MaybeRanges* ranges);

// The node and all that is computed from it are neither Conv nor MatMul behind the node itself: the
// end of a model, whose results other tools leave in floating point.
bool IsTail(const Graph& graph, NodeId node);
// All nodes that compute with the value's bytes, directly or not.
std::vector<NodeId> Descendants(const Graph& graph, ValueId value);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_FILL_RANGES_H_
