// Which nodes of a model with its own quantization are integer, and the types of its integers.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "quantize/ascend_plan.h"
#include "quantize/numerics/quantize.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"
#include "quantize/qdq.h"
#include "quantize/qdq_chains.h"
#include "quantize/qdq_wishes.h"
#include "quantize/ranges/propagation_rules.h"
#include "quantize/values.h"

namespace rshift {
namespace {

class QdqPlanner {
 public:
  QdqPlanner(const Graph& graph, const QuantizeConfig& config, const Profile& profile)
      : graph_(graph),
        config_(config),
        profile_(profile),
        consumers_(graph.Consumers()),
        typed_(graph.value_count(), false),
        int16_(ArithmeticOf(profile).HoldsModelInt16()),
        wishes_(graph, int16_),
        chains_(graph, config, profile_, consumers_) {
    result_.plan.forms.assign(graph.nodes().size(), NodeForm::kOther);
    result_.plan.reasons.resize(graph.nodes().size());
    result_.types.types.resize(graph.value_count());
    result_.types.zero.assign(graph.value_count(), false);
    result_.types.names.resize(graph.value_count());
  }

  QdqPlan Run() {
    for (ValueId id : graph_.inputs) {
      if (HoldsIntegers(graph_.value(id), int16_)) {
        SetType(id, TypeOf(id));
        AddSource(graph_.value(id).name, TypeOf(id), "the model's input");
      }
    }
    for (size_t n = 0; n < graph_.nodes().size(); ++n) Decide(n);
    return std::move(result_);
  }

 private:
  bool IsActivation(ValueId id) const { return IsF32Activation(graph_, id); }
  IntType TypeOf(ValueId integers) const { return TypeOfIntegers(graph_.value(integers)); }
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

  const Wish& WantedType(ValueId y) { return wishes_.Of(y); }

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
    return std::holds_alternative<MaxPool>(node.op) || MovesInput(graph_, node);
  }

  std::string NameOfBytes(ValueId id) const {
    const std::string& name = result_.types.names[id.index()];
    return name.empty() ? graph_.value(id).name : name;
  }

  void SetInteger(size_t n, const IntType& type) {
    const Node& node = graph_.nodes()[n];
    result_.plan.forms[n] = NodeForm::kInteger;
    result_.plan.reasons[n].clear();
    SetResult(node.outputs[0], type,
              Held(node.inputs[0]) == type ? Cat("moved from ", NameOfBytes(node.inputs[0]))
                                           : "the QuantizeLinear behind the node that reads it");
    AddWeightSource(node);
  }

  // The integers bear the name of the tensor that the model's own Quantize makes of them.
  void SetResult(ValueId y, const IntType& type, const std::string& source) {
    SetType(y, type);
    if (const Node* reader = wishes_.QuantizeOf(y, type)) {
      result_.types.names[y.index()] = graph_.value(reader->outputs[0]).name;
    } else {
      AddSource(graph_.value(y).name, type, source);
    }
  }

  void AddWeightSource(const Node& node) {
    if (!IsLinear(node)) return;
    const Value& weights = graph_.value(node.inputs[1]);
    if (weights.origin == nullptr) return;
    AddSource(weights.name,
              {weights.origin->dtype, {weights.origin->scales[0], weights.origin->zero_points[0]}},
              Cat("the model's constant",
                  weights.origin->axis < 0
                      ? ""
                      : Cat(", the first of ", weights.origin->scales.size(), " channels"),
                  weights.origin->tuned ? ", its range widened to integer zero points" : ""));
  }

  static bool IsLinear(const Node& node) {
    return std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
  }

  bool HasWideWeights(const Node& node) const {
    if (!IsLinear(node) && !std::holds_alternative<ConvTranspose>(node.op)) return false;
    const QuantizedOrigin* origin = graph_.value(node.inputs[1]).origin.get();
    return origin != nullptr && SizeOf(origin->dtype) == 2;
  }

  // --- convolutions with something else than a Quantize behind them: NUMERICS.md section 19

  // All that node n reads is held as integers, but its result is not wanted as such.
  void StartChain(size_t n, const std::string& why) {
    const Node& node = graph_.nodes()[n];
    const ValueId y = node.outputs[0];
    if (Held(node.inputs[0]).is_s16()) return SetFloat(n, why);
    const QuantizedOrigin* origin = graph_.value(node.inputs[1]).origin.get();
    const bool bytes =
        origin != nullptr && (origin->dtype == DType::kS8 || origin->dtype == DType::kU8);
    if (!bytes) return SetFloat(n, why + ", and its weights are not quantized to 8 bits");
    chains_.Start(n);
    if (!IsLinear(node)) return SetFloat(n, why);
    result_.plan.forms[n] = NodeForm::kInteger;
    result_.post_ops.of[n] = {{}, y, {}, true};
    AddWeightSource(node);
  }

  // Whether node n is taken in by a convolution, up to a Quantize.
  bool ExtendChain(size_t n) {
    const auto held = [this](ValueId id) {
      return IsActivation(id) && typed_[id.index()] ? &Held(id) : nullptr;
    };
    std::optional<QdqChain> chain = chains_.Extended(n, held);
    if (!chain) return false;
    const ValueId y = chain->fused.y;
    const Wish& wish = WantedType(y);
    if (wish.type && !wish.type->is_s16() && !chains_.ClipFollows(y)) {
      Close(*chain, *wish.type);
      return true;
    }
    chains_.Keep(std::move(*chain));
    return false;
  }

  void Close(const QdqChain& chain, const IntType& type) {
    result_.plan.forms[chain.conv] = NodeForm::kInteger;
    result_.plan.reasons[chain.conv].clear();
    for (const size_t n : chain.nodes) {
      result_.plan.forms[n] = NodeForm::kInteger;
      result_.plan.reasons[n].clear();
      result_.post_ops.taken.insert(n);
    }
    result_.post_ops.of[chain.conv] = chain.fused;
    result_.post_ops.written_at[chain.nodes.back()] = chain.conv;
    SetResult(chain.fused.y, type, "the QuantizeLinear behind the node that reads it");
  }

  void Decide(size_t n) {
    const Node& node = graph_.nodes()[n];
    // Integers that are F32 numbers here are copied as they are.
    const bool quantizes = std::holds_alternative<Quantize>(node.op);
    const bool dequantizes = std::holds_alternative<Dequantize>(node.op);
    if (quantizes && !HoldsIntegers(graph_.value(node.outputs[0]), int16_)) return;
    if (dequantizes && !HoldsIntegers(graph_.value(node.inputs[0]), int16_)) {
      wide_.insert(node.outputs[0]);
      return;
    }
    if (quantizes) {
      result_.plan.forms[n] = NodeForm::kInteger;
      SetType(node.outputs[0], TypeOf(node.outputs[0]));
      AddSource(graph_.value(node.outputs[0]).name, TypeOf(node.outputs[0]),
                Cat("QuantizeLinear ", node.name));
      return;
    }
    if (dequantizes) {
      result_.plan.forms[n] = NodeForm::kInteger;
      SetType(node.outputs[0], TypeOf(node.inputs[0]));
      result_.types.names[node.outputs[0].index()] = graph_.value(node.inputs[0]).name;
      return;
    }
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return IsActivation(id); });
    const bool writes = IsActivation(node.outputs[0]);
    if ((!reads && !writes) || IsDynamic(node.op)) return;
    if (!reads || !writes) return SetFloat(n, "reads or writes another type than f32");
    DecideFloatNode(n);
  }

  void DecideFloatNode(size_t n) {
    const Node& node = graph_.nodes()[n];
    if (LayerOf(graph_, node, config_).float32.value_or(false)) {
      return SetFloat(n, "the configuration says f32");
    }
    if (ExtendChain(n) || TakesOffZeros(n)) return;
    if (HasWideWeights(node)) return SetFloat(n, "its weights are integers of 16 bits");
    const OpSupport support =
        IntegerSupport(graph_, node, ProfileOf(graph_, node, config_, profile_));
    if (support.kind == OpKind::kFloat) return SetFloat(n, support.reason);
    if (support.kind == OpKind::kMove && MovesBytesOnly(node)) {
      return SetInteger(n, Held(node.inputs[0]));
    }
    const std::string half = ArithmeticOf(profile_).HalfResults() ? WhyHalf(graph_, node) : "";
    if (!half.empty()) return SetFloat(n, half);
    for (ValueId id : node.inputs) {
      if (!IsActivation(id) || typed_[id.index()]) continue;
      if (wide_.contains(id)) return SetFloat(n, "it reads integers of 16 bits");
      const auto& nodes = graph_.nodes();
      const bool dynamic = std::any_of(nodes.begin(), nodes.end(),
                                       [](const Node& other) { return IsDynamic(other.op); });
      return SetFloat(
          n, Cat("no DequantizeLinear before it: '", graph_.value(id).name, "' is computed in F32",
                 dynamic ? ", as all is between products that are quantized while they run" : ""));
    }
    const Wish& wish = WantedType(node.outputs[0]);
    const std::string why = wish.type ? WhyNotInt16(node, *wish.type) : "";
    if (!why.empty()) return SetFloat(n, why);
    if (wish.type) return SetInteger(n, *wish.type);
    if (support.kind == OpKind::kAlways) return StartChain(n, wish.why);
    SetFloat(n, wish.why);
  }

  // Why a node that reads or writes 16-bit integers has no integer form; empty: it has, or there
  // are none.
  std::string WhyNotInt16(const Node& node, const IntType& y) const {
    std::vector<IntType> types;
    bool any = y.is_s16();
    for (const ValueId id : node.inputs) {
      types.push_back(IsActivation(id) ? Held(id) : IntType{});
      any = any || types.back().is_s16();
    }
    if (!any) return "";
    return WhyNotModelInt16(graph_, node, ArithmeticOf(ProfileOf(graph_, node, config_, profile_)),
                            types, y);
  }

  // --- zero points of channels before depthwise convolutions: NUMERICS.md section 20

  // The node takes a zero point off each channel of bytes, for depthwise convolutions alone, which
  // then read the bytes themselves.
  bool TakesOffZeros(size_t n) {
    const Node& node = graph_.nodes()[n];
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->op != BinaryOp::kSub || binary->clamp.active()) return false;
    if (!IsActivation(x) || !typed_[x.index()] || graph_.IsOutput(y)) return false;
    IntType type = Held(x);
    const auto numbers = NumbersOfChannels(graph_, node.inputs[1], y, false);
    const auto is_byte = [&](float z) {
      return z == std::trunc(z) && z >= static_cast<float>(type.qmin()) &&
             z <= static_cast<float>(type.qmax());
    };
    if (type.quant != QuantParams{1.0f, 0} || numbers.empty()) return false;
    if (!std::all_of(numbers.begin(), numbers.end(), is_byte)) return false;
    const auto& readers = consumers_[y.index()];
    if (!std::all_of(readers.begin(), readers.end(),
                     [&](NodeId reader) { return IsIntegerDepthwise(graph_.node(reader), y); }))
      return false;
    type.channel_zeros =
        std::make_shared<const std::vector<int32_t>>(numbers.begin(), numbers.end());
    result_.plan.forms[n] = NodeForm::kInteger;
    SetType(y, type);
    result_.types.names[y.index()] = NameOfBytes(x);
    return true;
  }

  // One filter for each channel of x, and nothing that makes it F32.
  bool IsIntegerDepthwise(const Node& node, ValueId x) {
    const auto* conv = std::get_if<Conv>(&node.op);
    if (conv == nullptr || node.inputs[0] != x) return false;
    const Wish& wish = WantedType(node.outputs[0]);
    if (wish.type && wish.type->is_s16()) return false;  // widened, bytes have one zero point
    const Value& weights = graph_.value(node.inputs[1]);
    const QuantizedOrigin* origin = weights.origin.get();
    const int64_t channels = graph_.value(x).shape.back();
    return weights.is_constant() && conv->groups == channels && weights.shape[0] == channels &&
           weights.shape[1] == 1 && origin != nullptr && SizeOf(origin->dtype) == 1 &&
           !LayerOf(graph_, node, config_).float32.value_or(false);
  }

  const Graph& graph_;
  const QuantizeConfig& config_;
  const Profile profile_;
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> typed_;  // by value
  const bool int16_;         // whether 16-bit integers are held as such
  std::set<ValueId> wide_;   // reals of integers that are not
  Wishes wishes_;
  QdqChains chains_;
  QdqPlan result_;
};

}  // namespace

QdqPlan PlanQdq(const Graph& graph, const QuantizeConfig& config, const Profile& profile) {
  return QdqPlanner(graph, config, profile).Run();
}

}  // namespace rshift
