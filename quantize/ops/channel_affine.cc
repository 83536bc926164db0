#include "quantize/ops/channel_affine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "quantize/ops/weights.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// The numbers of a constant that varies along the last dimension of `shape` alone and is repeated
// along the others.
std::optional<std::vector<float>> PerChannel(const Value& value, const Shape& shape) {
  if (!value.is_constant() || value.dtype != DType::kF32 || value.origin != nullptr) return {};
  const int64_t count = NumElements(value.shape);
  const bool last = !shape.empty() && !value.shape.empty() && value.shape.back() == count;
  if (!last || count != shape.back() || count < 2 || NumElements(shape) <= count) return {};
  const auto numbers = value.constant->As<float>();
  return std::vector<float>(numbers.begin(), numbers.end());
}

class ChannelAffineFinder {
 public:
  ChannelAffineFinder(const Graph& graph, const QuantizationPlan& plan,
                      const QuantizeOptions& options, const std::set<size_t>& others)
      : graph_(graph),
        plan_(plan),
        options_(options),
        others_(others),
        consumers_(graph.Consumers()),
        is_output_(graph.value_count(), false) {
    for (ValueId id : graph.outputs) is_output_[id.index()] = true;
  }

  ChannelAffines Run() {
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (found_.taken.contains(n)) continue;
      std::optional<ChannelAffine> affine = Read(n);
      if (!affine) continue;
      if (!affine->clamp.active()) TakeSum(n, &*affine);
      found_.of[n] = std::move(*affine);
    }
    return std::move(found_);
  }

 private:
  // The node as an affine function of its operand that is no constant.
  std::optional<ChannelAffine> Read(size_t n) const {
    const Node& node = graph_.nodes()[n];
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || plan_.forms[n] != NodeForm::kInteger || others_.contains(n)) return {};
    const LayerConfig layer = LayerOf(graph_, node, options_.config);
    if (layer.multiplier_bits || layer.profile) return {};
    const Shape& shape = graph_.value(node.outputs[0]).shape;
    for (int side = 0; side < 2; ++side) {
      const Value& x = graph_.value(node.inputs[side]);
      if (x.is_constant() || x.shape != shape) continue;
      const auto numbers = PerChannel(graph_.value(node.inputs[1 - side]), shape);
      if (!numbers) continue;
      ChannelAffine affine{n, node.inputs[side], {}, {}, binary->clamp};
      const std::vector<float> ones(numbers->size(), 1.0f);
      if (binary->op == BinaryOp::kMul) {
        affine.scale = *numbers;
      } else if (binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub) {
        affine.scale = ones;
        affine.shift = *numbers;
        const bool minus = binary->op == BinaryOp::kSub;
        for (float& s : minus&& side == 0 ? affine.shift : affine.scale) s = minus ? -s : s;
      } else {
        return {};
      }
      return affine;
    }
    return {};
  }

  void TakeSum(size_t n, ChannelAffine* affine) {
    const ValueId middle = graph_.nodes()[n].outputs[0];
    const auto& readers = consumers_[middle.index()];
    const bool scales = affine->shift.empty();
    if (!scales || readers.size() != 1 || is_output_[middle.index()]) return;
    const auto next = static_cast<size_t>(readers[0].index());
    const std::optional<ChannelAffine> sum = Read(next);
    if (!sum || sum->shift.empty() || sum->x != middle) return;
    for (size_t c = 0; c < affine->scale.size(); ++c) affine->scale[c] *= sum->scale[c];
    affine->shift = sum->shift;
    affine->clamp = sum->clamp;
    affine->last = next;
    found_.taken.insert(next);
  }

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const QuantizeOptions& options_;
  const std::set<size_t>& others_;
  const std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> is_output_;
  ChannelAffines found_;
};

}  // namespace

ChannelAffines FindChannelAffines(const Graph& graph, const QuantizationPlan& plan,
                                  const QuantizeOptions& options, const std::set<size_t>& others) {
  if (options.profile.id != ProfileId::kTpu || HoldsQuantization(graph)) return {};
  return ChannelAffineFinder(graph, plan, options, others).Run();
}

void EmitChannelAffine(Emitter& emitter, const Node& first, const ChannelAffine& affine) {
  const Graph& old = emitter.old();
  const Node& last = old.nodes()[affine.last];
  const ValueId old_y = last.outputs[0];
  const auto channels = static_cast<int64_t>(affine.scale.size());
  WeightRequest request;
  request.node = first.name;
  request.weights = affine.scale;
  request.bias = affine.shift;
  request.channels = channels;
  request.k = request.channel_stride = 1;
  request.x = emitter.Type(affine.x);
  request.y = emitter.Type(old_y);
  request.x_is_zero = emitter.IsZero(affine.x);
  request.multiplier_bits = emitter.conv_multiplier_bits();
  request.kind = LinearKind::kDepthwise;
  request.clamp = affine.clamp;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  QConv conv{std::move(quantized.linear), Window{}, channels, {}};
  const ValueId weights =
      emitter.AddWeights(old.value(old_y).name + "__factor", Layout::kPlain, {channels, 1, 1, 1}, 0,
                         quantized.scales, quantized.weights);
  const Value& y = old.value(old_y);
  ValueId x = emitter.Int(affine.x);
  if (y.layout == Layout::kNhwc) {
    return emitter.AddNode(last.name, std::move(conv), {x, weights}, emitter.DefineInt(old_y));
  }
  // Any other tensor is seen as an image with these channels.
  const Shape image = {1, 1, NumElements(y.shape) / channels, channels};
  x = emitter.AddStep(last, "__image", Reshape{}, x, affine.x, request.x, image, Layout::kNhwc);
  const ValueId made = emitter.Temporary(old_y, "__channels", request.y, image, Layout::kNhwc);
  emitter.AddNode(last.name + "__channels", std::move(conv), {x, weights}, made);
  emitter.AddNode(last.name, Reshape{}, {made}, emitter.DefineInt(old_y));
}

}  // namespace rshift
