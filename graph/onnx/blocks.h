// Constants with a scale for each block of elements along an axis.
#ifndef RSHIFT_GRAPH_ONNX_BLOCKS_H_
#define RSHIFT_GRAPH_ONNX_BLOCKS_H_

#include "graph/onnx/node.h"

namespace rshift {

// A DequantizeLinear with block_size: its result is an f32 constant without integers of its own.
// Throws kUnsupported for an activation, kInvalidInput where sizes disagree.
void DequantizeBlocks(OnnxNode& node);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_BLOCKS_H_
