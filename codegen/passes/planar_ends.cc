#include "codegen/passes/planar_ends.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/passes/rewriter.h"

namespace rshift {
namespace {

const std::vector<int64_t> kToNhwc = {0, 2, 3, 1}, kToPlain = {0, 3, 1, 2};

Shape PlainShape(const Shape& nhwc) { return {nhwc[0], nhwc[3], nhwc[1], nhwc[2]}; }
// Each channel as an image.
Shape PlaneShape(const Shape& nhwc) { return {nhwc[0] * nhwc[3], nhwc[1], nhwc[2], 1}; }
bool IsOnePixel(const Value& value) {
  return value.shape.size() == 4 && value.shape[1] == 1 && value.shape[2] == 1;
}

bool IsTranspose(const Node* node, const std::vector<int64_t>& perm) {
  const auto* op = node == nullptr ? nullptr : std::get_if<Transpose>(&node->op);
  return op != nullptr && op->perm == perm;
}

// Which pools have loops for images of one channel (runtime/f32/plane_kernels.h), and rows that are
// long enough for them: measured, from 28 to 32 pixels on both Transposes take longer.
bool IsPlanarPool(const MaxPool& op, const Shape& y) {
  constexpr int64_t kLeastWidth = 32;
  const Window& w = op.window;
  return y[2] >= kLeastWidth && w.kernel_h == w.kernel_w && w.stride_h == w.stride_w &&
         w.dilation_h == 1 && w.dilation_w == 1 && (w.kernel_h == 2 || w.kernel_h == 3) &&
         w.stride_h <= 2;
}

bool IsFinite(const Value& value) {
  if (!value.is_constant() || value.dtype != DType::kF32) return false;
  const std::span<const float> floats = value.constant->As<float>();
  return std::all_of(floats.begin(), floats.end(), [](float x) { return std::isfinite(x); });
}

// Where conv_planar_f32 takes less time than the convolution in NHWC and both Transposes, measured
// on Sapphire Rapids: one filter for each channel, in windows that have loops of their own
// (runtime/f32/plane_filter_kernels.h) over rows that fill registers; windows of one pixel over few
// channels of more than a few pixels.
bool IsPlanarConv(const Conv& op, const Shape& x, const Shape& y) {
  constexpr int64_t kLeastWidth = 28, kFewChannels = 32, kLeastPixels = 100;
  const Window& w = op.window;
  if (w.dilation_h != 1 || w.dilation_w != 1 || w.kernel_h != w.kernel_w ||
      w.stride_h != w.stride_w)
    return false;
  if (op.groups > 1) {
    const bool known =
        w.kernel_h == 3 || w.kernel_h == 5 ? w.stride_h <= 2 : w.kernel_h == 7 && w.stride_h == 1;
    return known && op.groups == x[3] && op.groups == y[3] && x[2] >= kLeastWidth;
  }
  return w.kernel_h == 1 && w.stride_h == 1 && x[1] == y[1] && x[2] == y[2] &&
         x[3] <= kFewChannels && x[1] * x[2] >= kLeastPixels;
}

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()),
        planar_(graph.nodes().size()) {
    for (size_t i = 0; i < planar_.size(); ++i) planar_[i] = IsCandidate(graph.nodes()[i]);
    while (DropThoseWhoseNeighboursStay()) {
    }
  }

  const Node* Producer(ValueId id) const {
    const NodeId node = producers_[id.index()];
    return node.valid() ? &graph_.node(node) : nullptr;
  }
  // What a Transpose has put into NHWC.
  bool IsTransposed(ValueId id) const { return IsTranspose(Producer(id), kToNhwc); }
  bool found() const { return std::count(planar_.begin(), planar_.end(), true) > 0; }
  bool IsPlanar(const Node& node) const {
    return planar_[static_cast<size_t>(&node - graph_.nodes().data())];
  }
  // The Transpose that alone reads a node's output; null for none.
  const Node* Exit(const Node& node) const {
    const ValueId y = node.outputs[0];
    if (graph_.IsOutput(y) || consumers_[y.index()].size() != 1) return nullptr;
    const Node& reader = graph_.node(consumers_[y.index()][0]);
    return IsTranspose(&reader, kToPlain) ? &reader : nullptr;
  }

 private:
  bool IsCandidate(const Node& node) const {
    if (node.outputs.size() != 1) return false;
    const Value& y = graph_.value(node.outputs[0]);
    if (y.dtype != DType::kF32 || y.shape.size() != 4 || NumElements(y.shape) == 0) return false;
    if (Exit(node) == nullptr && !IsMeanOfImage(node)) return false;
    if (std::holds_alternative<Binary>(node.op)) {
      return std::any_of(node.inputs.begin(), node.inputs.end(),
                         [&](ValueId id) { return IsTransposed(id); }) &&
             std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
               return IsTransposed(id) ||
                      (!graph_.value(id).is_constant() && IsOnePixel(graph_.value(id)));
             });
    }
    if (!IsTransposed(node.inputs[0])) return false;
    if (const auto* resize = std::get_if<Resize>(&node.op))
      return resize->mode == ResizeMode::kNearest;
    if (const auto* pool = std::get_if<MaxPool>(&node.op)) return IsPlanarPool(*pool, y.shape);
    // Pads are read as zeros: weights are no infinity, which would make a NaN of them.
    if (const auto* conv = std::get_if<Conv>(&node.op))
      return IsPlanarConv(*conv, graph_.value(node.inputs[0]).shape, y.shape) &&
             IsFinite(graph_.value(node.inputs[1]));
    return IsMeanOfImage(node);
  }

  bool IsMeanOfImage(const Node& node) const {
    const auto* op = std::get_if<AveragePool>(&node.op);
    return op != nullptr && op->global && IsOnePixel(graph_.value(node.outputs[0]));
  }

  bool StaysTransposed(ValueId id) const {
    if (!IsTransposed(id)) return false;
    const std::vector<NodeId>& readers = consumers_[id.index()];
    return graph_.IsOutput(id) || std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
             return !planar_[reader.index()];
           });
  }

  bool DropThoseWhoseNeighboursStay() {
    bool dropped = false;
    for (size_t i = 0; i < planar_.size(); ++i) {
      if (!planar_[i]) continue;
      const std::vector<ValueId>& inputs = graph_.nodes()[i].inputs;
      if (std::any_of(inputs.begin(), inputs.end(),
                      [&](ValueId id) { return StaysTransposed(id); })) {
        planar_[i] = false;
        dropped = true;
      }
    }
    return dropped;
  }

  const Graph& graph_;
  std::vector<NodeId> producers_;
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> planar_;  // by node
};

class PlanarWriter {
 public:
  PlanarWriter(const Finder& finder, GraphRewriter& rewriter, const Node& node)
      : finder_(finder), rewriter_(rewriter), node_(node) {}

  void Write() {
    if (std::holds_alternative<Conv>(node_.op)) return Convolution();
    if (std::holds_alternative<Binary>(node_.op) || std::holds_alternative<Resize>(node_.op))
      return InOnnxOrder();
    const Node* exit = finder_.Exit(node_);
    const ValueId y = exit != nullptr ? exit->outputs[0] : node_.outputs[0];
    const ValueId planes =
        rewriter_.Move(node_, "__planes", Reshape{}, Plain(0), node_.inputs[0],
                       PlaneShape(rewriter_.OldInput(node_, 0).shape), Layout::kNhwc);
    const ValueId result = rewriter_.Temporary(node_.outputs[0], "__planes",
                                               PlaneShape(rewriter_.OldOutput(node_).shape));
    rewriter_.AddNode(node_.name, node_.op, {planes}, result);
    rewriter_.AddNode(node_.name + "__whole", Reshape{}, {result}, rewriter_.Same(y));
  }

 private:
  void Convolution() {
    std::vector<ValueId> inputs = {Plain(0)};
    for (size_t i = 1; i < node_.inputs.size(); ++i)
      inputs.push_back(rewriter_.Same(node_.inputs[i]));
    rewriter_.AddNode(node_.name, node_.op, std::move(inputs),
                      rewriter_.Same(finder_.Exit(node_)->outputs[0]));
  }

  void InOnnxOrder() {
    Op op = node_.op;
    if (auto* resize = std::get_if<Resize>(&op)) {
      const std::vector<float> scales = resize->scales;
      for (size_t d = 0; d < 4; ++d) resize->scales[d] = scales[static_cast<size_t>(kToPlain[d])];
    }
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node_.inputs.size(); ++i) inputs.push_back(Plain(i));
    rewriter_.AddNode(node_.name, std::move(op), std::move(inputs),
                      rewriter_.Same(finder_.Exit(node_)->outputs[0]));
  }

  // An input in ONNX order (new): what was transposed, or one pixel, whose order is any.
  ValueId Plain(size_t index) {
    const ValueId id = node_.inputs[index];
    if (finder_.IsTransposed(id)) return rewriter_.Same(finder_.Producer(id)->inputs[0]);
    const std::string suffix = "__plain" + std::to_string(index);
    return rewriter_.Move(node_, suffix, Reshape{}, rewriter_.Same(id), id,
                          PlainShape(rewriter_.OldInput(node_, index).shape), Layout::kPlain);
  }

  const Finder& finder_;
  GraphRewriter& rewriter_;
  const Node& node_;
};

}  // namespace

Graph PlanarEnds(const Graph& graph) {
  const Finder finder(graph);
  if (!finder.found()) return graph;
  Graph planar = RewriteNodes(graph, [&](GraphRewriter& rewriter, const Node& node) {
    if (finder.IsPlanar(node)) {
      PlanarWriter(finder, rewriter, node).Write();
      return true;
    }
    // Written already, by the operator that it was behind.
    const Node* producer = IsTranspose(&node, kToPlain) ? finder.Producer(node.inputs[0]) : nullptr;
    return producer != nullptr && finder.IsPlanar(*producer) && finder.Exit(*producer) == &node;
  });
  planar.RemoveUnused();
  return planar;
}

}  // namespace rshift
