// Functions of channels that have scales of their own, in F32.
#ifndef RSHIFT_CODEGEN_PASSES_SPLIT_CHANNEL_SCALES_H_
#define RSHIFT_CODEGEN_PASSES_SPLIT_CHANNEL_SCALES_H_

#include "graph/graph.h"

namespace rshift {

// Every Unary with exponents becomes Mul(x, 2^input_exponents), the function, and
// Mul(y, 2^-output_exponents): no command for numbers in F32 has exponents. Products with powers of
// two are exact wherever their result is a normal number.
Graph SplitChannelScales(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_SPLIT_CHANNEL_SCALES_H_
