#include "codegen/passes/subpixel_transpose.h"

#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "codegen/passes/channel_numbers.h"
#include "codegen/passes/rewriter.h"
#include "codegen/passes/subpixel_phases.h"

namespace rshift {
namespace {

// Writes the convolutions of one node.
class PhaseWriter {
 public:
  PhaseWriter(GraphRewriter& rewriter, const Node& node, const QConv& conv,
              const std::optional<ConvForms>& forms)
      : rewriter_(rewriter),
        node_(node),
        conv_(conv),
        kernel_(rewriter.OldInput(node, 1).shape),
        weights_(rewriter.OldInput(node, 1).constant->As<int8_t>()),
        x_(rewriter.OldInput(node, 0).shape),
        y_(rewriter.OldOutput(node).shape) {
    const Window& o = conv.window;
    height_ = {x_[1], y_[1], o.kernel_h, o.stride_h, o.dilation_h, o.pad_top};
    width_ = {x_[2], y_[2], o.kernel_w, o.stride_w, o.dilation_w, o.pad_left};
    const int64_t own = kernel_[1] * kernel_[2] * kernel_[3];
    for (int64_t oc = 0; oc < kernel_[0]; ++oc) {
      const auto weights = weights_.begin() + oc * own;
      sums_.push_back(std::accumulate(weights, weights + own, -own * ZeroW(oc)));
    }
    plan_ = PlanPhases(height_, width_, conv.groups, x_[3], y_[3], forms);
  }

  void Write() {
    const std::vector<PhasePart>& parts = plan_.parts;
    const ValueId old_y = node_.outputs[0];
    if (phases() == 1) return AddConv(parts[0], 0, "", rewriter_.Same(old_y));
    const Shape image = {x_[0], height_.steps(), width_.steps(), phases() * y_[3]};
    std::vector<ValueId> made;
    int64_t channel = 0;
    for (const PhasePart& part : parts) {
      const int64_t channels = part.rows.count * part.columns.count * y_[3];
      const std::string suffix =
          parts.size() == 1 ? "__phases" : "__phase" + std::to_string(made.size());
      const ValueId y =
          rewriter_.Temporary(old_y, suffix, {image[0], image[1], image[2], channels});
      AddConv(part, channel, suffix, y);
      made.push_back(y);
      channel += channels;
    }
    ValueId all = made[0];
    if (made.size() > 1) {
      all = rewriter_.Temporary(old_y, "__phases", image);
      rewriter_.AddNode(node_.name + "__phases", Concat{3}, made, all);
    }
    Interleave(all);
  }

 private:
  int32_t ZeroW(int64_t oc) const {
    return conv_.zero_w.empty() ? 0 : conv_.zero_w[static_cast<size_t>(oc)];
  }
  int64_t phases() const { return height_.stride * width_.stride; }

  // `channel`: where its output begins among all phases'.
  void AddConv(const PhasePart& part, int64_t channel, const std::string& suffix, ValueId y) {
    const PhaseWindow& h = plan_.rows[part.rows.first].window;
    const PhaseWindow& w = plan_.columns[part.columns.first].window;
    QConv conv = conv_;
    conv.window = {h.taps,       w.taps,       1,           1,          h.dilation, w.dilation,
                   h.pad_before, w.pad_before, h.pad_after, w.pad_after};
    ClearChannelNumbers(&conv);
    std::vector<int8_t> weights;
    for (int64_t f = 0; f < part.rows.count; ++f) {
      for (int64_t g = 0; g < part.columns.count; ++g) {
        AddPhase(plan_.rows[part.rows.first + f], plan_.columns[part.columns.first + g], conv,
                 weights);
      }
    }
    const auto channels = static_cast<int64_t>(conv.channels.size());
    std::vector<ValueId> inputs = {
        Cut(h, w),
        rewriter_.Weights(node_, suffix, {channels, kernel_[1], h.taps, w.taps}, weights)};
    if (addend().valid()) inputs.push_back(Addend(channel, channels));
    rewriter_.AddNode(node_.name + suffix, OfType(std::move(conv)), std::move(inputs), y);
  }

  // Of x's type.
  Op OfType(QConv conv) const {
    if (rewriter_.OldInput(node_, 0).dtype != DType::kS16) return conv;
    return QConvS16{{.clamp = conv.clamp,
                     .rounding = conv.rounding,
                     .window = conv.window,
                     .groups = conv.groups},
                    std::move(conv.channels)};
  }

  // The output channels of one phase: weights of its taps, and biases that fold Z_x of no others.
  void AddPhase(const Phase& row, const Phase& column, QConv& conv, std::vector<int8_t>& weights) {
    const int32_t zero_x = rewriter_.OldInput(node_, 0).quant->zero_point;
    for (int64_t oc = 0; oc < kernel_[0]; ++oc) {
      const int32_t zero_w = ZeroW(oc);
      int64_t others = sums_[static_cast<size_t>(oc)];  // the sum of their weights
      for (int64_t ic = 0; ic < kernel_[1]; ++ic) {
        const int8_t* kernel = weights_.data() + (oc * kernel_[1] + ic) * kernel_[2] * kernel_[3];
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
      AppendChannelNumbers(conv_, static_cast<size_t>(oc), &conv);
      int32_t& bias = conv.channels.back().bias;
      bias = static_cast<int32_t>(bias + zero_x * others);
    }
  }

  // x without what the window never reads.
  ValueId Cut(const PhaseWindow& h, const PhaseWindow& w) {
    const ValueId x = rewriter_.Same(node_.inputs[0]);
    const std::array<int64_t, 4> cut = {h.cut_before, h.cut_after, w.cut_before, w.cut_after};
    if (cut == std::array<int64_t, 4>{}) return x;
    ValueId& made = cuts_[cut];
    if (made.valid()) return made;
    const Shape shape = {x_[0], x_[1] - cut[0] - cut[1], x_[2] - cut[2] - cut[3], x_[3]};
    const Slice slice{{0, cut[0], cut[2], 0}, {1, 1, 1, 1}};
    made = rewriter_.Move(node_, "__cut", slice, x, node_.outputs[0], shape);
    return made;
  }

  // --- between [N, H', W', (row phase, column phase, C)] and [N, H, W, C]

  // The rows of a phase's pixels are apart already where there is one row of phases.
  bool in_order() const { return height_.stride == 1 || width_.steps() == 1; }

  // All phases as they are in memory, with the rows of y.
  Shape Full() const {
    return {x_[0], height_.steps() * height_.stride, width_.steps() * width_.stride, y_[3]};
  }

  void Interleave(ValueId all) {
    const int64_t h = height_.steps(), v = width_.steps(), f = height_.stride, g = width_.stride;
    const ValueId y = node_.outputs[0];
    const auto plain = Layout::kPlain;
    ValueId at = all;
    if (!in_order()) {
      at = rewriter_.Move(node_, "__apart", Reshape{}, at, y, {x_[0], h, v, f, g * y_[3]}, plain);
      at = rewriter_.Move(node_, "__rows", Transpose{{0, 1, 3, 2, 4}}, at, y,
                          {x_[0], h, f, v, g * y_[3]}, plain);
    }
    if (Full() == y_) return Last(Reshape{}, at);
    at = rewriter_.Move(node_, "__full", Reshape{}, at, y, Full());
    Last(Slice{{0, 0, 0, 0}, {1, 1, 1, 1}}, at);
  }

  void Last(Op op, ValueId x) {
    rewriter_.AddNode(node_.name, std::move(op), {x}, rewriter_.Same(node_.outputs[0]));
  }

  // Old; invalid without one.
  ValueId addend() const { return node_.inputs.size() > 2 ? node_.inputs[2] : ValueId(); }

  // Channels [first, first + count) of the addend, divided into phases as y is.
  ValueId Addend(int64_t first, int64_t count) {
    if (phases() == 1) return rewriter_.Same(addend());
    if (!phases_of_addend_.valid()) phases_of_addend_ = PhasesOfAddend();
    if (count == phases() * y_[3]) return phases_of_addend_;
    const Shape shape = {x_[0], height_.steps(), width_.steps(), count};
    return rewriter_.Move(node_, "__phase", Slice{{0, 0, 0, first}, {1, 1, 1, 1}},
                          phases_of_addend_, addend(), shape);
  }

  ValueId PhasesOfAddend() {
    const int64_t h = height_.steps(), v = width_.steps(), f = height_.stride, g = width_.stride;
    const ValueId old = addend();
    const auto plain = Layout::kPlain;
    ValueId at = rewriter_.Same(old);
    if (Full() != y_) {
      Pad pad;
      pad.before.assign(4, 0);
      pad.after = {0, Full()[1] - y_[1], Full()[2] - y_[2], 0};
      pad.value = static_cast<float>(rewriter_.OldInput(node_, 2).quant->zero_point);
      at = rewriter_.Move(node_, "__full", pad, at, old, Full());
    }
    at = rewriter_.Move(node_, "__rows", Reshape{}, at, old, {x_[0], h, f, v, g * y_[3]}, plain);
    at = rewriter_.Move(node_, "__apart", Transpose{{0, 1, 3, 2, 4}}, at, old,
                        {x_[0], h, v, f, g * y_[3]}, plain);
    return rewriter_.Move(node_, "__phases", Reshape{}, at, old, {x_[0], h, v, phases() * y_[3]});
  }

  GraphRewriter& rewriter_;
  const Node& node_;
  const QConv& conv_;
  const Shape kernel_;                     // [OC, IC / g, KH, KW]
  const std::span<const int8_t> weights_;  // of that shape
  const Shape x_, y_;                      // NHWC
  TransposedSize height_, width_;
  std::vector<int64_t> sums_;  // of q_w - Z_w, for each output channel
  PhasePlan plan_;
  std::map<std::array<int64_t, 4>, ValueId> cuts_;
  ValueId phases_of_addend_;
};

}  // namespace

Graph SubpixelTranspose(const Graph& graph, const std::optional<ConvForms>& forms) {
  return RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    const auto* op = std::get_if<QConvTranspose>(&node.op);
    if (op == nullptr) return false;
    PhaseWriter(rewriter, node, op->conv, forms).Write();
    return true;
  });
}

}  // namespace rshift
