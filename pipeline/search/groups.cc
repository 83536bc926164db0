#include "pipeline/search/groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/shape.h"
#include "graph/conv_or_matmul.h"
#include "quantize/overrides.h"
#include "quantize/quantize.h"
#include "quantize/values.h"

namespace rshift {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// --config takes names with these for wildcards.
bool IsPlainName(const std::string& name) { return name.find_first_of("*?") == std::string::npos; }

std::vector<ValueId> ReadActivations(const Graph& graph, const Node& node) {
  std::vector<ValueId> read;
  for (const ValueId id : node.inputs) {
    if (IsF32Activation(graph, id)) read.push_back(id);
  }
  return read;
}

// Of a product with constant weights: every weight once for each place of the output; of other
// products a row of the first operand for each element.
int64_t MacsOf(const Graph& graph, const Node& node) {
  if (!IsConvOrMatMul(node.op) || node.inputs.size() < 2) return 0;
  const Value &w = graph.value(node.inputs[1]), &y = graph.value(node.outputs[0]);
  if (!w.is_constant()) {
    const Shape& x = graph.value(node.inputs[0]).shape;
    return NumElements(y.shape) * (x.empty() ? 1 : x.back());
  }
  const Value& out =
      std::holds_alternative<ConvTranspose>(node.op) ? graph.value(node.inputs[0]) : y;
  const int64_t channels = out.shape.empty() ? 1 : std::max<int64_t>(1, out.shape.back());
  return NumElements(w.shape) * (NumElements(out.shape) / channels);
}

class Grouping {
 public:
  Grouping(const Graph& graph, const CalibrationTable& table, const QuantizeOptions& options)
      : graph_(graph), table_(table), options_(options) {
    group_of_.assign(static_cast<size_t>(graph.value_count()), kNone);
  }

  std::vector<OperatorGroup> Run() {
    FindInteger();
    for (const Node& node : graph_.nodes()) Place(node);
    FindReaders();
    FindWide();
    return std::move(groups_);
  }

 private:
  void FindInteger() {
    std::set<std::string> floats;
    for (const auto& node : QuantizeGraph(graph_, table_, options_).report.float_nodes)
      floats.insert(node.node);
    for (const Node& node : graph_.nodes()) {
      const Value& made = graph_.value(node.outputs[0]);
      const LayerConfig said = LayerOf(graph_, node, options_.config);
      const bool free = !said.float32 && !said.activation_bits && !said.profile;
      if (free && !floats.contains(node.name) && made.dtype == DType::kF32 &&
          IsPlainName(made.name))
        free_.insert(made.name);
    }
  }

  // What reads one activation follows its maker; what reads several, the last of them.
  void Place(const Node& node) {
    const ValueId made = node.outputs[0];
    if (!free_.contains(graph_.value(made).name)) return;
    const std::vector<ValueId> read = ReadActivations(graph_, node);
    size_t group = kNone;
    if (!IsConvOrMatMul(node.op)) {
      for (const ValueId id : read) {
        const size_t maker = group_of_[id.index()];
        if (maker != kNone && (group == kNone || maker > group)) group = maker;
      }
    }
    if (group == kNone) {
      group = groups_.size();
      groups_.emplace_back();
    }
    group_of_[made.index()] = group;
    OperatorGroup& to = groups_[group];
    to.tensors.push_back(graph_.value(made).name);
    to.ops.push_back(OpName(node.op));
    to.macs += MacsOf(graph_, node);
    to.elements += NumElements(graph_.value(made).shape);
    for (const ValueId id : read) {
      const bool input =
          std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end();
      const std::string& name = graph_.value(id).name;
      if (input && IsPlainName(name) && seen_.insert(name).second) to.inputs.push_back(name);
    }
  }

  void FindReaders() {
    for (const Node& node : graph_.nodes()) {
      const size_t group = group_of_[node.outputs[0].index()];
      if (group == kNone) continue;
      for (const ValueId id : ReadActivations(graph_, node)) {
        const size_t maker = group_of_[id.index()];
        if (maker == kNone || maker == group) continue;
        std::vector<size_t>& readers = groups_[maker].readers;
        if (std::find(readers.begin(), readers.end(), group) == readers.end())
          readers.push_back(group);
      }
    }
  }

  // A tensor that has 16 bits where all are asked; one that fusion takes away has those of its
  // reader.
  void FindWide() {
    const bool able = options_.profile.id == ProfileId::kTpu;
    QuantizeOptions options = options_;
    for (const OperatorGroup& group : groups_) {
      for (const auto* names : {&group.tensors, &group.inputs}) {
        for (const std::string& name : *names)
          if (able) options.config.layers[name].activation_bits = 16;
      }
    }
    const Graph all = QuantizeGraph(graph_, table_, options).graph;
    const auto is_wide = [&](const std::string& name) {
      const ValueId id = all.FindValue(name);
      return able && (!id.valid() || all.value(id).dtype == DType::kS16);
    };
    for (OperatorGroup& group : groups_) {
      for (const std::string& name : group.tensors) group.wide.push_back(is_wide(name));
      for (const std::string& name : group.inputs) {
        const LayerConfig said = InputOf(name, options_.config);
        group.wide_inputs.push_back(able && !said.activation_bits);
      }
    }
  }

  const Graph& graph_;
  const CalibrationTable& table_;
  const QuantizeOptions& options_;
  std::set<std::string> free_;    // tensors whose makers may get another type
  std::set<std::string> seen_;    // inputs
  std::vector<size_t> group_of_;  // by value
  std::vector<OperatorGroup> groups_;
};

}  // namespace

bool OperatorGroup::can_widen() const {
  return std::find(wide.begin(), wide.end(), true) != wide.end();
}

std::vector<OperatorGroup> GroupOperators(const Graph& floating, const CalibrationTable& table,
                                          const QuantizeOptions& options) {
  return Grouping(floating, table, options).Run();
}

}  // namespace rshift
