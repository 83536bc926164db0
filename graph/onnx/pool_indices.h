// The second output of MaxPool.
#ifndef RSHIFT_GRAPH_ONNX_POOL_INDICES_H_
#define RSHIFT_GRAPH_ONNX_POOL_INDICES_H_

#include "graph/onnx/node.h"

namespace rshift {

// Output 1 of a MaxPool over 1 to 3 dimensions whose result has the shape `out`.
void ImportPoolIndices(OnnxNode& node, const Shape& out);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_POOL_INDICES_H_
