// Graphs inside a model: the bodies of If, Loop and Scan, and functions that the model defines.
// Their nodes are imported in the place of the node that has them, under names derived from its.
#ifndef RSHIFT_GRAPH_ONNX_BODY_H_
#define RSHIFT_GRAPH_ONNX_BODY_H_

#include <string>
#include <vector>

#include "graph/onnx/expr.h"

namespace rshift {

// What unrolling may make: iterations of one loop, and nodes of all bodies together.
inline constexpr int64_t kMostIterations = 1024;
inline constexpr int64_t kMostBodyNodes = 200'000;

// Imports `body` once with these values for its inputs; gives its outputs. `part` ("3") tells
// several copies apart. Throws kUnsupported for a node in it that cannot be imported.
std::vector<Expr> ImportBody(OnnxNode& node, const onnx::GraphProto& body, const std::string& part,
                             const std::vector<Expr>& inputs);

// Attributes by name, as in the file.
using NodeAttributes = std::vector<onnx::AttributeProto>;
NodeAttributes AttributesOf(const OnnxNode& node, const std::vector<std::string>& names);
onnx::AttributeProto IntAttribute(const std::string& name, int64_t value);
onnx::AttributeProto IntsAttribute(const std::string& name, const std::vector<int64_t>& values);

// The first output of an operator of the standard domain. An invalid value stands for an input that
// is left out.
Expr Called(OnnxNode& node, const std::string& op_type, const std::vector<Expr>& inputs,
            const NodeAttributes& attributes);

// The function of the model that the node calls; null when it calls none.
const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node, const onnx::ModelProto& model);
// Import function of a node that calls one.
void ImportFunctionCall(OnnxNode& node);

// Imports one node into state.values. Throws as import functions do.
void ImportOneNode(const onnx::NodeProto& proto, ImportState& state);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_BODY_H_
