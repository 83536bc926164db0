#include "pipeline/explain.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "quantize/equalize/apply.h"
#include "quantize/output_joins.h"
#include "quantize/quantize.h"
#include "quantize/ranges/table_match.h"

namespace rshift {
namespace {

constexpr std::pair<const char*, QuantMode> kModes[] = {{"symmetric", QuantMode::kSymmetric},
                                                        {"asymmetric", QuantMode::kAsymmetric}};

nlohmann::json Ends(const ValueRange& range, QuantMode mode) {
  if (mode == QuantMode::kAsymmetric) return {range.low, range.high};
  return {range.is_signed ? -range.threshold : range.low, range.threshold};
}

ValueRange Own(const TensorRange& range, QuantMode mode) {
  if (mode == QuantMode::kSymmetric)
    return {.is_signed = range.min < 0, .threshold = range.threshold};
  return {.low = std::min(range.low, 0.0f), .high = std::max(range.high, 0.0f)};
}

double Width(const ValueRange& range, QuantMode mode) {
  if (mode == QuantMode::kAsymmetric)
    return static_cast<double>(range.high) - static_cast<double>(range.low);
  return range.is_signed ? 2.0 * static_cast<double>(range.threshold) : range.threshold;
}

nlohmann::json OfTable(const TensorRange& range, QuantMode mode) {
  nlohmann::json entry = {{"range", Ends(Own(range, mode), mode)}};
  const auto& effect = mode == QuantMode::kSymmetric ? range.symmetric : range.asymmetric;
  if (!effect) return entry;
  entry["clipped"] = effect->clipped;
  entry["sqnr_db"] = effect->sqnr_db;
  return entry;
}

QuantizeResult Quantized(const Graph& graph, const CalibrationTable& table, QuantMode mode) {
  QuantizeOptions options;
  options.mode = mode;
  return QuantizeGraph(graph, table, options);
}

nlohmann::json OfProgram(const Graph& graph, const CalibrationTable& table,
                         const std::string& tensor, QuantMode mode) {
  const QuantizeResult result = Quantized(graph, table, mode);
  nlohmann::json found = {{"propagation", nlohmann::json::array()}, {"final", nullptr}};
  for (const RangeChange& change : result.report.range_changes) {
    if (change.tensor != tensor) continue;
    found["propagation"].push_back({{"rule", change.rule},
                                    {"reason", change.reason},
                                    {"before", Ends(change.before, mode)},
                                    {"after", Ends(change.after, mode)}});
  }
  const ValueId id = result.graph.FindValue(tensor);
  if (!id.valid() || !result.graph.value(id).quant) return found;
  const Value& value = result.graph.value(id);
  const int least = value.dtype == DType::kU8 ? 0 : -128;
  const QuantParams& quant = *value.quant;
  const auto real = [&](int q) { return quant.scale * static_cast<float>(q - quant.zero_point); };
  found["final"] = {{"type", Name(value.dtype)},
                    {"scale", quant.scale},
                    {"zero_point", quant.zero_point},
                    {"range", {real(least), real(least + 255)}}};
  return found;
}

// The name in the table of a tensor of the model, whose channels may have been scaled.
std::string NameIn(const CalibrationTable& table, const std::string& tensor) {
  const std::string scaled = Cat(tensor, kEqualizedSuffix);
  return table.Find(tensor) == nullptr && table.Find(scaled) != nullptr ? scaled : tensor;
}

const TensorRange& Find(const CalibrationTable& table, const std::string& where,
                        const std::string& tensor, const Graph* graph) {
  if (const TensorRange* range = table.Find(tensor)) return *range;
  std::set<std::string> names;
  for (const auto& [name, range] : table.tensors) names.insert(name);
  const std::string close = CloseNames(names, tensor);
  Fail(ErrorCode::kInvalidInput, where, ": has no tensor '", tensor, "'",
       close.empty() ? "" : "; did you mean " + close + "?",
       graph == nullptr ? " (--model finds what fusion took)" : "");
}

bool Joins(const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  return std::holds_alternative<Concat>(node.op) || std::holds_alternative<Where>(node.op) ||
         (binary != nullptr && (binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub ||
                                binary->op == BinaryOp::kMax || binary->op == BinaryOp::kMin));
}

}  // namespace

nlohmann::json ExplainTensor(const CalibrationTable& table, const std::string& where,
                             const std::string& asked, const Graph* graph) {
  const std::string tensor = NameIn(table, asked);
  const TensorRange& range = Find(table, where, tensor, graph);
  nlohmann::json found = {{"tensor", tensor},
                          {"observed",
                           {{"min", range.min},
                            {"max", range.max},
                            {"min_sample", range.min_sample},
                            {"max_sample", range.max_sample},
                            {"samples", table.samples},
                            {"infinities", range.infinities}}},
                          {"table", {{"method", range.method}, {"reason", range.reason}}}};
  for (const auto& [name, mode] : kModes) found["table"][name] = OfTable(range, mode);
  for (const auto& [name, scaled] : table.trial_tensors) {
    if (ModelName(name) == tensor) found["trial"] = name;
  }
  if (graph == nullptr) return found;
  const ValueId id = graph->FindValue(tensor);
  RSHIFT_REQUIRE(id.valid(), ErrorCode::kInvalidInput, "the model has no tensor '", tensor,
                 "' after its passes; is ", where, " the table of another model?");
  const NodeId maker = graph->Producers()[id.index()];
  found["made_by"] = nullptr;
  if (maker.valid()) found["made_by"] = {graph->node(maker).name, OpName(graph->node(maker).op)};
  found["consumers"] = nlohmann::json::array();
  const std::vector<std::vector<NodeId>> consumers = graph->Consumers();
  for (const NodeId reader : consumers[id.index()])
    found["consumers"].push_back({graph->node(reader).name, OpName(graph->node(reader).op)});
  for (const auto& [name, mode] : kModes) found[name] = OfProgram(*graph, table, tensor, mode);
  return found;
}

nlohmann::json JoinsFarApart(const CalibrationTable& table, const Graph& graph) {
  const std::vector<const TensorRange*> entries = MatchTable(graph, table);
  std::vector<nlohmann::json> found;
  for (const auto& [mode_name, mode] : kModes) {
    for (const Node& node : graph.nodes()) {
      const TensorRange* output = entries[node.outputs[0].index()];
      if (!Joins(node) || output == nullptr) continue;
      const double of_output = Width(Own(*output, mode), mode);
      double least = INFINITY, most = 0;
      nlohmann::json inputs = nlohmann::json::array();
      for (const ValueId input : node.inputs) {
        const TensorRange* entry = input.valid() ? entries[input.index()] : nullptr;
        if (entry == nullptr) continue;
        const double width = Width(Own(*entry, mode), mode);
        least = std::min(least, width);
        most = std::max(most, width);
        inputs.push_back(
            {{"tensor", graph.value(input).name},
             {"range", Ends(Own(*entry, mode), mode)},
             {"quanta", of_output > 0 ? std::round(2550 * width / of_output) / 10 : 0}});
      }
      if (inputs.size() < 2 || !(least > 0) || most / least <= kFarApart) continue;
      found.push_back({{"node", node.name},
                       {"op", OpName(node.op)},
                       {"output", graph.value(node.outputs[0]).name},
                       {"mode", mode_name},
                       {"ratio", std::round(10 * most / least) / 10},
                       {"inputs", std::move(inputs)}});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a["ratio"] > b["ratio"]; });
  return found;
}

}  // namespace rshift
