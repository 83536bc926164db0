#include "quantize/int16_plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/conv_or_matmul.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"
#include "quantize/ranges/propagation_rules.h"
#include "quantize/values.h"

namespace rshift {
namespace {

bool AsksOf(const LayerConfig& layer) { return layer.activation_bits.value_or(8) == 16; }

}  // namespace

bool AsksForInt16(const QuantizeOptions& options) {
  const QuantizeConfig& config = options.config;
  const auto any = [](const auto& entries, auto layer_of) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const auto& entry) { return AsksOf(layer_of(entry)); });
  };
  return options.activation_bits == 16 || options.residual_bits == 16 ||
         any(config.layers, [](const auto& e) { return e.second; }) ||
         any(config.types, [](const auto& e) { return e.second; }) ||
         any(config.patterns, [](const LayerPattern& p) { return p.layer; });
}

namespace {

class Int16Planner {
 public:
  Int16Planner(const Graph& graph, const QuantizationPlan& plan, const QuantizeOptions& options,
               const RecurrentCells& cells, const std::set<size_t>& bound,
               const std::map<size_t, ValueId>& products)
      : graph_(graph),
        options_(options),
        products_(products),
        of_cells_(NodesOf(cells)),
        producers_(graph.Producers()),
        able_(graph.nodes().size()),
        asked_(graph.nodes().size(), false),
        wide_(graph.value_count(), false) {
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
      floats_.push_back(plan.forms[n] == NodeForm::kFloat);
      able_[n] = plan.forms[n] == NodeForm::kInteger && !bound.contains(n) &&
                 !of_cells_.contains(n) && HasInt16Form(graph, graph.nodes()[n]);
    }
    for (const RecurrentCell& cell : cells.cells) {
      for (const ValueId id : {cell.output, cell.reset_state}) {
        if (id.valid()) able_[static_cast<size_t>(producers_[id.index()].index())] = true;
      }
    }
    for (const auto* at : {&cells.state_at, &cells.output_at, &cells.reset_at}) {
      for (const auto& [n, cell] : *at) written_.insert(n);
    }
  }

  void Run(const QuantizationPlan& plan, QuantizeReport* report) {
    for (size_t n = 0; n < able_.size(); ++n) Ask(n, plan.forms[n], report);
    for (ValueId id : graph_.inputs) AskInput(id);
    for (size_t n = 0; n < able_.size(); ++n) {
      if (!able_[n] || !asked_[n]) continue;
      for (const ValueId id : graph_.nodes()[n].inputs) WidenMovement(id);
    }
    if (options_.residual_bits == 16) WidenResiduals();
  }

  bool IsWide(int value) const { return wide_[static_cast<size_t>(value)]; }
  bool Reads(size_t n) const {
    const Node& node = graph_.nodes()[n];
    if (written_.contains(n)) return true;
    return able_[n] && (asked_[n] || wide_[node.outputs[0].index()] || !IsConvOrMatMul(node.op));
  }

 private:
  void Ask(size_t n, NodeForm form, QuantizeReport* report) {
    const Node& node = graph_.nodes()[n];
    const LayerConfig layer = LayerOf(graph_, node, options_.config);
    asked_[n] = layer.activation_bits.value_or(options_.activation_bits) == 16;
    if (asked_[n] && floats_[n]) WidenFloats(node);
    if (asked_[n] && able_[n]) {
      wide_[node.outputs[0].index()] = true;
      if (const auto scaled = products_.find(n); scaled != products_.end())
        wide_[scaled->second.index()] = true;
    }
    if (AsksOf(layer) && !able_[n] && form == NodeForm::kInteger && !of_cells_.contains(n)) {
      report->notes.push_back({node.name, OpName(node.op),
                               "is asked for 16 bits and has no 16-bit form: its result stays 8 "
                               "bits"});
    }
  }

  void AskInput(ValueId id) {
    const Value& value = graph_.value(id);
    if (value.dtype != DType::kF32) return;
    const int bits =
        InputOf(value.name, options_.config).activation_bits.value_or(options_.activation_bits);
    if (bits == 16) wide_[id.index()] = true;
  }

  bool IsActivation(ValueId id) const { return IsF32Activation(graph_, id); }

  // What integer operators read of a result in F32.
  void WidenFloats(const Node& node) {
    for (const ValueId id : node.outputs) {
      if (IsActivation(id)) wide_[id.index()] = true;
    }
  }

  // Whether a value has 16 bits: what lies between a result that has them and a node that is asked
  // for them, and moves its numbers alone, carries them where the configuration does not say 8.
  bool WidenMovement(ValueId id) {
    if (!IsActivation(id) || wide_[id.index()]) return IsActivation(id);
    const NodeId producer = producers_[id.index()];
    if (!producer.valid() || !able_[producer.index()]) return false;
    const Node& node = graph_.nodes()[producer.index()];
    if (LayerOf(graph_, node, options_.config).activation_bits || !MovesInput(graph_, node))
      return false;
    if (!WidenMovement(node.inputs[0])) return false;
    wide_[id.index()] = true;
    return true;
  }

  void WidenResiduals() {
    for (size_t n = 0; n < able_.size(); ++n) {
      const Node& node = graph_.nodes()[n];
      const auto* binary = std::get_if<Binary>(&node.op);
      const bool sum =
          binary != nullptr && (binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub);
      if (!sum || !able_[n] || of_cells_.contains(n) || !IsActivation(node.inputs[0]) ||
          !IsActivation(node.inputs[1]))
        continue;
      WidenBack(node.outputs[0]);
      WidenBack(node.inputs[0]);
      WidenBack(node.inputs[1]);
    }
  }

  // A value and, where its numbers are those of another one, that one.
  void WidenBack(ValueId id) {
    const NodeId producer = producers_[id.index()];
    if (!producer.valid()) return;  // inputs stay bytes
    if (floats_[producer.index()]) return WidenFloats(graph_.nodes()[producer.index()]);
    if (!able_[producer.index()]) return;
    wide_[id.index()] = true;
    const Node& node = graph_.nodes()[producer.index()];
    if (MovesInput(graph_, node) || std::holds_alternative<Clip>(node.op))
      WidenBack(node.inputs[0]);
  }

  const Graph& graph_;
  const QuantizeOptions& options_;
  const std::map<size_t, ValueId>& products_;
  const std::set<size_t> of_cells_;  // all nodes of recurrent cells
  std::set<size_t> written_;         // those at which a part of a cell is written
  const std::vector<NodeId> producers_;
  std::vector<bool> able_, asked_, floats_;  // by node
  std::vector<bool> wide_;                   // by value
};

IntType Int16TypeOf(const ValueRange& range, QuantMode mode) {
  const float reach = mode == QuantMode::kSymmetric
                          ? range.threshold
                          : std::max(std::fabs(range.low), std::fabs(range.high));
  return {DType::kS16, {numerics::Int16Scale(reach), 0}};
}

}  // namespace

void PlanInt16(const Graph& graph, const QuantizationPlan& plan, const RangeResult& ranges,
               const QuantizeOptions& options, const RecurrentCells& cells,
               const std::set<size_t>& bound, const std::map<size_t, ValueId>& products,
               ValueTypes* types, QuantizeReport* report) {
  Int16Planner planner(graph, plan, options, cells, bound, products);
  planner.Run(plan, report);
  types->int16.resize(static_cast<size_t>(graph.value_count()), IntType{DType::kS16, {0, 0}});
  for (int i = 0; i < graph.value_count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (planner.IsWide(i) && ranges.has_range[at])
      types->int16[at] = Int16TypeOf(ranges.ranges[at], options.mode);
  }
  for (size_t n = 0; n < graph.nodes().size(); ++n) types->reads_int16.push_back(planner.Reads(n));
}

void CheckInt16(const Graph& graph, const QuantizeOptions& options) {
  if (!AsksForInt16(options)) return;
  RSHIFT_REQUIRE(options.profile.id == ProfileId::kTpu, ErrorCode::kInvalidInput,
                 "activations of 16 bits are of profile tpu alone, not of ",
                 Name(options.profile.id), "; leave --profile out, or 16 bits");
  RSHIFT_REQUIRE(!HoldsQuantization(graph), ErrorCode::kInvalidInput,
                 "activations of 16 bits: the model holds its own quantization parameters, which "
                 "say how many bits there are; leave them out");
}

}  // namespace rshift
