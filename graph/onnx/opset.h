// Which versions of the standard operators are read, and what the newest ones added.
#ifndef RSHIFT_GRAPH_ONNX_OPSET_H_
#define RSHIFT_GRAPH_ONNX_OPSET_H_

#include <cstdint>
#include <string>

#include "graph/onnx/proto.h"

namespace rshift {

inline constexpr int64_t kOldestOpset = 6;
inline constexpr int64_t kNewestOpset = 28;

// Whether opset 6 has the operator in the form that opset 1 gave it: models of opsets from 1 on are
// read where all of their nodes are such.
bool IsUnchangedToOldest(const std::string& op_type);

// The opset of the standard operators; 0 when the model imports none.
int64_t OpsetOf(const onnx::ModelProto& model);

// What a node asks for that came with an opset from 24 on and is not supported, as text; "" when
// there is nothing.
std::string NewerThanSupported(const onnx::NodeProto& node, int64_t opset);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_OPSET_H_
