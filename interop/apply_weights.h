// Scales of weights, given to a model.
#ifndef RSHIFT_INTEROP_APPLY_WEIGHTS_H_
#define RSHIFT_INTEROP_APPLY_WEIGHTS_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "interop/model_names.h"
#include "interop/scale_set.h"

namespace rshift {

// Nodes of `graph` that come from those of the ONNX file that read this constant as weights.
std::vector<NodeId> WeightedNodes(const ModelNames& names, const Graph& graph,
                                  const std::string& constant);

// Gives the weights of `graph` (after RunPasses) the integers that the entry's scales make of them,
// round(w / scale) + zero point, in floats, ties to even, as if the model had brought them. The
// weights are found by the constant's name, and where the importer transposed them (Gemm with
// transB) by the node that reads it, never by their values. "" when done; else why not, one line
// for all entries of the kind: no such constant, an operator without integer weights, weights that
// a pass changed since `imported` (batch normalization folded in), widths above 8 bits, scales
// along another dimension than the output channels. Throws kInvalidInput for another number of
// scales than one, or one for each output channel.
std::string ApplyWeightScales(const ScaleSet& set, const ScaleEntry& entry, const Graph& imported,
                              const ModelNames& names, Graph* graph);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_APPLY_WEIGHTS_H_
