// Names inside the bodies of If, Loop, Scan and of functions.
#ifndef RSHIFT_GRAPH_ONNX_BODY_NAMES_H_
#define RSHIFT_GRAPH_ONNX_BODY_NAMES_H_

#include <map>
#include <set>
#include <string>

#include "graph/onnx/proto.h"

namespace rshift {

using Names = std::map<std::string, std::string>;  // old name -> new name

// Every name that a body makes itself: inputs, initializers, outputs of nodes.
std::set<std::string> OwnNames(const onnx::GraphProto& body);

// Names of the surrounding graph that the subgraphs of a node read.
std::set<std::string> CapturedNames(const onnx::NodeProto& node);

// Replaces the name where the map has it.
void Rename(std::string* name, const Names& names);
// What nodes read and make, also in the bodies inside of them, which keep their own names.
void RenameNodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes, const Names& names);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_BODY_NAMES_H_
