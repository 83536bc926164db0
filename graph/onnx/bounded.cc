#include "graph/onnx/bounded.h"

#include <algorithm>
#include <optional>

namespace rshift {
namespace {

// The dimension of the result, or nothing where the operator mixes its elements.
using Axis = std::optional<int64_t>;

// One node on the way through the rules: its first input is the one that they ask for.
struct Passage {
  const OnnxNode& node;
  const std::vector<ValueId>& inputs;
  const Shape& from;  // of the bounded input
  const Shape& to;    // of the result
  size_t input;       // which of them is bounded
  int64_t axis;       // of it

  bool Keeps(int64_t at) const { return at != axis; }
};

// Element-wise with broadcasting: dimensions are counted from the end. Another input that has as
// many elements there, all of which count, would have to be cut as well.
Axis AfterBroadcast(const Passage& p) {
  const auto rank = static_cast<int64_t>(p.to.size());
  const int64_t axis = p.axis + rank - static_cast<int64_t>(p.from.size());
  if (p.to[axis] != p.from[p.axis]) return {};
  for (const ValueId id : p.inputs) {
    if (!id.valid() || p.node.Bounded(id) != nullptr) continue;
    const Shape& other = p.node.At(id).shape;
    const int64_t at = axis - (rank - static_cast<int64_t>(other.size()));
    if (at >= 0 && other[at] != 1) return {};
  }
  return axis;
}

// The same elements before it and along it.
Axis AfterReshape(const Passage& p) {
  int64_t before = 1;
  for (int64_t d = 0; d < p.axis; ++d) before *= p.from[d];
  Axis found;
  int64_t product = 1;
  for (size_t d = 0; d < p.to.size(); ++d) {
    if (product == before && p.to[d] == p.from[p.axis]) {
      // Of two dimensions of 1 it is not to be seen which.
      if (found) return p.from == p.to ? Axis(p.axis) : Axis();
      found = static_cast<int64_t>(d);
    }
    product *= p.to[d];
  }
  return found;
}

Axis AfterReduce(const Passage& p, const std::vector<int64_t>& axes) {
  if (std::find(axes.begin(), axes.end(), p.axis) != axes.end()) return {};
  if (p.to.size() == p.from.size()) return p.axis;
  return p.axis -
         std::count_if(axes.begin(), axes.end(), [&](int64_t axis) { return axis < p.axis; });
}

Axis AfterGather(const Passage& p, int64_t axis) {
  const auto data_rank = static_cast<int64_t>(p.node.At(p.inputs[0]).shape.size());
  const auto index_rank = static_cast<int64_t>(p.node.At(p.inputs[1]).shape.size());
  if (p.input == 1) return p.axis + (axis < 0 ? axis + data_rank : axis);
  if (!p.Keeps(axis)) return {};
  return p.axis < axis ? p.axis : p.axis + index_rank - 1;
}

// [..., M, K] x [..., K, N]: rows of the one, columns of the other and matrices stay apart.
Axis AfterMatMul(const Passage& p) {
  const auto rank = static_cast<int64_t>(p.from.size());
  const int64_t sums = p.input == 0 ? rank - 1 : rank - 2;
  if (p.input > 1 || rank < 2 || p.to.size() < p.from.size() || !p.Keeps(sums)) return {};
  const int64_t axis = p.axis + static_cast<int64_t>(p.to.size()) - rank;
  const bool matrices = p.axis < rank - 2;
  return matrices && p.inputs.size() > 1 && p.node.At(p.inputs[1 - p.input]).shape.size() > 2
             ? Axis()
             : Axis(axis);
}

Axis AxisAfter(const Passage& p, const Op& op) {
  const auto keeps = [&](bool ok) { return ok ? Axis(p.axis) : Axis(); };
  const auto at = static_cast<size_t>(p.axis);
  return std::visit(
      Overloaded{
          [&](const Binary&) { return AfterBroadcast(p); },
          [&](const Where&) { return AfterBroadcast(p); },
          [&](const PRelu&) { return AfterBroadcast(p); },
          [&](const Expand&) { return AfterBroadcast(p); },
          [&](const Unary&) { return keeps(true); },
          [&](const Clip&) { return keeps(true); },
          [&](const LeakyRelu&) { return keeps(true); },
          [&](const Cast&) { return keeps(true); },
          [&](const Identity&) { return keeps(true); },
          [&](const Reshape&) { return AfterReshape(p); },
          [&](const Transpose& o) {
            const auto found = std::find(o.perm.begin(), o.perm.end(), p.axis);
            return Axis(found - o.perm.begin());
          },
          [&](const Concat& o) { return keeps(o.axis != p.axis); },
          [&](const Slice& o) {
            return keeps(o.starts[at] == 0 && o.steps[at] == 1 && p.from[at] == p.to[at]);
          },
          [&](const Pad& o) { return keeps(o.before[at] == 0 && o.after[at] == 0); },
          [&](const Tile& o) { return keeps(o.repeats[at] == 1); },
          [&](const Gather& o) { return AfterGather(p, o.axis); },
          [&](const Softmax& o) { return keeps(p.Keeps(o.axis)); },
          [&](const LayerNorm& o) { return keeps(p.axis < o.axis); },
          [&](const Reduce& o) { return AfterReduce(p, o.axes); },
          [&](const ArgMax& o) { return AfterReduce(p, {o.axis}); },
          [&](const MatMul&) { return AfterMatMul(p); },
          [](const auto&) { return Axis(); },
      },
      op);
}

}  // namespace

void BoundAfter(OnnxNode& node, const Op& op, const std::vector<ValueId>& inputs, ValueId result) {
  std::optional<BoundedDim> found;
  const auto* gather = std::get_if<Gather>(&op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BoundedDim* bounded = inputs[i].valid() ? node.Bounded(inputs[i]) : nullptr;
    if (bounded == nullptr) continue;
    const Value& value = node.At(inputs[i]);
    // Indices found in the data lie among the slices that count. A constant one may not.
    const bool chosen = gather != nullptr && i == 0 && bounded->axis == gather->axis &&
                        node.Bounded(inputs[1]) != nullptr;
    if (chosen) continue;
    const Axis axis =
        AxisAfter({node, inputs, value.shape, node.At(result).shape, i, bounded->axis}, op);
    const bool fits = axis && (!found || (found->axis == *axis && found->count == bounded->count));
    node.CheckSupported(
        fits, "reads ", Quoted(value.name), ", whose dimension ", bounded->axis,
        " depends on the data, in a way that needs its size (", OpName(op),
        "); operators on single elements, Gather, Concat along another axis and the "
        "like are supported");
    found = {*axis, bounded->count};
  }
  if (found) node.Bound(result, found->axis, found->count);
}

void RequireFixedDims(const OnnxNode& node, ValueId id, int64_t begin, int64_t end) {
  const BoundedDim* bounded = node.Bounded(id);
  node.CheckSupported(bounded == nullptr || bounded->axis < begin || bounded->axis >= end,
                      "asks for the shape of ", Quoted(node.At(id).name), ", whose dimension ",
                      bounded == nullptr ? 0 : bounded->axis, " depends on the data");
}

}  // namespace rshift
