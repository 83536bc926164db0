// Which nodes get an integer form.
#ifndef RSHIFT_QUANTIZE_PLAN_H_
#define RSHIFT_QUANTIZE_PLAN_H_

#include <set>
#include <string>

#include "graph/graph.h"
#include "quantize/config.h"
#include "quantize/profile.h"
#include "quantize/ranges/table.h"
#include "quantize/types.h"

namespace rshift {

// Convolution and MatMul with constant weights are always integer. Functions of few inputs (Add,
// pools, activations) are integer next to integer values, and stay F32 among F32 nodes, where they
// would only lose accuracy. Data movement follows what it moves; from graph input to graph output
// it is integer. What reads or writes infinities (constants that hold them, tensors in which
// calibration found them: masks) stays F32. Models with their own parameters: quantize/qdq.h.
// `integer_inputs`: QuantizeOptions'.
QuantizationPlan MakePlan(const Graph& graph, const QuantizeConfig& config,
                          const Profile& profile = {}, const CalibrationTable& table = {},
                          const std::set<std::string>& integer_inputs = {});

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PLAN_H_
