#include "quantize/ops/fuse_post_ops.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/conv_or_matmul.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"
#include "quantize/values.h"

namespace rshift {

RealPostOp PostOpOf(const Clamp& clamp) { return {PostOpKind::kClip, clamp.lo, clamp.hi, {}}; }

std::optional<RealPostOp> PostOpOf(const Op& op) {
  if (const auto* clip = std::get_if<Clip>(&op)) return PostOpOf(clip->clamp);
  if (const auto* leaky = std::get_if<LeakyRelu>(&op)) {
    return RealPostOp{PostOpKind::kRelu, leaky->alpha, 0, {}};
  }
  const auto* unary = std::get_if<Unary>(&op);
  if (unary == nullptr || unary->scales_channels()) return std::nullopt;
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

class PostOpFinder {
 public:
  PostOpFinder(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
               const QuantizeOptions& options)
      : graph_(graph),
        plan_(plan),
        types_(types),
        options_(options),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()) {}

  PostOpPlan Run() {
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (IsConvOrMatMul(graph_.nodes()[n].op) && plan_.forms[n] == NodeForm::kInteger &&
          HasPostOps(n))
        Follow(n);
    }
    return std::move(post_ops_);
  }

 private:
  Profile ProfileAt(size_t n) const {
    return ProfileOf(graph_, graph_.nodes()[n], options_.config, options_.profile);
  }
  bool HasPostOps(size_t n) const { return ArithmeticOf(ProfileAt(n)).HasPostOps(); }

  void Follow(size_t n) {
    FusedPostOps fused;
    fused.y = graph_.nodes()[n].outputs[0];
    while (Extend(n, &fused)) {
    }
    fused.real = LayerOf(graph_, graph_.nodes()[n], options_.config).onednn.real_dst &&
                 IsFloatBehind(fused.y);
    if (!fused.ops.empty() || fused.real) post_ops_.of[n] = std::move(fused);
  }

  // dst: f32 is worth it where a result is read as a number, not as bytes.
  bool IsFloatBehind(ValueId y) const {
    const auto& readers = consumers_[y.index()];
    const bool reads = std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return plan_.forms[reader.index()] == NodeForm::kInteger;
    });
    RSHIFT_REQUIRE(!reads, ErrorCode::kInvalidInput, "onednn: dst: f32: '", graph_.value(y).name,
                   "' is read by an integer node; leave dst out");
    return true;
  }

  bool Extend(size_t n, FusedPostOps* fused) {
    const auto& readers = consumers_[fused->y.index()];
    if (readers.size() != 1 || graph_.IsOutput(fused->y)) return false;
    const size_t r = readers[0].index();
    const Node& node = graph_.nodes()[r];
    const IntType& type = types_.types[node.outputs[0].index()];
    if (plan_.forms[r] != NodeForm::kInteger || !(type.quant.scale > 0)) return false;
    if (ProfileAt(n) != ProfileAt(r)) return false;
    const bool summed = fused->addend.valid();
    const size_t side = node.inputs[0] == fused->y ? 0 : 1;
    const std::vector<RealPostOp> ops = PostOpsOf(graph_, node, side);
    if (!ops.empty()) {
      fused->ops.insert(fused->ops.end(), ops.begin(), ops.end());
    } else if (summed || !TakeSum(n, node, fused)) {
      return false;
    }
    fused->y = node.outputs[0];
    post_ops_.taken.insert(r);
    return true;
  }

  bool TakeSum(size_t n, const Node& node, FusedPostOps* fused) {
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->op != BinaryOp::kAdd) return false;
    const ValueId other = node.inputs[node.inputs[0] == fused->y ? 1 : 0];
    const Value& value = graph_.value(other);
    const IntType& addend = types_.types[other.index()];
    const NodeId producer = producers_[other.index()];
    const bool before = !producer.valid() || static_cast<size_t>(producer.index()) < n;
    if (other == fused->y || value.is_constant() || !before) return false;
    if (value.shape != graph_.value(fused->y).shape) return false;
    if (!(addend.quant.scale > 0)) return false;
    fused->addend = other;
    fused->ops.push_back({PostOpKind::kSum, 0, 0, addend});
    const float offset = addend.quant.scale * static_cast<float>(addend.quant.zero_point);
    if (offset != 0) fused->ops.push_back({PostOpKind::kLinear, 1, -offset, {}});
    if (binary->clamp.active()) fused->ops.push_back(PostOpOf(binary->clamp));
    return true;
  }

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const ValueTypes& types_;
  const QuantizeOptions& options_;
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> consumers_;
  PostOpPlan post_ops_;
};

}  // namespace

namespace {

// The positive number by which a node multiplies `x`, alone; 0 where it does anything else.
float PositiveFactor(const Graph& graph, const Node& node, ValueId x) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->clamp.active()) return 0;
  const bool product = binary->op == BinaryOp::kMul, quotient = binary->op == BinaryOp::kDiv;
  if (!product && !(quotient && node.inputs[0] == x)) return 0;
  const Value& other = graph.value(node.inputs[node.inputs[0] == x ? 1 : 0]);
  if (!other.is_constant() || other.dtype != DType::kF32 || NumElements(other.shape) != 1) return 0;
  if (graph.value(node.outputs[0]).shape != graph.value(x).shape) return 0;
  const float number = other.constant->As<float>()[0];
  const float factor = product ? number : 1 / number;
  return std::isfinite(factor) && factor > 0 ? factor : 0;
}

// NUMERICS.md section 25: 1 / sqrt(d) behind the scores of attention.
void FindProductScales(const Graph& graph, const QuantizationPlan& plan,
                       const QuantizeOptions& options, PostOpPlan* result) {
  const auto consumers = graph.Consumers();
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const auto* matmul = std::get_if<MatMul>(&node.op);
    if (matmul == nullptr || matmul->clamp.active() || plan.forms[n] != NodeForm::kInteger ||
        HasConstantMatrix(graph, node) ||
        !ArithmeticOf(ProfileOf(graph, node, options.config, options.profile))
             .FactorsBatchedMatMul()) {
      continue;
    }
    const ValueId y = node.outputs[0];
    const auto& readers = consumers[y.index()];
    if (graph.IsOutput(y) || readers.size() != 1) continue;
    const size_t next = readers[0].index();
    if (plan.forms[next] != NodeForm::kInteger) continue;
    const Node& reader = graph.nodes()[next];
    const float factor = PositiveFactor(graph, reader, y);
    if (factor == 0) continue;
    result->of[n] = {{{PostOpKind::kLinear, factor, 0, {}}}, reader.outputs[0], {}};
    result->taken.insert(next);
  }
}

}  // namespace

PostOpPlan FindPostOps(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                       const QuantizeOptions& options) {
  PostOpPlan result = PostOpFinder(graph, plan, types, options).Run();
  FindProductScales(graph, plan, options, &result);
  return result;
}

}  // namespace rshift
