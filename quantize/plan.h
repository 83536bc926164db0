// Which nodes get an integer form.
#ifndef RSHIFT_QUANTIZE_PLAN_H_
#define RSHIFT_QUANTIZE_PLAN_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/quantize.h"

namespace rshift {

enum class NodeForm {
  kOther,  // does not touch f32 activations: copied as it is
  kFloat,  // runs in F32
  kInteger,
};

struct QuantizationPlan {
  std::vector<NodeForm> forms;       // by node
  std::vector<std::string> reasons;  // by node: why kFloat
};

// Convolution and MatMul with constant weights are always integer. Functions of few inputs (Add,
// pools, activations) are integer next to integer values, and stay F32 among F32 nodes, where they
// would only lose accuracy. Data movement follows what it moves; from graph input to graph output
// it is integer. What reads or writes infinities (constants that hold them, tensors in which
// calibration found them: masks) stays F32. Models with their own parameters: quantize/qdq.h.
QuantizationPlan MakePlan(const Graph& graph, const QuantizeConfig& config,
                          const Profile& profile = {}, const CalibrationTable& table = {});

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PLAN_H_
