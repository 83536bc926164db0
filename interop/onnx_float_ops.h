// The float operators of a graph in ONNX order as nodes of an ONNX model.
#ifndef RSHIFT_INTEROP_ONNX_FLOAT_OPS_H_
#define RSHIFT_INTEROP_ONNX_FLOAT_OPS_H_

#include <string>
#include <vector>

#include "interop/onnx_writer.h"

namespace rshift {

// Writes `node`, whose inputs are tensors of these names, and the activation fused into it. Throws
// kUnsupported naming node and operator for those that it cannot write.
void WriteFloatNode(const Graph& graph, const Node& node, const std::vector<std::string>& inputs,
                    const std::string& output, OnnxWriter* writer);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_ONNX_FLOAT_OPS_H_
