// Convolutions of small groups, whose output channels the kernels would pad to 16 each:
// neighbouring groups become one, in which a channel has Z_w, which adds 0, for the inputs of
// the others.
#ifndef RSHIFT_CODEGEN_PASSES_MERGE_GROUPS_H_
#define RSHIFT_CODEGEN_PASSES_MERGE_GROUPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "target/conv_forms.h"

namespace rshift {

// Every QConv of groups but depthwise ones.
Graph MergeGroups(const Graph& graph, const ConvForms& forms);

// How many groups make the convolution of weights [OC, IC / groups, KH, KW] cheapest as one; a
// divisor of `groups`.
int64_t GroupsPerCommand(const ConvForms& forms, int64_t groups, const Shape& weights);

// Weights [OC, IC / groups, KH, KW] -> [OC, together IC / groups, KH, KW]. fill: Z_w, one for
// each OC, or empty for 0.
std::vector<int8_t> JoinGroups(std::span<const int8_t> weights, const Shape& shape, int64_t groups,
                               int64_t together, std::span<const int32_t> fill);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_MERGE_GROUPS_H_
