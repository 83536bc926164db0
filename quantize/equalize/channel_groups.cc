#include "quantize/equalize/channel_groups.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "base/union_find.h"
#include "quantize/equalize/product_weights.h"

namespace rshift {
namespace {

// More channels than this is no tensor of channels: ranges of positions, tables.
constexpr int64_t kMostChannels = int64_t{1} << 16;

class Sets {
 public:
  size_t Add(int64_t count) {
    const size_t first = sets_.Add(static_cast<size_t>(count));
    fixed_.resize(sets_.size());
    return first;
  }
  size_t Root(size_t x) { return sets_.Find(x); }
  void Join(size_t a, size_t b) {
    const bool fixed = IsFixed(a) || IsFixed(b);
    sets_.Join(a, b);
    fixed_[Root(a)] = fixed;
  }
  void Fix(size_t x) { fixed_[Root(x)] = true; }
  bool IsFixed(size_t x) { return fixed_[Root(x)]; }
  size_t size() const { return sets_.size(); }

 private:
  UnionFind sets_;
  std::vector<bool> fixed_;  // of roots
};

// Relu, Relu6 and none at all: y = min(max(x, 0), hi) moves with x where hi does.
bool FollowsScale(const Clamp& clamp) {
  return !clamp.active() || (clamp.lo == 0.0f && clamp.hi > 0.0f);
}

// The activation functions that reach far: what a tensor of theirs holds is as far apart as its
// channels are. Sigmoid and Tanh fill the same bounds in every channel, and gates of recurrent
// cells are recognized by them.
bool TakesScales(UnaryOp op) {
  switch (op) {
    case UnaryOp::kHardSwish:
    case UnaryOp::kSilu:
    case UnaryOp::kGelu:
    case UnaryOp::kGeluTanh:
    case UnaryOp::kMish:
    case UnaryOp::kElu:
    case UnaryOp::kSelu:
    case UnaryOp::kCelu:
    case UnaryOp::kSoftplus:
    case UnaryOp::kThresholdedRelu:
      return true;
    default:
      return false;
  }
}

// A model's input whose last dimension may be columns of a table or features, in units of their
// own: such a one may be scaled, by a product before all else that reads it.
bool HoldsColumns(const Graph& graph, ValueId input) {
  const Value& value = graph.value(input);
  return value.dtype == DType::kF32 && value.layout == Layout::kPlain && value.shape.size() >= 2 &&
         value.shape.size() <= 3;
}

class Finder {
 public:
  Finder(const Graph& graph, EqualizeThrough through) : graph_(graph), through_(through) {
    for (int i = 0; i < graph.value_count(); ++i) {
      const Value& value = graph.value(ValueId(i));
      const bool has = !value.is_constant() && value.dtype == DType::kF32 && !value.shape.empty() &&
                       value.shape.back() <= kMostChannels;
      counts_.push_back(has ? value.shape.back() : 0);
      first_.push_back(sets_.Add(counts_.back()));
    }
  }

  ChannelGroups Find() {
    for (const ValueId id : graph_.inputs) {
      if (!HoldsColumns(graph_, id)) Fix(id);
    }
    for (const ValueId id : graph_.outputs) Fix(id);
    for (const Node& node : graph_.nodes()) {
      if (std::visit([&](const auto& op) { return Link(op, node); }, node.op)) continue;
      for (const ValueId id : node.inputs) Fix(id);
      for (const ValueId id : node.outputs) Fix(id);
    }
    SpreadFixed();
    return Result();
  }

 private:
  int64_t Channels(ValueId id) const { return id.valid() ? counts_[id.index()] : 0; }
  size_t Element(ValueId id, int64_t channel) const {
    return first_[id.index()] + static_cast<size_t>(channel);
  }
  bool IsConstant(ValueId id) const { return !id.valid() || graph_.value(id).is_constant(); }

  void Fix(ValueId id) {
    for (int64_t c = 0; c < Channels(id); ++c) sets_.Fix(Element(id, c));
  }

  // Channel i of one tensor is channel i % n of the other, n the lesser number.
  bool Join(ValueId a, ValueId b) {
    const int64_t more = std::max(Channels(a), Channels(b)),
                  less = std::min(Channels(a), Channels(b));
    if (less == 0 || more % less != 0) return false;
    const bool a_has_more = Channels(a) == more;
    for (int64_t c = 0; c < more; ++c)
      sets_.Join(Element(a, a_has_more ? c : c % less), Element(b, a_has_more ? c % less : c));
    return true;
  }
  bool JoinSame(ValueId a, ValueId b) { return Channels(a) == Channels(b) && Join(a, b); }

  // A false says: all that the node reads and makes stays as it is.
  bool Product(const Node& node, const Clamp& clamp) {
    if (!ReadProduct(graph_, node)) return false;
    if (!FollowsScale(clamp)) Fix(node.outputs[0]);
    return true;
  }
  bool Link(const Conv& op, const Node& node) { return Product(node, op.clamp); }
  bool Link(const ConvTranspose& op, const Node& node) { return Product(node, op.clamp); }
  bool Link(const MatMul& op, const Node& node) {
    return Product(node, op.clamp) || SumsRows(op, node);
  }
  // Of two activations (attention's values): a column of the result sums that of the second
  // operand.
  bool SumsRows(const MatMul& op, const Node& node) {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    if (node.inputs.size() != 2 || IsConstant(b) || graph_.value(b).shape.size() < 2 ||
        !FollowsScale(op.clamp) || !JoinSame(b, node.outputs[0]))
      return false;
    if (!IsConstant(a)) Fix(a);
    return true;
  }

  bool Follow(const Node& node) { return JoinSame(node.inputs[0], node.outputs[0]); }
  bool Link(const Identity&, const Node& node) { return Follow(node); }
  bool Link(const LeakyRelu&, const Node& node) { return Follow(node); }
  bool Link(const MaxPool&, const Node& node) { return node.outputs.size() == 1 && Follow(node); }
  bool Link(const AveragePool&, const Node& node) { return Follow(node); }
  bool Link(const PRelu&, const Node& node) { return IsConstant(node.inputs[1]) && Follow(node); }
  bool Link(const Clip& op, const Node& node) { return FollowsScale(op.clamp) && Follow(node); }

  bool Link(const Binary& op, const Node& node) {
    const ValueId a = node.inputs[0], b = node.inputs[1], y = node.outputs[0];
    if (!FollowsScale(op.clamp)) return false;
    if (op.op == BinaryOp::kAdd || op.op == BinaryOp::kSub) {
      if (IsConstant(a) || IsConstant(b)) return AddsChannels(a, b, y);
      return JoinSame(a, b) && JoinSame(a, y);
    }
    if (op.op == BinaryOp::kMul && IsConstant(a)) return JoinSame(b, y);
    if (op.op != BinaryOp::kMul && op.op != BinaryOp::kDiv) return false;
    // A factor or divisor stays; the other operand passes its scale on.
    if (a == b || !JoinSame(a, y)) return false;
    if (!IsConstant(b)) Fix(b);
    return true;
  }
  bool AddsChannels(ValueId a, ValueId b, ValueId y) {
    const ValueId constant = IsConstant(a) ? a : b, x = IsConstant(a) ? b : a;
    if (IsConstant(x)) return false;
    const Shape& shape = graph_.value(constant).shape;
    const bool of_channels = !shape.empty() && shape.back() == Channels(x);
    // One number becomes one for each channel, which a function's table takes up.
    const bool one = through_ == EqualizeThrough::kFunctions && NumElements(shape) == 1;
    return (of_channels || one) && JoinSame(x, y);
  }

  bool Link(const LayerNorm& op, const Node& node) {
    const Shape& shape = graph_.value(node.inputs[0]).shape;
    const bool of_channels = op.axis == static_cast<int64_t>(shape.size()) - 1;
    return of_channels && ScaleFollows(node);
  }
  bool Link(const InstanceNorm&, const Node& node) { return ScaleFollows(node); }
  bool ScaleFollows(const Node& node) {
    Fix(node.inputs[0]);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (!IsConstant(node.inputs[i])) return false;
    }
    const Shape& scale = graph_.value(node.inputs[1]).shape;
    return NumElements(scale) == Channels(node.outputs[0]);
  }

  bool Link(const Reduce& op, const Node& node) {
    const auto last = static_cast<int64_t>(graph_.value(node.inputs[0]).shape.size()) - 1;
    const bool homogeneous = op.op == ReduceOp::kMean || op.op == ReduceOp::kSum ||
                             op.op == ReduceOp::kMax || op.op == ReduceOp::kMin;
    return homogeneous && std::find(op.axes.begin(), op.axes.end(), last) == op.axes.end() &&
           Follow(node);
  }
  bool Link(const Resize& op, const Node& node) { return op.scales.back() == 1.0f && Follow(node); }

  bool Link(const Reshape&, const Node& node) { return Join(node.inputs[0], node.outputs[0]); }
  bool Link(const Transpose& op, const Node& node) {
    return op.perm.back() == static_cast<int64_t>(op.perm.size()) - 1 && Follow(node);
  }
  bool Link(const Pad& op, const Node& node) {
    const bool of_channels = op.before.back() != 0 || op.after.back() != 0;
    return !of_channels && (op.mode != PadMode::kConstant || op.value == 0.0f) && Follow(node);
  }
  bool Link(const Expand&, const Node& node) { return Follow(node); }
  bool Link(const Tile& op, const Node& node) { return op.repeats.back() == 1 && Follow(node); }
  bool Link(const Slice& op, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    if (Channels(x) == 0) return false;
    for (int64_t c = 0; c < Channels(y); ++c)
      sets_.Join(Element(y, c), Element(x, op.starts.back() + c * op.steps.back()));
    return true;
  }
  bool Link(const Concat& op, const Node& node) {
    const ValueId y = node.outputs[0];
    if (Channels(y) == 0) return false;
    const auto last = static_cast<int64_t>(graph_.value(y).shape.size()) - 1;
    int64_t at = 0;
    for (const ValueId x : node.inputs) {
      const int64_t count = graph_.value(x).shape.back();
      if (op.axis != last) at = 0;
      for (int64_t c = 0; c < count; ++c) {
        if (IsConstant(x))
          sets_.Fix(Element(y, at + c));
        else
          sets_.Join(Element(x, c), Element(y, at + c));
      }
      at += count;
    }
    return true;
  }

  // Input and output have factors of their own: the function takes both.
  bool Link(const Unary& op, const Node& node) {
    return through_ == EqualizeThrough::kFunctions && TakesScales(op.op) &&
           Channels(node.inputs[0]) == Channels(node.outputs[0]);
  }

  template <typename Other>
  bool Link(const Other&, const Node&) {
    return false;
  }

  // A tensor of which one channel is fixed is fixed altogether: its others would have nothing that
  // they could be brought to but this one's range.
  void SpreadFixed() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < graph_.value_count(); ++i) {
        const ValueId id(i);
        int64_t fixed = 0;
        for (int64_t c = 0; c < Channels(id); ++c) fixed += sets_.IsFixed(Element(id, c)) ? 1 : 0;
        if (fixed == 0 || fixed == Channels(id)) continue;
        Fix(id);
        changed = true;
      }
    }
  }

  ChannelGroups Result() {
    ChannelGroups groups;
    std::vector<int32_t> number(sets_.size(), -1);
    for (size_t i = 0; i < counts_.size(); ++i) {
      std::vector<int32_t>& of = groups.of_value.emplace_back();
      for (int64_t c = 0; c < counts_[i]; ++c) {
        const size_t element = first_[i] + static_cast<size_t>(c);
        int32_t& group = number[sets_.Root(element)];
        if (group < 0) {
          group = static_cast<int32_t>(groups.free.size());
          groups.free.push_back(!sets_.IsFixed(element));
        }
        of.push_back(group);
      }
    }
    return groups;
  }

  const Graph& graph_;
  const EqualizeThrough through_;
  Sets sets_;
  std::vector<int64_t> counts_;  // channels, by value
  std::vector<size_t> first_;    // element of channel 0, by value
};

}  // namespace

ChannelGroups FindChannelGroups(const Graph& graph, EqualizeThrough through) {
  return Finder(graph, through).Find();
}

}  // namespace rshift
