// Values with a dimension whose size depends on the data. Such a dimension has room for the most
// that there can be; elements behind those that count are what the operators make of index 0. An
// operator that works on each element along it by itself passes it on; another one would compute
// with those elements, and is refused.
#ifndef RSHIFT_GRAPH_ONNX_BOUNDED_H_
#define RSHIFT_GRAPH_ONNX_BOUNDED_H_

#include <vector>

#include "graph/onnx/node.h"

namespace rshift {

// Notes which dimension of the node's result is bounded. Throws kUnsupported, naming the node, when
// the elements that do not count would change the others.
void BoundAfter(OnnxNode& node, const Op& op, const std::vector<ValueId>& inputs, ValueId result);

// Throws kUnsupported for an input whose size along one of the dimensions [begin, end) depends on
// the data: who asks for the size wants a number.
void RequireFixedDims(const OnnxNode& node, ValueId id, int64_t begin, int64_t end);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_BOUNDED_H_
