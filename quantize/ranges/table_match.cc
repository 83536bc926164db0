#include "quantize/ranges/table_match.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "quantize/ranges/ranges.h"

namespace rshift {
namespace {

// "x__nhwc", "x__nhwc_1": what the layout pass calls the Transposes and Reshapes that it inserts.
// Scaled like what they copy, they are copies still.
bool HasLayoutSuffix(const std::string& name) {
  for (const char* suffix : {"__nhwc", "__nchw", "__view", "__moved"}) {
    const size_t at = name.rfind(suffix);
    if (at == std::string::npos || at == 0) continue;
    const std::string rest = name.substr(at + std::string(suffix).size());
    if (rest.empty()) return true;
    if (rest.size() > 1 && rest[0] == '_' &&
        std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return true;
    }
  }
  return false;
}

bool IsLayoutCopy(const Graph& graph, const Node& node) {
  const bool moves =
      std::holds_alternative<Transpose>(node.op) || std::holds_alternative<Reshape>(node.op);
  return moves && HasLayoutSuffix(ModelName(graph.value(node.outputs[0]).name));
}

// At most ten names, in the order given.
std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 10; ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > 10) text += Cat(" and ", names.size() - 10, " more");
  return text;
}

}  // namespace

std::string WithoutOperator(const std::string& name) {
  const size_t at = name.rfind('_');
  return at == std::string::npos ? name : name.substr(0, at);
}

std::vector<ValueId> TableSources(const Graph& graph) {
  std::vector<ValueId> sources(graph.value_count());
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (!value.is_constant() && value.dtype == DType::kF32) sources[i] = ValueId(i);
  }
  for (const Node& node : graph.nodes()) {
    const ValueId y = node.outputs[0];
    if (!sources[y.index()].valid() || !IsLayoutCopy(graph, node)) continue;
    const ValueId source = sources[node.inputs[0].index()];
    if (source.valid()) sources[y.index()] = source;
  }
  return sources;
}

std::vector<ValueId> CalibratedValues(const Graph& graph) {
  const std::vector<ValueId> sources = TableSources(graph);
  std::vector<ValueId> values;
  for (int i = 0; i < graph.value_count(); ++i) {
    if (sources[i] == ValueId(i)) values.push_back(ValueId(i));
  }
  return values;
}

std::vector<const TensorRange*> MatchTable(const Graph& graph, const CalibrationTable& table) {
  std::map<std::string, const TensorRange*> by_name;
  for (const auto& [name, range] : table.tensors) by_name[name] = &range;
  if (table.method == "tpu-mlir") {
    for (const auto& [name, range] : table.tensors)
      by_name.try_emplace(WithoutOperator(name), &range);
  }
  std::vector<const TensorRange*> used;
  std::vector<const TensorRange*> found(graph.value_count(), nullptr);
  std::vector<std::string> missing;
  for (ValueId id : CalibratedValues(graph)) {
    const auto entry = by_name.find(graph.value(id).name);
    if (entry == by_name.end()) {
      missing.push_back(graph.value(id).name);
    } else {
      found[id.index()] = entry->second;
      used.push_back(entry->second);
    }
  }
  RSHIFT_REQUIRE(missing.empty(), ErrorCode::kInvalidInput, "the calibration table lacks ",
                 missing.size(), missing.size() == 1 ? " tensor" : " tensors",
                 " of the model: ", List(missing),
                 "; calibrate this model again, with the same --append");
  std::sort(used.begin(), used.end());
  std::vector<std::string> foreign;
  for (const auto& [name, range] : table.tensors) {
    if (!std::binary_search(used.begin(), used.end(), &range)) foreign.push_back(name);
  }
  RSHIFT_REQUIRE(foreign.empty(), ErrorCode::kInvalidInput, "the calibration table has ",
                 foreign.size(), foreign.size() == 1 ? " tensor" : " tensors",
                 " that the model lacks: ", List(foreign), "; is it the table of another model?");
  const std::vector<ValueId> sources = TableSources(graph);
  for (int i = 0; i < graph.value_count(); ++i) {
    if (sources[i].valid()) found[i] = found[sources[i].index()];
  }
  return found;
}

}  // namespace rshift
