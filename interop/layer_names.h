// Entries by layer (ncnn) and entries by tensor (all others), one into the other by the model.
#ifndef RSHIFT_INTEROP_LAYER_NAMES_H_
#define RSHIFT_INTEROP_LAYER_NAMES_H_

#include "graph/graph.h"
#include "interop/scale_set.h"

namespace rshift {

// Entries of kind layer_input and layer_weights become entries of the tensors that the layer reads;
// layers are found by the ONNX name of the node or of its output. Where layers disagree on a
// tensor, the largest range is kept and counted. Layers that the graph does not have are counted
// and left out. `graph`: as imported.
ScaleSet ByTensor(const ScaleSet& set, const Graph& graph, Losses* losses);
// For each Conv, Gemm and MatMul with constant weights, whose input has a scale: an entry for the
// input and one for the weights; those that the set does not have are 127 / max|w| of each output
// channel. Entries that no such layer reads are counted and left out. `graph`: as imported.
ScaleSet ByLayer(const ScaleSet& set, const Graph& graph, Losses* losses);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_LAYER_NAMES_H_
