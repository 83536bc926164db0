#include "quantize/plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "quantize/ascend_plan.h"
#include "quantize/index_functions.h"
#include "quantize/input_scalers.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/recurrent.h"
#include "quantize/output_joins.h"
#include "quantize/overrides.h"
#include "quantize/phases.h"
#include "quantize/powers.h"
#include "quantize/qdq.h"
#include "quantize/ranges/propagation_rules.h"
#include "quantize/ranges/table_match.h"
#include "quantize/spectra.h"
#include "quantize/values.h"

namespace rshift {
namespace {

// What a value would have to be read from, were its reader an integer node.
enum class Source {
  kNone,      // not an f32 activation
  kInteger,   // made by an integer node
  kFlexible,  // a graph input, or moved from one: Quantize costs nothing in accuracy that is not
              // lost anyway
  kFloat,     // made by an F32 node
};

bool HoldsInfinities(const Value& value) {
  if (!value.is_constant() || value.dtype != DType::kF32) return false;
  const auto elements = value.constant->As<float>();
  return std::any_of(elements.begin(), elements.end(), [](float v) { return std::isinf(v); });
}

std::vector<bool> InfiniteValues(const Graph& graph, const CalibrationTable& table) {
  std::set<std::string_view> masked;
  for (const auto& [name, range] : table.tensors) {
    if (range.infinities > 0) masked.insert(name);
  }
  const std::vector<ValueId> sources = TableSources(graph);
  std::vector<bool> infinite;
  for (int i = 0; i < graph.value_count(); ++i) {
    const ValueId source = sources[static_cast<size_t>(i)];
    infinite.push_back(HoldsInfinities(graph.value(ValueId(i))) ||
                       (source.valid() && masked.contains(graph.value(source).name)));
  }
  return infinite;
}

class Planner {
 public:
  Planner(const Graph& graph, const QuantizeConfig& config, const Profile& profile,
          const CalibrationTable& table)
      : graph_(graph),
        profile_(profile),
        calibrated_(!table.tensors.empty()),
        infinite_(InfiniteValues(graph, table)),
        consumers_(graph.Consumers()),
        kinds_(graph.nodes().size(), OpKind::kFloat),
        real_(graph.nodes().size(), false) {
    plan_.forms.assign(graph.nodes().size(), NodeForm::kOther);
    plan_.reasons.resize(graph.nodes().size());
    for (size_t n = 0; n < graph.nodes().size(); ++n) Classify(n, config);
    KeepFloat(IndexFunctions(graph, kinds_),
              "decides which elements are read or which boxes stay: 8 bits would point elsewhere");
  }

  bool HasOutputJoins(const CalibrationTable& table) const {
    const std::vector<bool> joins = OutputJoins(graph_, kinds_, table);
    return std::find(joins.begin(), joins.end(), true) != joins.end();
  }

  // NUMERICS.md section 11 says why. `cells`: nodes of recurrent cells, which are integer as a
  // whole.
  void KeepOutputJoinsFloat(const QuantizeConfig& config, const CalibrationTable& table,
                            const std::set<size_t>& cells) {
    const auto fixed = [&](size_t n) {
      const bool asked = LayerOf(graph_, graph_.nodes()[n], config).float32.has_value();
      return asked || cells.contains(n) || kinds_[n] == OpKind::kAlways;
    };
    std::vector<bool> joins = OutputJoins(graph_, kinds_, table);
    for (size_t n = 0; n < joins.size(); ++n) joins[n] = joins[n] && !fixed(n);
    std::vector<bool> exact = FunctionsBefore(graph_, kinds_, joins);
    for (size_t n = 0; n < exact.size(); ++n) exact[n] = exact[n] && !fixed(n);
    KeepFloat(
        exact,
        "is for a Concat of outputs that joins values with far wider ones, as probabilities with "
        "boxes: one scale would round them away; mode: int8 for the Concat in --config makes both "
        "integer");
  }

  // Numbers that lie orders of magnitude apart. In tpu alone: other profiles do as their frameworks
  // do.
  void KeepWideRangesFloat(const QuantizeConfig& config, const CalibrationTable& table,
                           const std::set<std::string>& integer_inputs) {
    const auto unless_said = [&](std::vector<bool> nodes) {
      for (size_t n = 0; n < nodes.size(); ++n)
        nodes[n] = nodes[n] && !LayerOf(graph_, graph_.nodes()[n], config).float32.has_value();
      return nodes;
    };
    KeepFloat(unless_said(InputScalers(graph_, table, integer_inputs)),
              "brings channels of an F32 input to one scale that lie far apart before: one scale "
              "for all would round the small ones away; mode: int8 for it in --config makes it "
              "integer");
    KeepFloat(
        unless_said(PhaseNodes(graph_, table, integer_inputs)),
        "is for a sine or cosine of many periods: one scale for all would round away where in "
        "its period an argument lies; mode: int8 for it in --config makes it integer");
    KeepFloat(unless_said(SpectralNodes(graph_)),
              "is for a Fourier transform, whose bins lie orders of magnitude apart: one scale "
              "would round most of them away; mode: int8 for it in --config makes it integer");
    KeepFloat(unless_said(PowerNodes(graph_)),
              "lies between a power and its root or logarithm, or a quotient by their sum: one "
              "scale would round away all but the largest powers; mode: int8 for it in --config "
              "makes it integer");
  }

  QuantizationPlan Run() {
    FindWanted();
    Forward();
    Backward();
    return std::move(plan_);
  }

 private:
  void KeepFloat(const std::vector<bool>& nodes, const char* reason) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (!nodes[n] || kinds_[n] == OpKind::kFloat) continue;
      kinds_[n] = OpKind::kFloat;
      plan_.reasons[n] = reason;
    }
  }

  bool IsActivation(ValueId id) const { return IsF32Activation(graph_, id); }

  // NUMERICS.md section 26 says why such a one stays F32. In tpu alone: other profiles do as their
  // frameworks do.
  bool IsFinalSoftmax(const Node& node, const Profile& profile) const {
    return profile.id == ProfileId::kTpu && std::holds_alternative<Softmax>(node.op) &&
           EndsOutside(node.outputs[0]);
  }
  // Read by nothing but the model's outputs, moved or not.
  bool EndsOutside(ValueId id) const {
    const auto& readers = consumers_[id.index()];
    return std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
      const Node& node = graph_.nodes()[reader.index()];
      return MovesInput(graph_, node) && EndsOutside(node.outputs[0]);
    });
  }

  bool TouchesInfinities(const Node& node) const {
    // Weights are looked at where they are quantized: infinities there are an error of the model.
    if (std::holds_alternative<Conv>(node.op) || std::holds_alternative<ConvTranspose>(node.op))
      return false;
    return infinite_[node.outputs[0].index()] ||
           std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return id.valid() && infinite_[id.index()]; });
  }

  // Comparisons and ArgMax: of integers they are what they are of the numbers those stand for.
  static bool GivesOtherTypes(const Node& node) {
    const auto* binary = std::get_if<Binary>(&node.op);
    return std::holds_alternative<ArgMax>(node.op) ||
           (binary != nullptr && kResultIsBool[static_cast<size_t>(binary->op)]);
  }

  static bool Selects(const Node& node) {
    return std::visit([]<typename T>(const T&) { return kSelects<T>; }, node.op);
  }

  void Classify(size_t n, const QuantizeConfig& config) {
    const Node& node = graph_.nodes()[n];
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return IsActivation(id); });
    const bool writes = IsActivation(node.outputs[0]);
    if ((!reads && !writes) || IsDynamic(node.op)) return;
    plan_.forms[n] = NodeForm::kFloat;
    if (reads && Selects(node)) {
      plan_.reasons[n] = IntegerSupport(graph_, node, profile_).reason;
    } else if (!reads || (!writes && !GivesOtherTypes(node))) {
      plan_.reasons[n] = "reads or writes another type than f32";
    } else if (LayerOf(graph_, node, config).float32.value_or(false)) {
      plan_.reasons[n] = "the configuration says f32";
    } else if (TouchesInfinities(node)) {
      plan_.reasons[n] =
          "reads or writes a mask (-inf, or as good as it), which no integer stands for";
    } else {
      const Profile profile = ProfileOf(graph_, node, config, profile_);
      OpSupport support = IntegerSupport(graph_, node, profile);
      const bool asked = LayerOf(graph_, node, config).float32.has_value();
      if (support.kind != OpKind::kFloat && !asked && IsFinalSoftmax(node, profile))
        support = {OpKind::kFloat,
                   Cat("a ", OpName(node.op),
                       " that is an output of the model gives probabilities in F32; mode: int8 for "
                       "it in --config makes it integer")};
      if (support.kind != OpKind::kFloat && ArithmeticOf(profile_).HalfResults()) {
        support.reason = WhyHalf(graph_, node);
        if (support.reason.empty())
          support.reason = WhyNotAscend(graph_, node, config, calibrated_);
        if (!support.reason.empty()) support.kind = OpKind::kFloat;
      }
      kinds_[n] = support.kind;
      real_[n] = LayerOf(graph_, node, config).onednn.real_dst;
      plan_.reasons[n] = support.reason;
    }
  }

  // Values that some Convolution or MatMul reads, directly or through functions and movements.
  void FindWanted() {
    wanted_.assign(graph_.value_count(), false);
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      const Node& node = graph_.nodes()[n];
      const bool wants = kinds_[n] == OpKind::kAlways ||
                         (kinds_[n] != OpKind::kFloat && wanted_[node.outputs[0].index()]);
      if (!wants) continue;
      for (ValueId id : node.inputs) {
        if (IsActivation(id)) wanted_[id.index()] = true;
      }
    }
  }

  bool AnyInput(const Node& node, Source wanted_source) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id.valid() && sources_[id.index()] == wanted_source;
    });
  }

  Source Decide(size_t n) {
    const Node& node = graph_.nodes()[n];
    const bool wanted = wanted_[node.outputs[0].index()];
    const bool has_integer = AnyInput(node, Source::kInteger);
    const bool has_flexible = AnyInput(node, Source::kFlexible);
    const bool has_float = AnyInput(node, Source::kFloat);
    switch (kinds_[n]) {
      case OpKind::kFloat:
        return Source::kFloat;
      case OpKind::kAlways:
        break;
      case OpKind::kFunction:
        if (has_integer || has_flexible || wanted) break;
        plan_.reasons[n] = "its inputs and outputs are F32";
        return Source::kFloat;
      case OpKind::kMove:
        if (has_integer && (!has_float || wanted)) break;
        plan_.reasons[n] = "moves F32 data";  // Backward() may still change it
        return has_float ? Source::kFloat : Source::kFlexible;
    }
    plan_.forms[n] = NodeForm::kInteger;
    return real_[n] ? Source::kFloat : Source::kInteger;
  }

  void Forward() {
    sources_.assign(graph_.value_count(), Source::kNone);
    for (ValueId id : graph_.inputs) {
      if (IsActivation(id)) sources_[id.index()] = Source::kFlexible;
    }
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      const ValueId y = graph_.nodes()[n].outputs[0];
      if (IsDynamic(graph_.nodes()[n].op)) sources_[y.index()] = Source::kFloat;
      if (plan_.forms[n] == NodeForm::kOther) continue;
      const Source source = Decide(n);
      if (IsActivation(y)) sources_[y.index()] = source;
    }
  }

  // Quantize first, then move bytes: a movement of F32 data whose every reader is an integer node,
  // and one that takes a graph input to a graph output (a MaxPool or a Concat that is the whole
  // model).
  void Backward() {
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      if (plan_.forms[n] != NodeForm::kFloat || kinds_[n] != OpKind::kMove) continue;
      const ValueId y = graph_.nodes()[n].outputs[0];
      if (!IsActivation(y)) continue;
      const auto& readers = consumers_[y.index()];
      const bool all_integer = std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
        return plan_.forms[reader.index()] == NodeForm::kInteger;
      });
      const bool ends_in_bytes =
          graph_.IsOutput(y) ? sources_[y.index()] == Source::kFlexible : !readers.empty();
      if (all_integer && ends_in_bytes) plan_.forms[n] = NodeForm::kInteger;
    }
  }

  const Graph& graph_;
  const Profile profile_;
  const bool calibrated_;
  const std::vector<bool> infinite_;  // by value
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<OpKind> kinds_;
  std::vector<bool> real_;       // by node: integer, with an f32 result
  std::vector<bool> wanted_;     // by value
  std::vector<Source> sources_;  // by value
  QuantizationPlan plan_;
};

}  // namespace

QuantizationPlan MakePlan(const Graph& graph, const QuantizeConfig& config, const Profile& profile,
                          const CalibrationTable& table,
                          const std::set<std::string>& integer_inputs) {
  if (HoldsQuantization(graph)) return PlanQdq(graph, config, profile).plan;
  Planner planner(graph, config, profile, table);
  if (profile.id == ProfileId::kTpu) planner.KeepWideRangesFloat(config, table, integer_inputs);
  // Frameworks join their outputs in integers.
  if (profile.id != ProfileId::kTpu || !planner.HasOutputJoins(table)) return planner.Run();
  QuantizeOptions options;
  options.config = config;
  options.profile = profile;
  const QuantizationPlan plan = Planner(planner).Run();  // finds the cells with all of their nodes
  planner.KeepOutputJoinsFloat(config, table, NodesOf(FindRecurrentCells(graph, plan, options)));
  return planner.Run();
}

}  // namespace rshift
