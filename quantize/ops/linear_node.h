// What Conv, ConvTranspose and MatMul have in common: what is asked of the node's weights, and the
// integer operator in its place.
#ifndef RSHIFT_QUANTIZE_OPS_LINEAR_NODE_H_
#define RSHIFT_QUANTIZE_OPS_LINEAR_NODE_H_

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/ops/weight_request.h"

namespace rshift {

// Weights, bias, their origins, types and options of the node.
WeightRequest RequestOf(Emitter& emitter, const Node& node);
// The integer operator of a Conv or MatMul: x, weights and the addend of a fused sum in, its output
// out. `clamp`: the node's own, which an fp16 result may need an operator for.
void AddLinearNode(Emitter& emitter, const Node& node, Op op, ValueId x, ValueId weights,
                   const Clamp& clamp);

// kInternal where accumulators below 0 have words of their own, which those of 16-bit inputs never
// have.
void RequireOneFactor(const Node& node, const QLinear& linear);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_LINEAR_NODE_H_
