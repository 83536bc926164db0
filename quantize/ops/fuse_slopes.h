// LeakyRelu and PRelu that become part of the product before them.
#ifndef RSHIFT_QUANTIZE_OPS_FUSE_SLOPES_H_
#define RSHIFT_QUANTIZE_OPS_FUSE_SLOPES_H_

#include <cstddef>
#include <set>

#include "graph/graph.h"
#include "quantize/ops/fuse_post_ops.h"

namespace rshift {

// A slope below 0 is another factor for accumulators below 0: one rounding for both, and no byte
// between them, whose step would be that of a range the result does not have (NUMERICS.md section
// 9.2). Fills FusedPostOps::slopes behind products with constant weights, on bytes, without a bound
// of their own, whose result such a function alone reads, with constant slopes of 0 and more.
// Where the profile ScalesBelowZero() and the target has negative_multipliers. `others`: nodes that
// stand for something else already.
void FindSlopes(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                const QuantizeOptions& options, const std::set<size_t>& others,
                PostOpPlan* post_ops);

// Of a model with integers of its own: post-operations that are one such function and nothing else
// become slopes.
void TakePostOpsAsSlopes(const Graph& graph, const QuantizeOptions& options, PostOpPlan* post_ops);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_FUSE_SLOPES_H_
