// Names of a set into those of the model: entries by layer (ncnn) into entries by tensor (all
// others) and back, and names that end in an operator (TPU-MLIR) into ONNX's and back.
#ifndef RSHIFT_INTEROP_LAYER_NAMES_H_
#define RSHIFT_INTEROP_LAYER_NAMES_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "interop/model_names.h"
#include "interop/scale_set.h"

namespace rshift {

// Entries of kind layer_input and layer_weights become entries of the tensors that the layer reads;
// layers are found by the ONNX name of the node or of its output. Where layers disagree on a
// tensor, the largest range is kept and counted. Layers that the graph does not have are counted
// and left out; `unknown` gets their names. `graph`: as imported.
ScaleSet ByTensor(const ScaleSet& set, const Graph& graph, Losses* losses,
                  std::vector<std::string>* unknown = nullptr);
// For each Conv, Gemm and MatMul with constant weights, whose input has a scale: an entry for the
// input and one for the weights; those that the set does not have are 127 / max|w| of each output
// channel. Entries that no such layer reads are counted and left out. `graph`: as imported.
ScaleSet ByLayer(const ScaleSet& set, const Graph& graph, Losses* losses);

// "a_Relu" becomes the model's "a", of entries and precisions, in sets whose names end in an
// operator. Names that the model has as they are, and those it has in neither form, stay.
ScaleSet WithOnnxNames(const ScaleSet& set, const Graph& graph);
// The model's "a" becomes "a_Relu", as TPU-MLIR names what operators make; inputs and constants
// stay.
ScaleSet WithOperatorNames(const ScaleSet& set, const ModelNames& names);

// "a_Relu" -> "a"; a name without '_' stays.
std::string WithoutOperator(const std::string& name);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_LAYER_NAMES_H_
