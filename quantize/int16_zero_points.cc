#include "quantize/int16_zero_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "graph/passes/util.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// The numbers that a tensor of 16-bit integers can hold, and the step of those that replace it.
struct Numbers {
  float low, high, scale;
  bool centred;  // the zero point is in the middle: s16 saturates where they end
  bool operator==(const Numbers&) const = default;
};

Numbers NumbersOf(double scale, double zero, const Clamp& integers) {
  const double below = zero - integers.lo, above = integers.hi - zero;
  const double steps = below == 32768 ? 1 : std::max(below, above) / 32767;
  return {static_cast<float>(-below * scale), static_cast<float>(above * scale),
          static_cast<float>(steps * scale), below == 32768};
}

class Centring {
 public:
  explicit Centring(Graph graph) : result_{std::move(graph), {}}, links_(result_.graph) {}

  CentredInt16 Run() {
    const size_t nodes = graph().nodes().size();
    for (size_t n = 0; n < nodes; ++n) {
      if (const std::optional<Pair> pair = PairAt(n)) Replace(*pair);
    }
    result_.graph = Tidy(std::move(result_.graph));
    return std::move(result_);
  }

 private:
  // What the import makes of a QuantizeLinear and of the DequantizeLinear nodes that read it.
  struct Pair {
    ValueId x;                     // what is quantized
    ValueId integers;              // as F32 numbers
    NodeId clip;                   // which makes them
    std::vector<NodeId> scalings;  // the last node of each DequantizeLinear
    Numbers numbers;
  };

  Graph& graph() { return result_.graph; }

  // A node of two operands, the second one number.
  struct ByNumber {
    ValueId x;
    float number;
  };
  std::optional<ByNumber> MadeBy(BinaryOp op, ValueId made) {
    const auto* binary = links_.ProducerAs<Binary>(made);
    if (binary == nullptr || binary->op != op || binary->clamp.active()) return {};
    const Node& node = *links_.Producer(made);
    const std::optional<float> number = ScalarConstant(graph(), node.inputs[1]);
    if (!number) return {};
    return ByNumber{node.inputs[0], *number};
  }
  // Whether `made` is `op` on `x` and `number`.
  bool Is(ValueId made, BinaryOp op, ValueId x, float number) {
    const std::optional<ByNumber> by = MadeBy(op, made);
    return by && by->x == x && by->number == number;
  }

  std::optional<Pair> PairAt(size_t n) {
    const Node& node = graph().nodes()[n];
    const auto* clip = std::get_if<Clip>(&node.op);
    if (clip == nullptr || graph().value(node.outputs[0]).dtype != DType::kF32) return {};
    const Clamp ends = clip->clamp;
    if ((ends.lo != 0 && ends.lo != -32768) || ends.hi - ends.lo != 65535) return {};
    ValueId rounded = node.inputs[0];
    const std::optional<ByNumber> sum = MadeBy(BinaryOp::kAdd, rounded);
    const float zero = sum ? sum->number : 0;
    if (sum) rounded = sum->x;
    const auto* round = links_.ProducerAs<Unary>(rounded);
    if (round == nullptr || round->op != UnaryOp::kRound) return {};
    const std::optional<ByNumber> units =
        MadeBy(BinaryOp::kDiv, links_.Producer(rounded)->inputs[0]);
    if (!units || zero < ends.lo || zero > ends.hi || zero != std::nearbyint(zero)) return {};
    const Numbers numbers = NumbersOf(units->number, zero, ends);
    if (!std::isnormal(numbers.scale) || numbers.scale < 0) return {};
    if (graph().value(units->x).shape != graph().value(node.outputs[0]).shape) return {};
    const std::optional<std::vector<NodeId>> scalings =
        Scalings(node.outputs[0], zero, units->number);
    if (!scalings) return {};
    return Pair{units->x, node.outputs[0], NodeId(static_cast<int32_t>(n)), *scalings, numbers};
  }

  // Where all that reads the integers is (q - zero) scale: the products. None where there are no
  // readers.
  std::optional<std::vector<NodeId>> Scalings(ValueId integers, float zero, float scale) {
    if (links_.IsOutput(integers)) return {};
    std::vector<NodeId> found;
    for (const NodeId reader : links_.Consumers(integers)) {
      ValueId differences = integers;
      if (zero != 0) {
        differences = graph().node(reader).outputs[0];
        if (!Is(differences, BinaryOp::kSub, integers, zero)) return {};
        if (links_.IsOutput(differences)) return {};
      }
      const std::vector<NodeId> products =
          zero != 0 ? links_.Consumers(differences) : std::vector<NodeId>{reader};
      for (const NodeId product : products) {
        const ValueId y = graph().node(product).outputs[0];
        if (!Is(y, BinaryOp::kMul, differences, scale)) return {};
        found.push_back(product);
      }
    }
    if (found.empty()) return {};
    return found;
  }

  // Whether x is made of `numbers` alone, moved: then it is in their range.
  bool Holds(ValueId x, const Numbers& numbers) {
    while (x.valid() && links_.Producer(x) != nullptr) {
      const auto known = made_.find(x);
      if (known != made_.end()) return known->second == numbers;
      const Node& node = *links_.Producer(x);
      if (std::holds_alternative<Pad>(node.op)) return false;  // its number may lie outside
      if (!MovesInput(graph(), node) && !std::holds_alternative<MaxPool>(node.op)) return false;
      x = node.inputs[0];
    }
    return false;
  }

  void Replace(const Pair& pair) {
    const Value before = graph().value(pair.integers);
    const Numbers& numbers = pair.numbers;
    ValueId& clipped = clipped_[{pair.x, numbers.low, numbers.high}];
    if (numbers.centred || Holds(pair.x, numbers)) clipped = pair.x;
    if (!clipped.valid()) {
      Value value = graph().value(pair.x);
      value.name = links_.TakeName(before.name + "__clipped");
      clipped = graph().AddValue(std::move(value));
      graph().AddNode({links_.TakeName(before.name + "__clip"),
                       Clip{{numbers.low, numbers.high}},
                       {pair.x},
                       {clipped}});
    }
    Value& integers = graph().value(pair.integers);
    integers.dtype = DType::kS16;
    integers.quant = QuantParams{numbers.scale, 0};
    Node& quantize = graph().nodes()[pair.clip.index()];
    quantize.op = Quantize{};
    quantize.inputs = {clipped};
    for (const NodeId id : pair.scalings) {
      Node& node = graph().nodes()[id.index()];
      node.op = Dequantize{};
      node.inputs = {pair.integers};
      made_[node.outputs[0]] = numbers;
    }
    if (!numbers.centred) result_.tensors.push_back(before.name);
  }

  CentredInt16 result_;
  Links links_;
  std::map<ValueId, Numbers> made_;  // by the value that is dequantized
  // By what is clipped and its ends: one for all pairs that read a value.
  std::map<std::tuple<ValueId, float, float>, ValueId> clipped_;
};

}  // namespace

CentredInt16 CentreInt16(Graph graph, const Profile& profile) {
  const Arithmetic& rules = ArithmeticOf(profile);
  if (!rules.HoldsModelInt16() || rules.ModelInt16() != nullptr) return {std::move(graph), {}};
  return Centring(std::move(graph)).Run();
}

}  // namespace rshift
