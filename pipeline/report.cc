#include "pipeline/report.h"

#include "pipeline/tensor_view.h"

namespace rshift {

void CountCommands(const ProgramImage& image, DeployReport& report) {
  for (const Command& command : image.commands) {
    switch (FindOp(command.opcode)->op_class) {
      case OpClass::kInteger:
        ++report.integer_commands;
        break;
      case OpClass::kMove:
        ++report.move_commands;
        break;
      case OpClass::kFloat:
      case OpClass::kFloatLibrary:
        ++report.float_commands;
        break;
    }
  }
}

std::vector<ReportNode> ListNodes(const Graph& graph) {
  std::vector<ReportNode> nodes;
  for (const Node& node : graph.nodes()) {
    const Value& y = graph.value(node.outputs[0]);
    TensorRecord record;
    record.layout = y.layout;
    record.shape = y.shape;
    nodes.push_back({node.name, OpName(node.op), y.name, y.dtype, OnnxShape(record), y.quant});
  }
  return nodes;
}

}  // namespace rshift
