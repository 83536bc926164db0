// A model as a graph.
#include "pipeline/graph_json.h"

namespace rshift {
namespace {

const char* KindOfForm(NodeForm form) {
  switch (form) {
    case NodeForm::kInteger:
      return "integer";
    case NodeForm::kFloat:
      return "float";
    case NodeForm::kOther:
      break;
  }
  return "move";
}

}  // namespace

nlohmann::json ModelGraphJson(const Graph& graph, const QuantizationPlan& plan) {
  nlohmann::json json = {{"facts", {{"model", graph.name}}},
                         {"tensors", nlohmann::json::array()},
                         {"nodes", nlohmann::json::array()},
                         {"edges", nlohmann::json::array()}};
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    json["tensors"].push_back(
        {{"name", value.name}, {"type", Name(value.dtype)}, {"shape", value.shape}});
  }
  std::vector<int64_t> maker(static_cast<size_t>(graph.value_count()), -1);  // the node, by value
  const auto made = [&](ValueId id) {
    maker[static_cast<size_t>(id.index())] = static_cast<int64_t>(json["nodes"].size());
  };
  const auto reads = [&](ValueId id) {
    if (maker[static_cast<size_t>(id.index())] >= 0)
      json["edges"].push_back(
          {maker[static_cast<size_t>(id.index())], json["nodes"].size(), id.index()});
  };
  for (const ValueId input : graph.inputs) {
    made(input);
    json["nodes"].push_back({{"name", graph.value(input).name},
                             {"op", "input"},
                             {"kind", "input"},
                             {"makes", input.index()}});
  }
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    nlohmann::json row = {{"name", node.name},
                          {"op", OpName(node.op)},
                          {"kind", KindOfForm(plan.forms[n])},
                          {"makes", node.outputs[0].index()},
                          {"constants", nlohmann::json::array()}};
    if (!plan.reasons[n].empty()) row["reason"] = plan.reasons[n];
    for (const ValueId input : node.inputs) {
      if (!input.valid()) continue;
      reads(input);
      if (graph.value(input).is_constant()) row["constants"].push_back(input.index());
    }
    for (const ValueId output : node.outputs) made(output);
    json["nodes"].push_back(std::move(row));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    reads(graph.outputs[i]);
    json["nodes"].push_back(
        {{"name", graph.output_names[i]}, {"op", "output"}, {"kind", "output"}, {"makes", -1}});
  }
  return json;
}

}  // namespace rshift
