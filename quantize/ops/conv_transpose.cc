// Transposed convolution as convolutions of stride 1, one or more phases each
// (conv_transpose_subpixel.h), whose outputs are put between each other. The sums are those of the
// definition, term by term.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "quantize/ops/conv_transpose_subpixel.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/weights.h"

namespace rshift {
namespace {

// So many commands at most, or what they compute is no longer worth them.
constexpr int64_t kMostParts = 1024, kMostStride = 4096;

struct Sizes {
  TransposedSize height, width;
};

Sizes SizesOf(const Window& o, const Shape& x, const Shape& y) {  // NHWC
  return {{x[1], y[1], o.kernel_h, o.stride_h, o.dilation_h, o.pad_top},
          {x[2], y[2], o.kernel_w, o.stride_w, o.dilation_w, o.pad_left}};
}

struct Kernels {
  Shape shape;  // [OC, IC / g, KH, KW]
  std::vector<float> weights;
  std::shared_ptr<QuantizedOrigin> origin;
};

// Index in the operator's weights [IC, OC / g, KH, KW] of every element of [OC, IC / g, KH, KW].
std::vector<int64_t> OrderByOutput(const Shape& w, int64_t groups) {
  const int64_t icg = w[0] / groups, ocg = w[1], taps = w[2] * w[3];
  std::vector<int64_t> order;
  for (int64_t oc = 0; oc < groups * ocg; ++oc) {
    const int64_t group = oc / ocg;
    for (int64_t ic = 0; ic < icg; ++ic) {
      const int64_t first = ((group * icg + ic) * ocg + oc % ocg) * taps;
      for (int64_t tap = 0; tap < taps; ++tap) order.push_back(first + tap);
    }
  }
  return order;
}

Kernels ByOutput(const Value& w, int64_t groups) {
  Kernels kernels;
  kernels.shape = {w.shape[1] * groups, w.shape[0] / groups, w.shape[2], w.shape[3]};
  const std::vector<int64_t> order = OrderByOutput(w.shape, groups);
  const auto old = w.constant->As<float>();
  for (int64_t at : order) kernels.weights.push_back(old[at]);
  if (w.origin == nullptr) return kernels;
  kernels.origin = std::make_shared<QuantizedOrigin>(*w.origin);
  if (kernels.origin->axis == 1) kernels.origin->axis = 0;
  std::vector<uint8_t> bytes;
  bytes.reserve(order.size());
  for (int64_t at : order) bytes.push_back(w.origin->integers->bytes[at]);
  kernels.origin->integers = MakeConstant(std::span<const uint8_t>(bytes));
  return kernels;
}

// Writes the convolutions of one node.
class PhaseEmitter {
 public:
  PhaseEmitter(Emitter& emitter, const Node& node, const ConvTranspose& op, const Kernels& kernels,
               QuantizedWeights quantized)
      : emitter_(emitter),
        node_(node),
        op_(op),
        kernel_(kernels.shape),
        quantized_(std::move(quantized)),
        fused_(emitter.PostOps(node)),
        type_(emitter.Type(fused_.y)),
        x_(emitter.old().value(node.inputs[0]).shape),
        y_(emitter.old().value(node.outputs[0]).shape) {
    const Sizes sizes = SizesOf(op.window, x_, y_);
    height_ = sizes.height, width_ = sizes.width;
    const int64_t own = kernel_[1] * kernel_[2] * kernel_[3];
    for (int64_t oc = 0; oc < kernel_[0]; ++oc) {
      const int8_t* weights = quantized_.weights.data() + oc * own;
      sums_.push_back(std::accumulate(weights, weights + own, -own * ZeroW(oc)));
    }
    plan_ = PlanPhases(height_, width_, op.groups, x_[3], y_[3]);
  }

  void Emit() {
    const std::vector<PhasePart>& parts = plan_.parts;
    if (phases() == 1) return AddConv(parts[0], 0, "", emitter_.DefineInt(fused_.y));
    const Shape image = {x_[0], height_.steps(), width_.steps(), phases() * y_[3]};
    std::vector<ValueId> made;
    int64_t channel = 0;
    for (const PhasePart& part : parts) {
      const int64_t channels = part.rows.count * part.columns.count * y_[3];
      const std::string suffix =
          parts.size() == 1 ? "__phases" : "__phase" + std::to_string(made.size());
      const ValueId y = emitter_.Temporary(fused_.y, suffix, type_,
                                           {image[0], image[1], image[2], channels}, Layout::kNhwc);
      AddConv(part, channel, suffix, y);
      made.push_back(y);
      channel += channels;
    }
    ValueId all = made[0];
    if (made.size() > 1) {
      all = emitter_.Temporary(fused_.y, "__phases", type_, image, Layout::kNhwc);
      emitter_.AddNode(node_.name + "__phases", Concat{3}, made, all);
    }
    Interleave(all);
  }

 private:
  int32_t ZeroW(int64_t oc) const {
    return quantized_.zero_w.empty() ? 0 : quantized_.zero_w[static_cast<size_t>(oc)];
  }
  int64_t phases() const { return height_.stride * width_.stride; }

  // `channel`: where its output begins among all phases'.
  void AddConv(const PhasePart& part, int64_t channel, const std::string& suffix, ValueId y) {
    const PhaseWindow& h = plan_.rows[part.rows.first].window;
    const PhaseWindow& w = plan_.columns[part.columns.first].window;
    QConv conv;
    conv.window = {h.taps,       w.taps,       1,           1,          h.dilation, w.dilation,
                   h.pad_before, w.pad_before, h.pad_after, w.pad_after};
    conv.groups = op_.groups;
    conv.clamp = quantized_.form.clamp;
    conv.rounding = quantized_.form.rounding;
    conv.post_ops = quantized_.form.post_ops;
    conv.ascend = quantized_.form.ascend;
    std::vector<int8_t> weights;
    for (int64_t f = 0; f < part.rows.count; ++f) {
      for (int64_t g = 0; g < part.columns.count; ++g) {
        AddPhase(plan_.rows[part.rows.first + f], plan_.columns[part.columns.first + g], conv,
                 weights);
      }
    }
    const auto channels = static_cast<int64_t>(conv.channels.size());
    const Value& w_old = emitter_.old().value(node_.inputs[1]);
    std::vector<ValueId> inputs = {
        Cut(h, w),
        emitter_.AddWeights(w_old.name + "__q" + suffix, w_old.layout,
                            {channels, kernel_[1], h.taps, w.taps}, 0, quantized_.scales, weights)};
    if (fused_.addend.valid()) inputs.push_back(Addend(channel, channels));
    emitter_.AddNode(node_.name + suffix, std::move(conv), std::move(inputs), y);
  }

  // The output channels of one phase: weights of its taps, and biases that fold Z_x of no others.
  void AddPhase(const Phase& row, const Phase& column, QConv& conv, std::vector<int8_t>& weights) {
    const int32_t zero_x = emitter_.Type(node_.inputs[0]).quant.zero_point;
    for (int64_t oc = 0; oc < kernel_[0]; ++oc) {
      const int32_t zero_w = ZeroW(oc);
      int64_t others = sums_[static_cast<size_t>(oc)];  // the sum of their weights
      for (int64_t ic = 0; ic < kernel_[1]; ++ic) {
        const int8_t* kernel =
            quantized_.weights.data() + (oc * kernel_[1] + ic) * kernel_[2] * kernel_[3];
        for (int64_t i = 0; i < row.window.taps; ++i) {
          for (int64_t j = 0; j < column.window.taps; ++j) {
            const int64_t ky = row.KernelTap(i), kx = column.KernelTap(j);
            const bool own = ky >= 0 && kx >= 0;
            const int32_t w = own ? kernel[ky * kernel_[3] + kx] : zero_w;
            weights.push_back(static_cast<int8_t>(w));
            others -= w - zero_w;
          }
        }
      }
      // |bias| grows by no more than the bound of the accumulator has for the taps left out.
      ChannelRequant channel = quantized_.channels[oc];
      channel.bias = static_cast<int32_t>(channel.bias + zero_x * others);
      conv.channels.push_back(channel);
      if (!quantized_.zero_w.empty()) conv.zero_w.push_back(zero_w);
    }
  }

  // x without what the window never reads.
  ValueId Cut(const PhaseWindow& h, const PhaseWindow& w) {
    const ValueId x = emitter_.Int(node_.inputs[0]);
    const std::array<int64_t, 4> cut = {h.cut_before, h.cut_after, w.cut_before, w.cut_after};
    if (cut == std::array<int64_t, 4>{}) return x;
    ValueId& made = cuts_[cut];
    if (made.valid()) return made;
    const Shape shape = {x_[0], x_[1] - cut[0] - cut[1], x_[2] - cut[2] - cut[3], x_[3]};
    const Slice slice{{0, cut[0], cut[2], 0}, {1, 1, 1, 1}};
    made = Step(node_.outputs[0], emitter_.Type(node_.inputs[0]), "__cut", slice, x, shape,
                Layout::kNhwc);
    return made;
  }

  // --- between [N, H', W', (row phase, column phase, C)] and [N, H, W, C]

  ValueId Step(ValueId like, const IntType& type, const std::string& suffix, Op op, ValueId x,
               const Shape& shape, Layout layout = Layout::kPlain) {
    return emitter_.AddStep(node_, suffix, std::move(op), x, like, type, shape, layout);
  }

  // The rows of a phase's pixels are apart already where there is one row of phases.
  bool in_order() const { return height_.stride == 1 || width_.steps() == 1; }

  void Interleave(ValueId all) {
    const int64_t h = height_.steps(), v = width_.steps(), f = height_.stride, g = width_.stride;
    const Shape full = {x_[0], h * f, v * g, y_[3]};
    ValueId at = all;
    if (!in_order()) {
      at = Step(fused_.y, type_, "__apart", Reshape{}, at, {x_[0], h, v, f, g * y_[3]});
      at = Step(fused_.y, type_, "__rows", Transpose{{0, 1, 3, 2, 4}}, at,
                {x_[0], h, f, v, g * y_[3]});
    }
    if (full == y_) return Last(Reshape{}, at);
    at = Step(fused_.y, type_, "__full", Reshape{}, at, full, Layout::kNhwc);
    Last(Slice{{0, 0, 0, 0}, {1, 1, 1, 1}}, at);
  }

  void Last(Op op, ValueId x) {
    emitter_.AddNode(node_.name, std::move(op), {x}, emitter_.DefineInt(fused_.y));
  }

  // Channels [first, first + count) of the addend, divided into phases as y is.
  ValueId Addend(int64_t first, int64_t count) {
    const IntType type = emitter_.Type(fused_.addend);
    if (phases() == 1) return emitter_.Int(fused_.addend);
    if (!addend_.valid()) addend_ = PhasesOfAddend(type);
    const Shape shape = {x_[0], height_.steps(), width_.steps(), count};
    if (count == phases() * y_[3]) return addend_;
    return Step(fused_.addend, type, "__phase", Slice{{0, 0, 0, first}, {1, 1, 1, 1}}, addend_,
                shape, Layout::kNhwc);
  }

  ValueId PhasesOfAddend(const IntType& type) {
    const ValueId like = fused_.addend;
    const int64_t h = height_.steps(), v = width_.steps(), f = height_.stride, g = width_.stride;
    const Shape full = {x_[0], h * f, v * g, y_[3]};
    ValueId at = emitter_.Int(like);
    if (full != y_) {
      Pad pad;
      pad.before.assign(4, 0);
      pad.after = {0, full[1] - y_[1], full[2] - y_[2], 0};
      pad.value = static_cast<float>(type.quant.zero_point);
      at = Step(like, type, "__full", pad, at, full, Layout::kNhwc);
    }
    at = Step(like, type, "__rows", Reshape{}, at, {x_[0], h, f, v, g * y_[3]});
    at = Step(like, type, "__apart", Transpose{{0, 1, 3, 2, 4}}, at, {x_[0], h, v, f, g * y_[3]});
    return Step(like, type, "__phases", Reshape{}, at, {x_[0], h, v, phases() * y_[3]},
                Layout::kNhwc);
  }

  Emitter& emitter_;
  const Node& node_;
  const ConvTranspose& op_;
  const Shape kernel_;  // [OC, IC / g, KH, KW]
  const QuantizedWeights quantized_;
  const FusedPostOps fused_;
  const IntType type_;  // of y
  const Shape x_, y_;   // NHWC
  TransposedSize height_, width_;
  std::vector<int64_t> sums_;  // of q_w - Z_w, for each output channel
  PhasePlan plan_;
  std::map<std::array<int64_t, 4>, ValueId> cuts_;
  ValueId addend_;
};

}  // namespace

OpSupport SupportConvTranspose(const Graph& graph, const Node& node, const ConvTranspose& op) {
  const Value& w = graph.value(node.inputs[1]);
  if (!w.is_constant()) return {OpKind::kFloat, "its weights are not constant"};
  if (node.inputs.size() > 2 && node.inputs[2].valid() &&
      !graph.value(node.inputs[2]).is_constant()) {
    return {OpKind::kFloat, "its bias is not constant"};
  }
  if (graph.value(node.inputs[0]).layout != Layout::kNhwc) {
    return {OpKind::kFloat, "its input is not an image"};
  }
  if (w.origin != nullptr && w.origin->scales.size() > 1 &&
      !(w.origin->axis == 1 && op.groups == 1)) {
    return {OpKind::kFloat, "its quantized weights have scales that are not of output channels"};
  }
  if (std::max(op.window.stride_h, op.window.stride_w) > kMostStride) {
    return {OpKind::kFloat, "its stride is above 4096"};
  }
  OpSupport many{OpKind::kFloat, "its strides would need more than 1024 convolutions"};
  if (op.groups > 1 && op.window.stride_h * op.window.stride_w > kMostParts) return many;
  const Sizes sizes =
      SizesOf(op.window, graph.value(node.inputs[0]).shape, graph.value(node.outputs[0]).shape);
  const PhasePlan plan =
      PlanPhases(sizes.height, sizes.width, op.groups, w.shape[0], w.shape[1] * op.groups);
  if (static_cast<int64_t>(plan.parts.size()) > kMostParts) return many;
  return {OpKind::kAlways, ""};
}

void EmitConvTranspose(Emitter& emitter, const Node& node, const ConvTranspose& op) {
  const Shape& x = emitter.old().value(node.inputs[0]).shape;
  const Kernels kernels = ByOutput(emitter.old().value(node.inputs[1]), op.groups);
  WeightRequest request = RequestOf(emitter, node);
  request.weights = kernels.weights;
  request.weights_origin = kernels.origin.get();
  request.channels = kernels.shape[0];
  request.k = kernels.shape[1] * kernels.shape[2] * kernels.shape[3];
  request.channel_stride = request.k;
  request.kind = op.groups > 1 && op.groups == x[3] ? LinearKind::kDepthwise : LinearKind::kGeneral;
  request.clamp = op.clamp;
  QuantizedWeights quantized = QuantizeWeights(request, &emitter.report());
  PhaseEmitter(emitter, node, op, kernels, std::move(quantized)).Emit();
}

}  // namespace rshift
