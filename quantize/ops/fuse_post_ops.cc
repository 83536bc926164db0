#include "quantize/ops/fuse_post_ops.h"

#include <algorithm>

#include "base/error.h"

namespace rshift {

RealPostOp PostOpOf(const Clamp& clamp) { return {PostOpKind::kClip, clamp.lo, clamp.hi, {}}; }

std::optional<RealPostOp> PostOpOf(const Op& op) {
  if (const auto* clip = std::get_if<Clip>(&op)) return PostOpOf(clip->clamp);
  if (const auto* leaky = std::get_if<LeakyRelu>(&op)) {
    return RealPostOp{PostOpKind::kRelu, leaky->alpha, 0, {}};
  }
  const auto* unary = std::get_if<Unary>(&op);
  if (unary == nullptr) return std::nullopt;
  switch (unary->op) {
    case UnaryOp::kTanh:
      return RealPostOp{PostOpKind::kTanh, 0, 0, {}};
    case UnaryOp::kSigmoid:
      return RealPostOp{PostOpKind::kLogistic, 0, 0, {}};
    case UnaryOp::kElu:
      return RealPostOp{PostOpKind::kElu, unary->alpha, 0, {}};
    case UnaryOp::kAbs:
      return RealPostOp{PostOpKind::kAbs, 0, 0, {}};
    case UnaryOp::kSqrt:
      return RealPostOp{PostOpKind::kSqrt, 0, 0, {}};
    case UnaryOp::kSquare:
      return RealPostOp{PostOpKind::kSquare, 0, 0, {}};
    case UnaryOp::kSilu:
      return RealPostOp{PostOpKind::kSwish, 1, 0, {}};
    case UnaryOp::kHardSwish:
      return RealPostOp{PostOpKind::kHardSwish, 1.0f / 6, 0.5f, {}};
    default:  // oneDNN has no such post-operation
      return std::nullopt;
  }
}

namespace {

// The number that an F32 constant holds everywhere.
std::optional<float> UniformConstant(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (!value.is_constant() || value.dtype != DType::kF32) return std::nullopt;
  const auto numbers = value.constant->As<float>();
  const bool uniform = !numbers.empty() && std::all_of(numbers.begin(), numbers.end(),
                                                       [&](float x) { return x == numbers[0]; });
  return uniform ? std::optional(numbers[0]) : std::nullopt;
}

}  // namespace

std::vector<RealPostOp> PostOpsOf(const Graph& graph, const Node& node, size_t side) {
  if (const std::optional<RealPostOp> op = PostOpOf(node.op)) return {*op};
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr ||
      graph.value(node.outputs[0]).shape != graph.value(node.inputs[side]).shape)
    return {};
  const std::optional<float> number = UniformConstant(graph, node.inputs[1 - side]);
  if (!number) return {};
  RealPostOp linear{PostOpKind::kLinear, 1, 0, {}};
  switch (binary->op) {
    case BinaryOp::kAdd:
      linear.beta = *number;
      break;
    case BinaryOp::kSub:
      linear.alpha = side == 0 ? 1.0f : -1.0f;
      linear.beta = side == 0 ? -*number : *number;
      break;
    case BinaryOp::kMul:
      linear.alpha = *number;
      break;
    case BinaryOp::kDiv:
      if (side != 0 || *number == 0) return {};
      linear.alpha = 1 / *number;
      break;
    default:
      return {};
  }
  std::vector<RealPostOp> ops = {linear};
  if (binary->clamp.active()) ops.push_back(PostOpOf(binary->clamp));
  return ops;
}

namespace {

class Finder {
 public:
  Finder(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types)
      : graph_(graph),
        plan_(plan),
        types_(types),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()) {}

  PostOpPlan Run() {
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Op& op = graph_.nodes()[n].op;
      const bool linear = std::holds_alternative<Conv>(op) || std::holds_alternative<MatMul>(op) ||
                          std::holds_alternative<ConvTranspose>(op);
      if (linear && plan_.forms[n] == NodeForm::kInteger) Follow(n);
    }
    return std::move(post_ops_);
  }

 private:
  void Follow(size_t n) {
    FusedPostOps fused;
    fused.y = graph_.nodes()[n].outputs[0];
    while (Extend(n, &fused)) {
    }
    if (!fused.ops.empty()) post_ops_.of[n] = std::move(fused);
  }

  bool Extend(size_t n, FusedPostOps* fused) {
    const auto& readers = consumers_[fused->y.index()];
    if (readers.size() != 1 || graph_.IsOutput(fused->y)) return false;
    const size_t r = readers[0].index();
    const Node& node = graph_.nodes()[r];
    const IntType& type = types_.types[node.outputs[0].index()];
    if (plan_.forms[r] != NodeForm::kInteger || !(type.quant.scale > 0)) return false;
    const bool summed = fused->addend.valid();
    if (summed && type.dtype != types_.types[fused->addend.index()].dtype) return false;
    const size_t side = node.inputs[0] == fused->y ? 0 : 1;
    const std::vector<RealPostOp> ops = PostOpsOf(graph_, node, side);
    if (!ops.empty()) {
      fused->ops.insert(fused->ops.end(), ops.begin(), ops.end());
    } else if (summed || !TakeSum(n, node, type, fused)) {
      return false;
    }
    fused->y = node.outputs[0];
    post_ops_.taken.insert(r);
    return true;
  }

  bool TakeSum(size_t n, const Node& node, const IntType& type, FusedPostOps* fused) {
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->op != BinaryOp::kAdd) return false;
    const ValueId other = node.inputs[node.inputs[0] == fused->y ? 1 : 0];
    const Value& value = graph_.value(other);
    const IntType& addend = types_.types[other.index()];
    const NodeId producer = producers_[other.index()];
    const bool before = !producer.valid() || static_cast<size_t>(producer.index()) < n;
    if (other == fused->y || value.is_constant() || !before) return false;
    if (value.shape != graph_.value(fused->y).shape) return false;
    if (!(addend.quant.scale > 0) || addend.dtype != type.dtype || addend.quant.zero_point != 0) {
      return false;
    }
    fused->addend = other;
    fused->ops.push_back({PostOpKind::kSum, 0, 0, addend});
    if (binary->clamp.active()) fused->ops.push_back(PostOpOf(binary->clamp));
    return true;
  }

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const ValueTypes& types_;
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> consumers_;
  PostOpPlan post_ops_;
};

}  // namespace

PostOpPlan FindPostOps(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                       const Arithmetic& rules) {
  return rules.HasPostOps() ? Finder(graph, plan, types).Run() : PostOpPlan{};
}

}  // namespace rshift
