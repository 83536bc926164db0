// Tensors that other tools leave in floating point: their operators run in F32.
#ifndef RSHIFT_INTEROP_APPLY_FLOAT_H_
#define RSHIFT_INTEROP_APPLY_FLOAT_H_

#include <set>

#include "graph/graph.h"
#include "interop/fill_ranges.h"
#include "quantize/config.h"

namespace rshift {

// The node is to run in F32, unless the configuration has said otherwise.
void KeepFloat(const Graph& graph, const Node& node, QuantizeConfig* config);

// Adds to `values` the tensors whose values those of it are (Reshape, MaxPool), as far as they have
// no range of their own; then keeps in F32 what makes or reads one of them.
void KeepTensorsFloat(const Graph& graph, const MaybeRanges& ranges, std::set<ValueId>* values,
                      QuantizeConfig* config);

// A table has a range for every tensor; those that no operator of integers meets get [-1, 1].
void FillFloatRanges(const Graph& graph, const std::set<ValueId>& values,
                     const QuantizeConfig& config, MaybeRanges* ranges);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_APPLY_FLOAT_H_
