// Scales of weights, given to a model.
#ifndef RSHIFT_INTEROP_APPLY_WEIGHTS_H_
#define RSHIFT_INTEROP_APPLY_WEIGHTS_H_

#include "graph/graph.h"
#include "interop/scale_set.h"

namespace rshift {

// Gives the weights of `graph` (after RunPasses) the integers that the set's scales make of them,
// round(w / scale) + zero point, ties to even, as if the model had brought them. Entries are by the
// names of the constants of `imported`; those that a pass changed since (batch normalization folded
// in) are counted and left out, and widths above 8 bits. Throws kInvalidInput for another number of
// scales than one, or one for each output channel.
void ApplyWeightScales(const ScaleSet& set, const Graph& imported, Graph* graph, Losses* losses);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_APPLY_WEIGHTS_H_
