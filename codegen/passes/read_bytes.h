// Convolutions and matrix products with 16-bit results whose operand is a byte widened to 16 bits
// by factor 1: they read the byte. The sums are the same numbers, and the 8-bit kernels make them.
#ifndef RSHIFT_CODEGEN_PASSES_READ_BYTES_H_
#define RSHIFT_CODEGEN_PASSES_READ_BYTES_H_

#include "graph/graph.h"

namespace rshift {

// Whether a node widens bytes, every one to itself without the zero point.
bool WidensBytes(const Graph& graph, const Node& node);

// Every QConvS16 but depthwise ones, and every QMatMulS16, with rounding half_up, where |bias| and
// the products of the largest byte fit 32 bits. The zero point of the byte moves into the bias. A
// RequantizeS16 that nothing else reads is left out.
Graph ReadBytes(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_READ_BYTES_H_
