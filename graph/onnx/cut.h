// Cutting a part out of a model that has been imported as far as it can be.
#ifndef RSHIFT_GRAPH_ONNX_CUT_H_
#define RSHIFT_GRAPH_ONNX_CUT_H_

#include <span>
#include <string>
#include <vector>

#include "graph/cut.h"
#include "graph/onnx/node.h"
#include "graph/onnx/proto.h"

namespace rshift {

// `nodes`: of the model's graph, in file order. `state`: what could be imported.
ModelPart CutPart(onnx::ModelProto model, std::span<const NodeSupport> nodes,
                  const ImportState& state, const CutEnds& ends);

// By node: in the part that CutEnds without outputs means. `values`: what of it is read from
// outside, in file order.
struct DeployablePart {
  std::vector<bool> nodes;
  std::vector<std::string> values;
};
DeployablePart FindDeployablePart(const onnx::GraphProto& graph, std::span<const NodeSupport> nodes,
                                  const ImportState& state);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_CUT_H_
