// Which functions compute where a program reads.
#ifndef RSHIFT_QUANTIZE_INDEX_FUNCTIONS_H_
#define RSHIFT_QUANTIZE_INDEX_FUNCTIONS_H_

#include <vector>

#include "quantize/ops/ops.h"

namespace rshift {

// By node: whether it must stay F32 because its result decides which elements are read. `kinds`: by
// node, kFloat where it reads or writes no f32 activation.
//
// 1. Backwards from every Cast of f32 to s32 or s64: the functions behind it, up to graph inputs,
//    convolutions, and values that are features too: that a convolution or matrix product reads,
//    moved or through functions of one activation. A matrix product of two activations (the affine
//    grid of a spatial transformer) is one of them, what it reads is not.
// 2. Forwards from these: functions that read nothing else (the weights of a point between
//    elements, which are differences of coordinates).
std::vector<bool> IndexFunctions(const Graph& graph, const std::vector<OpKind>& kinds);

// Step 1 alone, from other nodes: `from` and what is found, by node.
std::vector<bool> FunctionsBefore(const Graph& graph, const std::vector<OpKind>& kinds,
                                  const std::vector<bool>& from);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INDEX_FUNCTIONS_H_
