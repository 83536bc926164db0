#include "quantize/qdq_chains.h"

#include <algorithm>
#include <utility>

#include "quantize/ops/fuse_post_ops.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"
#include "quantize/values.h"

namespace rshift {

void QdqChains::Start(size_t n) {
  const ValueId y = graph_.nodes()[n].outputs[0];
  chains_[y] = {n, {{}, y, {}}, {}};
}

void QdqChains::Keep(QdqChain chain) { chains_[chain.fused.y] = std::move(chain); }

std::optional<QdqChain> QdqChains::Extended(size_t n, const HeldType& held) const {
  if (ArithmeticOf(profile_).HalfResults()) return std::nullopt;  // fp16 operators follow
  const Node& node = graph_.nodes()[n];
  for (size_t i = 0; i < std::min<size_t>(node.inputs.size(), 2); ++i) {
    const QdqChain* before = ChainBefore(node, i);
    if (before == nullptr) continue;
    QdqChain chain = *before;
    std::vector<RealPostOp> ops = PostOpsOf(graph_, node, i);
    if (ops.empty()) ops = ChannelRelu(node, graph_.nodes()[chain.conv], i);
    if (!ops.empty()) {
      chain.fused.ops.insert(chain.fused.ops.end(), ops.begin(), ops.end());
    } else if (TakesUnits(node, graph_.nodes()[chain.conv])) {
      chain.in_units = true;
    } else if (const auto zeros = TakesZeros(node, chain)) {
      chain.fused.ops.insert(chain.fused.ops.end(), zeros->begin(), zeros->end());
    } else if (node.inputs.size() != 2 || !TakesSum(node, node.inputs[1 - i], held, &chain.fused)) {
      continue;
    }
    chain.fused.y = node.outputs[0];
    chain.nodes.push_back(n);
    return chain;
  }
  return std::nullopt;
}

bool QdqChains::ClipFollows(ValueId y) const {
  const auto& readers = consumers_[y.index()];
  return readers.size() == 1 && std::holds_alternative<Clip>(graph_.node(readers[0]).op);
}

const QdqChain* QdqChains::ChainBefore(const Node& node, size_t i) const {
  const auto found = chains_.find(node.inputs[i]);
  const bool alone = found != chains_.end() && !graph_.IsOutput(node.inputs[i]) &&
                     consumers_[node.inputs[i].index()].size() == 1;
  return alone ? &found->second : nullptr;
}

bool QdqChains::TakesSum(const Node& node, ValueId other, const HeldType& held,
                         FusedPostOps* fused) const {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != BinaryOp::kAdd || fused->addend.valid()) return false;
  const Value &value = graph_.value(other), &y = graph_.value(fused->y);
  const IntType* type = held(other);
  if (type == nullptr || other == fused->y) return false;
  if (value.shape != y.shape || value.layout != y.layout) return false;
  const IntType addend = *type;
  if (addend.is_s16()) return false;
  const float offset = addend.quant.scale * static_cast<float>(addend.quant.zero_point);
  fused->addend = other;
  fused->ops.push_back({PostOpKind::kSum, 0, 0, addend});
  if (y.dtype == DType::kF32) fused->ops.back().before = y.ranges;
  if (offset != 0) fused->ops.push_back({PostOpKind::kLinear, 1, -offset, {}});
  if (binary->clamp.active()) fused->ops.push_back(PostOpOf(binary->clamp));
  return true;
}

bool QdqChains::ReadsRanges(const Node& conv) const {
  return ArithmeticOf(ProfileOf(graph_, conv, config_, profile_)).ReadsRanges();
}

std::vector<RealPostOp> QdqChains::ChannelRelu(const Node& node, const Node& conv,
                                               size_t side) const {
  const bool has = ReadsRanges(conv) ||
                   ArithmeticOf(ProfileOf(graph_, conv, config_, profile_)).ScalesBelowZero();
  if (!has || side != 0 || !std::holds_alternative<PRelu>(node.op)) return {};
  const auto slopes = NumbersOfChannels(graph_, node.inputs[1], node.outputs[0], true);
  if (slopes.empty()) return {};
  if (slopes.size() == 1) return {{PostOpKind::kRelu, slopes[0], 0, {}}};
  RealPostOp op{PostOpKind::kChannelRelu, 0, 0, {}};
  op.alphas.assign(slopes.begin(), slopes.end());
  return {op};
}

bool QdqChains::TakesUnits(const Node& node, const Node& conv) const {
  const auto* binary = std::get_if<Binary>(&node.op);
  return binary != nullptr && binary->op == BinaryOp::kDiv &&
         graph_.value(node.outputs[0]).ranges != nullptr && ReadsRanges(conv) &&
         !NumbersOfChannels(graph_, node.inputs[1], node.outputs[0], false).empty();
}

std::optional<std::vector<RealPostOp>> QdqChains::TakesZeros(const Node& node,
                                                             const QdqChain& chain) const {
  const ValueId y = node.outputs[0];
  const auto* unary = std::get_if<Unary>(&node.op);
  const bool round = unary != nullptr && unary->op == UnaryOp::kRound;
  if (round && !AddsZeros(y)) return std::nullopt;
  const auto& ops = chain.fused.ops;
  const bool rounded = chain.in_units || (!ops.empty() && ops.back().kind == PostOpKind::kRound);
  const bool zeros = rounded && AddsZeros(node.inputs[0]);
  if (!round && !zeros) return std::nullopt;
  if (chain.in_units) return std::vector<RealPostOp>{};
  if (round) return std::vector<RealPostOp>{{PostOpKind::kRound, 0, 0, {}}};
  const auto numbers = NumbersOfChannels(graph_, node.inputs[1], y, false);
  RealPostOp add{PostOpKind::kChannelLinear, 0, 0, {}};
  add.alphas.assign(numbers.size(), 1.0f);
  add.betas.assign(numbers.begin(), numbers.end());
  return std::vector<RealPostOp>{add};
}

bool QdqChains::AddsZeros(ValueId rounded) const {
  const auto& readers = consumers_[rounded.index()];
  if (readers.size() != 1) return false;
  const Node& add = graph_.node(readers[0]);
  const auto* binary = std::get_if<Binary>(&add.op);
  if (binary == nullptr || binary->op != BinaryOp::kAdd || add.inputs[0] != rounded) return false;
  if (binary->clamp.active()) return false;
  const auto& behind = consumers_[add.outputs[0].index()];
  return !NumbersOfChannels(graph_, add.inputs[1], add.outputs[0], false).empty() &&
         behind.size() == 1 && std::holds_alternative<Quantize>(graph_.node(behind[0]).op);
}

}  // namespace rshift
