#include "quantize/qdq.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "quantize/numerics/quantize.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

bool IsBytes(const Value& value) {
  return (value.dtype == DType::kS8 || value.dtype == DType::kU8) && value.quant.has_value();
}

class QdqPlanner {
 public:
  QdqPlanner(const Graph& graph, const QuantizeConfig& config, const Profile& profile)
      : graph_(graph),
        config_(config),
        profile_(profile),
        consumers_(graph.Consumers()),
        typed_(graph.value_count(), false) {
    result_.plan.forms.assign(graph.nodes().size(), NodeForm::kOther);
    result_.plan.reasons.resize(graph.nodes().size());
    result_.types.types.resize(graph.value_count());
    result_.types.zero.assign(graph.value_count(), false);
    result_.types.names.resize(graph.value_count());
  }

  QdqPlan Run() {
    for (ValueId id : graph_.inputs) {
      if (IsBytes(graph_.value(id))) {
        SetType(id, TypeOf(id));
        AddSource(graph_.value(id).name, TypeOf(id), "the model's input");
      }
    }
    for (size_t n = 0; n < graph_.nodes().size(); ++n) Decide(n);
    return std::move(result_);
  }

 private:
  bool IsActivation(ValueId id) const {
    return id.valid() && !graph_.value(id).is_constant() && graph_.value(id).dtype == DType::kF32;
  }
  IntType TypeOf(ValueId bytes) const {
    return {graph_.value(bytes).dtype, *graph_.value(bytes).quant};
  }
  void SetType(ValueId id, const IntType& type) {
    typed_[id.index()] = true;
    result_.types.types[id.index()] = type;
  }
  const IntType& Held(ValueId id) const { return result_.types.types[id.index()]; }
  void AddSource(const std::string& tensor, const IntType& type, const std::string& source) {
    result_.sources.push_back({tensor, type.dtype, type.quant, source});
  }
  void SetFloat(size_t n, std::string reason) {
    result_.plan.forms[n] = NodeForm::kFloat;
    result_.plan.reasons[n] = std::move(reason);
  }

  // The Quantize among the readers of `y` that gives `type`, or the first one.
  const Node* QuantizeReader(ValueId y, const std::optional<IntType>& type) const {
    for (NodeId reader : consumers_[y.index()]) {
      const Node& node = graph_.node(reader);
      if (!std::holds_alternative<Quantize>(node.op)) continue;
      if (!type || TypeOf(node.outputs[0]) == *type) return &node;
    }
    return nullptr;
  }

  // The type in which all readers want `y`. `why` says what is in the way.
  std::optional<IntType> WantedType(ValueId y, std::string* why) const {
    if (graph_.IsOutput(y)) {
      *why = "its result leaves the model in F32";
      return std::nullopt;
    }
    std::optional<IntType> type;
    for (NodeId reader : consumers_[y.index()]) {
      const Node& node = graph_.node(reader);
      // A Clip of integers is a clamp of them: its input may be held in its output's type.
      if (std::holds_alternative<Clip>(node.op) && consumers_[y.index()].size() == 1) {
        return WantedType(node.outputs[0], why);
      }
      if (!std::holds_alternative<Quantize>(node.op)) {
        *why = Cat("no QuantizeLinear behind it: ", node.name, " reads its result in F32");
        return std::nullopt;
      }
      const IntType wanted = TypeOf(node.outputs[0]);
      if (type && *type != wanted) {
        *why = "the QuantizeLinear nodes behind it have different parameters";
        return std::nullopt;
      }
      type = wanted;
    }
    if (!type) *why = "no QuantizeLinear behind it";
    return type;
  }

  bool PadIsExact(const Pad& pad, const IntType& type) const {
    if (pad.mode != PadMode::kConstant) return true;
    const int32_t q = ArithmeticOf(profile_).Constant(pad.value, type);
    return numerics::DequantizeValue(q, type.quant.scale, type.quant.zero_point) == pad.value;
  }

  // Whether the result holds bytes of the input and no other value, whatever reads it.
  bool MovesBytesOnly(const Node& node) const {
    const ValueId x = node.inputs[0];
    if (std::holds_alternative<Concat>(node.op)) {
      return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
        return IsActivation(id) && typed_[id.index()] && Held(id) == Held(x);
      });
    }
    if (!IsActivation(x) || !typed_[x.index()]) return false;
    if (const auto* pad = std::get_if<Pad>(&node.op)) return PadIsExact(*pad, Held(x));
    return std::holds_alternative<MaxPool>(node.op) || MovementName(graph_, node) != nullptr;
  }

  std::string NameOfBytes(ValueId id) const {
    const std::string& name = result_.types.names[id.index()];
    return name.empty() ? graph_.value(id).name : name;
  }

  // The integers bear the name of the tensor that the model's own Quantize makes of them.
  void SetInteger(size_t n, const IntType& type) {
    const Node& node = graph_.nodes()[n];
    const ValueId y = node.outputs[0];
    result_.plan.forms[n] = NodeForm::kInteger;
    SetType(y, type);
    if (const Node* reader = QuantizeReader(y, type)) {
      result_.types.names[y.index()] = graph_.value(reader->outputs[0]).name;
    } else {
      const bool moved = Held(node.inputs[0]) == type;
      AddSource(graph_.value(y).name, type,
                moved ? Cat("moved from ", NameOfBytes(node.inputs[0]))
                      : "the QuantizeLinear behind the Clip that reads it");
    }
    if (!std::holds_alternative<Conv>(node.op) && !std::holds_alternative<MatMul>(node.op)) return;
    const Value& weights = graph_.value(node.inputs[1]);
    if (weights.origin == nullptr) return;
    AddSource(weights.name,
              {weights.origin->dtype, {weights.origin->scales[0], weights.origin->zero_points[0]}},
              weights.origin->axis < 0 ? "the model's constant"
                                       : Cat("the model's constant, the first of ",
                                             weights.origin->scales.size(), " channels"));
  }

  void Decide(size_t n) {
    const Node& node = graph_.nodes()[n];
    if (std::holds_alternative<Quantize>(node.op)) {
      result_.plan.forms[n] = NodeForm::kInteger;
      SetType(node.outputs[0], TypeOf(node.outputs[0]));
      AddSource(graph_.value(node.outputs[0]).name, TypeOf(node.outputs[0]),
                Cat("QuantizeLinear ", node.name));
      return;
    }
    if (std::holds_alternative<Dequantize>(node.op)) {
      result_.plan.forms[n] = NodeForm::kInteger;
      SetType(node.outputs[0], TypeOf(node.inputs[0]));
      result_.types.names[node.outputs[0].index()] = graph_.value(node.inputs[0]).name;
      return;
    }
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return IsActivation(id); });
    const bool writes = IsActivation(node.outputs[0]);
    if (!reads && !writes) return;
    if (!reads || !writes) return SetFloat(n, "reads or writes another type than f32");
    DecideFloatNode(n);
  }

  void DecideFloatNode(size_t n) {
    const Node& node = graph_.nodes()[n];
    if (LayerOf(graph_, node, config_).float32.value_or(false)) {
      return SetFloat(n, "the configuration says f32");
    }
    const OpSupport support = IntegerSupport(graph_, node, profile_);
    if (support.kind == OpKind::kFloat) return SetFloat(n, support.reason);
    if (support.kind == OpKind::kMove && MovesBytesOnly(node)) {
      return SetInteger(n, Held(node.inputs[0]));
    }
    for (ValueId id : node.inputs) {
      if (!IsActivation(id) || typed_[id.index()]) continue;
      return SetFloat(n, Cat("no DequantizeLinear before it: '", graph_.value(id).name,
                             "' is computed in F32"));
    }
    std::string why;
    const std::optional<IntType> wanted = WantedType(node.outputs[0], &why);
    if (!wanted) return SetFloat(n, why);
    SetInteger(n, *wanted);
  }

  const Graph& graph_;
  const QuantizeConfig& config_;
  const Profile profile_;
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> typed_;  // by value
  QdqPlan result_;
};

// Of an entry about other nodes than QuantizeLinear and DequantizeLinear.
void CheckQdqEntry(const QuantizeConfig& config, const LayerConfig& layer,
                   const std::string& name) {
  RSHIFT_REQUIRE(!layer.threshold && !layer.low && !layer.per_channel, ErrorCode::kInvalidInput,
                 EntryPlace(config, layer), ": '", name,
                 "': threshold, low, high and per_channel mean nothing here: the model holds its "
                 "own quantization parameters; leave them out");
}

}  // namespace

void CheckQdqConfig(const Graph& graph, const QuantizeConfig& config) {
  for (const auto& [name, layer] : config.layers) CheckQdqEntry(config, layer, name);
  for (const LayerPattern& p : config.patterns) CheckQdqEntry(config, p.layer, p.glob);
  for (const auto& [type, layer] : config.types) {
    CheckQdqEntry(config, layer, type);
    RSHIFT_REQUIRE(type != "Quantize" && type != "Dequantize", ErrorCode::kInvalidInput,
                   EntryPlace(config, layer), ": '", type,
                   "' has no settings; name the operators beside it");
  }
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<Quantize>(node.op) && !std::holds_alternative<Dequantize>(node.op))
      continue;
    for (const std::string& name : {node.name, graph.value(node.outputs[0]).name}) {
      const auto found = config.layers.find(name);
      if (found == config.layers.end()) continue;
      Fail(ErrorCode::kInvalidInput, EntryPlace(config, found->second), ": '", name,
           "' belongs to a QuantizeLinear or DequantizeLinear, which has no settings; name the "
           "operator beside it");
    }
  }
}

QdqPlan PlanQdq(const Graph& graph, const QuantizeConfig& config, const Profile& profile) {
  return QdqPlanner(graph, config, profile).Run();
}

QuantMode ModeOfTypes(const Graph& graph, const QuantizeOptions& options) {
  if (options.mode_given && options.mode == QuantMode::kAsymmetric) return options.mode;
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (!value.quant || value.quant->zero_point == 0) continue;
    RSHIFT_REQUIRE(!options.mode_given, ErrorCode::kInvalidInput, "symmetric mode: tensor '",
                   value.name, "' of the model has zero point ", value.quant->zero_point,
                   ", expected 0; leave --mode out, or give --mode asymmetric");
    return QuantMode::kAsymmetric;
  }
  return QuantMode::kSymmetric;
}

void EmitModelQuantize(Emitter& emitter, const Node& node) {
  const ValueId x = node.inputs[0], q = node.outputs[0];
  if (!emitter.HasInt(x)) {
    const ValueId source = emitter.Float(x);
    const Quantize op = ArithmeticOf(emitter.options().profile).InputForm();
    emitter.AddNode(node.name, op, {source}, emitter.DefineInt(q));
    return;
  }
  const IntType from = emitter.Type(x), to = emitter.Type(q);
  if (from == to) return emitter.Alias(q, x);
  const ValueId source = emitter.Int(x);
  emitter.AddRequantize(node.name, source, from, emitter.DefineInt(q), to, {to.qmin(), to.qmax()});
}

void EmitModelDequantize(Emitter& emitter, const Node& node) {
  emitter.Alias(node.outputs[0], node.inputs[0]);
}

}  // namespace rshift
