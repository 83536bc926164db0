// What follows a convolution and becomes part of it: post-operations of profiles that have them.
#ifndef RSHIFT_QUANTIZE_OPS_FUSE_POST_OPS_H_
#define RSHIFT_QUANTIZE_OPS_FUSE_POST_OPS_H_

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/types.h"

namespace rshift {

struct PostOpPlan {
  std::map<size_t, FusedPostOps> of;  // by the index of the Conv or MatMul
  std::set<size_t> taken;             // nodes that are fused into one
  // Convolutions that are written where another node stands, by that node: their addend exists
  // there.
  std::map<size_t, size_t> written_at;
};

// A function of one value as a post-operation; nullopt for any other operator.
std::optional<RealPostOp> PostOpOf(const Op& op);
RealPostOp PostOpOf(const Clamp& clamp);
// What the node makes of its input `side`: such a function, or a product or sum with a constant
// number and the clamp behind it. Empty for any other.
std::vector<RealPostOp> PostOpsOf(const Graph& graph, const Node& node, size_t side);

// Chains of functions, constant factors and offsets (PostOpsOf) and one Add, each the only reader
// of what comes before it, that is no graph output. The Add's other operand must exist before the
// convolution and be an activation of its shape; a zero point of it is a kLinear behind the sum.
// Behind nodes alone whose profile HasPostOps(). Where it FactorsBatchedMatMul() instead, a product
// of two activations takes in the multiplication by a positive number, or division, that alone
// reads it, as kLinear.
PostOpPlan FindPostOps(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                       const QuantizeOptions& options);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_FUSE_POST_OPS_H_
