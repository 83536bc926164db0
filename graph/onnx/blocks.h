// QuantizeLinear and DequantizeLinear with a scale for each block of elements along an axis.
#ifndef RSHIFT_GRAPH_ONNX_BLOCKS_H_
#define RSHIFT_GRAPH_ONNX_BLOCKS_H_

#include <utility>

#include "graph/onnx/node.h"

namespace rshift {

// DequantizeLinear with block_size: of a constant the result is an f32 constant without integers of
// its own. Throws kInvalidInput where sizes disagree.
void DequantizeBlocks(OnnxNode& node);
// QuantizeLinear to integers of this type, between these limits.
void QuantizeBlocks(OnnxNode& node, DType type, std::pair<float, float> limits);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_BLOCKS_H_
