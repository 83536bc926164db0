// Where the range of a tensor comes from, step by step.
#ifndef RSHIFT_PIPELINE_EXPLAIN_H_
#define RSHIFT_PIPELINE_EXPLAIN_H_

#include <nlohmann/json.hpp>
#include <string>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

// {"tensor", "observed": {min, max, min_sample, max_sample, samples, infinities}, "table": {method,
// reason, symmetric, asymmetric}}, each mode with its range and, where the table has them, clipped
// and sqnr_db. With a graph (after RunPasses and Equalize) also "made_by", "consumers": [node,
// operator], and in each mode "propagation": [{rule, reason, before, after}] and the "final" range,
// scale and zero point; null where the tensor has no integers. Throws kInvalidInput, with what may
// have been meant, for a tensor that the table does not have. One of the model whose channels the
// table has scaled is found by its own name, too.
nlohmann::json ExplainTensor(const CalibrationTable& table, const std::string& where,
                             const std::string& asked, const Graph* graph);

// Nodes that join tensors (Concat, Add, Sub, Max, Min, Where) whose own ranges lie more than
// kFarApart apart, the farthest first: [{node, op, output, mode, ratio, inputs: [{tensor, range,
// quanta}]}]: how many of the 256 numbers of the output's scale the input's range reaches over.
nlohmann::json JoinsFarApart(const CalibrationTable& table, const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_EXPLAIN_H_
