// The parts of reading an ONNX file that come before any node: parsing, checking the names,
// ordering.
#ifndef RSHIFT_GRAPH_ONNX_MODEL_H_
#define RSHIFT_GRAPH_ONNX_MODEL_H_

#include <span>
#include <string>
#include <vector>

#include "graph/import.h"
#include "graph/onnx/node.h"
#include "graph/onnx/opset.h"

namespace rshift {

// Throws kInvalidInput for anything that is not a whole ONNX model, kUnsupported for other opsets.
onnx::ModelProto ParseModel(std::span<const uint8_t> bytes);

// Indices of the nodes in an order in which every value is made before it is read; stable. Throws
// kInvalidInput for a name that nobody makes, that two make, or for a cycle.
std::vector<int> OrderNodes(const onnx::GraphProto& graph);

// Adds the initializers as constants; their protobuf copies are freed.
void AddInitializers(onnx::GraphProto& graph, ImportState& state);
// Adds the graph inputs that are no initializers, with the user's shapes and bindings. With
// `lenient`, an input whose shape stays dynamic is left unknown instead of throwing.
void AddInputs(const onnx::GraphProto& graph, const ImportOptions& options, bool lenient,
               ImportState& state);
void AddOutputs(const onnx::GraphProto& graph, ImportState& state);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_MODEL_H_
