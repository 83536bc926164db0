// Profile ascend: which of the layers it quantizes, and what is between them (NUMERICS.md).
#ifndef RSHIFT_QUANTIZE_ASCEND_PLAN_H_
#define RSHIFT_QUANTIZE_ASCEND_PLAN_H_

#include <string>

#include "graph/graph.h"
#include "quantize/config.h"
#include "quantize/ops/fuse_post_ops.h"
#include "quantize/options.h"
#include "quantize/types.h"

namespace rshift {

// Channels of the data that a layer reads must be more than this.
inline constexpr int64_t kAscendFewChannels = 16;

// Why a Conv or MatMul is not quantized; "" where it is. `calibrated`: there is a table. Throws
// kInvalidInput where the configuration gives scales to a layer that takes none.
std::string WhyNotAscend(const Graph& graph, const Node& node, const QuantizeConfig& config,
                         bool calibrated);

// Why a node that is none of those is not integer; "" for a Conv or MatMul.
std::string WhyHalf(const Graph& graph, const Node& node);

// The types of what quantized layers read: of `types` (by a table, or empty ones), with scale_d,
// offset_d and the attributes of the configuration. Two layers that read one tensor share one
// AscendQuant, and one that is told nothing takes the other's: throws kInvalidInput where they are
// told different things.
void SetAscendTypes(const Graph& graph, const QuantizationPlan& plan, const QuantizeConfig& config,
                    ValueTypes* types);

// Layers whose fp16 result goes on: to an operator that is not quantized, or out.
PostOpPlan FindHalfResults(const Graph& graph, const QuantizationPlan& plan);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_ASCEND_PLAN_H_
