// Operators that compute the same in any layout: they follow their inputs.
#include <algorithm>

#include "graph/passes/layout_ops.h"

namespace rshift {
namespace {

const Perm kToMemory = Inverse(kNhwcPerm);  // ONNX axis -> NHWC axis

int64_t MemoryAxis(int64_t axis) { return kToMemory[axis < 0 ? axis + 4 : axis]; }

size_t OutputRank(const LayoutBuilder& b, const Node& node) {
  return b.OldShape(node.outputs[0]).size();
}

// Some input lives in NHWC, unless all are in ONNX order as they are, as in a model whose own
// tensors are NHWC, and NHWC of that would move data.
bool AnyPrefersNhwc(const LayoutBuilder& b, const Node& node) {
  const auto any = [&](auto holds) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id.valid() && !b.old().value(id).is_constant() && holds(id);
    });
  };
  if (!any([&](ValueId id) { return b.PrefersNhwc(id); })) return false;
  return any([&](ValueId id) { return !b.IsPlainFree(id); }) ||
         !any([&](ValueId id) { return !b.IsNhwcFree(id); });
}

// One operand of a broadcasting operator whose output is NHWC. A single element fits as it is.
ValueId BroadcastOperand(LayoutBuilder& b, ValueId id) {
  Shape shape = b.OldShape(id);
  if (NumElements(shape) == 1) return b.Plain(id);
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  return b.NhwcAs(id, shape);
}

bool AddBroadcasting(LayoutBuilder& b, const Node& node) {
  if (OutputRank(b, node) != 4 || !AnyPrefersNhwc(b, node)) return false;
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) inputs.push_back(BroadcastOperand(b, id));
  b.AddNode(node.name, node.op, std::move(inputs), b.Define(node.outputs[0], kNhwcPerm));
  return true;
}

// One tensor in, one of the same shape out: any order will do. What comes from a convolution is not
// put in ONNX order just for this.
bool AddElementwise(LayoutBuilder& b, const Node& node) {
  const ValueId x = node.inputs[0];
  if (b.PrefersNhwc(x)) {
    b.AddNode(node.name, node.op, {b.Nhwc(x)}, b.Define(node.outputs[0], kNhwcPerm));
    return true;
  }
  const Form native = b.Native(x);
  if (b.IsPlainFree(x) || b.graph().value(native.id).layout != Layout::kNhwc) return false;
  b.AddNode(node.name, node.op, {native.id}, b.DefineLike(node.outputs[0], native));
  return true;
}

// A number that all elements share stands beside them.
bool AddDynamicQuantize(LayoutBuilder& b, const Node& node) {
  const ValueId x = node.inputs[0], record = b.Plain(node.inputs[1]);
  if (b.PrefersNhwc(x)) {
    b.AddNode(node.name, node.op, {b.Nhwc(x), record}, b.Define(node.outputs[0], kNhwcPerm));
    return true;
  }
  const Form native = b.Native(x);
  if (b.IsPlainFree(x) || b.graph().value(native.id).layout != Layout::kNhwc) return false;
  b.AddNode(node.name, node.op, {native.id, record}, b.DefineLike(node.outputs[0], native));
  return true;
}

// The least and the greatest of elements in any order.
bool AddDynamicRange(LayoutBuilder& b, const Node& node) {
  const Form native = b.Native(node.inputs[0]);
  b.AddNode(node.name, node.op, {native.id}, b.DefinePlain(node.outputs[0]));
  return true;
}

// Its ranges are in the order of channels, whatever that of the elements.
bool AddFakeQuantize(LayoutBuilder& b, const Node& node) {
  if (OutputRank(b, node) != 4 || !b.PrefersNhwc(node.inputs[0])) return false;
  FakeQuantize op = std::get<FakeQuantize>(node.op);
  op.axis = MemoryAxis(op.axis);
  b.AddNode(node.name, op, {b.Nhwc(node.inputs[0]), b.Plain(node.inputs[1])},
            b.Define(node.outputs[0], kNhwcPerm));
  return true;
}

// The op with its axes and per-dimension lists in NHWC order.
Op Rewritten(const Op& op) {
  return std::visit(
      Overloaded{[](Concat o) -> Op { return Concat{MemoryAxis(o.axis)}; },
                 [](Softmax o) -> Op {
                   o.axis = MemoryAxis(o.axis);
                   return o;
                 },
                 [](ArgMax o) -> Op {
                   o.axis = MemoryAxis(o.axis);
                   return o;
                 },
                 [](Gather o) -> Op { return Gather{MemoryAxis(o.axis)}; },
                 [](const Tile& o) -> Op { return Tile{Permute(o.repeats, kNhwcPerm)}; },
                 [](Pad o) -> Op {
                   o.before = Permute(o.before, kNhwcPerm);
                   o.after = Permute(o.after, kNhwcPerm);
                   return o;
                 },
                 [](const Slice& o) -> Op {
                   return Slice{Permute(o.starts, kNhwcPerm), Permute(o.steps, kNhwcPerm)};
                 },
                 [](Reduce o) -> Op {
                   for (int64_t& axis : o.axes) axis = MemoryAxis(axis);
                   std::sort(o.axes.begin(), o.axes.end());
                   return o;
                 },
                 [](const auto& o) -> Op { return o; }},
      op);
}

// Rank 4 in, rank 4 out.
bool AddSameRank(LayoutBuilder& b, const Node& node) {
  if (OutputRank(b, node) != 4 || !AnyPrefersNhwc(b, node)) return false;
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) inputs.push_back(b.Nhwc(id));
  b.AddNode(node.name, Rewritten(node.op), std::move(inputs), b.Define(node.outputs[0], kNhwcPerm));
  return true;
}

// NHWC without the dropped ONNX axes: memory order of the result, in its own dimension numbers.
Perm PermWithout(const std::vector<int64_t>& dropped) {
  Perm perm;
  for (int64_t axis : kNhwcPerm) {
    if (std::find(dropped.begin(), dropped.end(), axis) != dropped.end()) continue;
    const auto before =
        std::count_if(dropped.begin(), dropped.end(), [&](int64_t d) { return d < axis; });
    perm.push_back(axis - before);
  }
  return perm;
}

// Reduce, ArgMax, Gather: `axes` are gone from the output unless it keeps rank 4.
bool AddReducing(LayoutBuilder& b, const Node& node, const std::vector<int64_t>& axes) {
  const size_t rank = OutputRank(b, node);
  if (!b.PrefersNhwc(node.inputs[0]) || (rank != 4 && rank + axes.size() != 4)) return false;
  std::vector<ValueId> inputs = {b.Nhwc(node.inputs[0])};
  for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(b.Plain(node.inputs[i]));
  const Perm perm = rank == 4 ? kNhwcPerm : PermWithout(axes);
  b.AddNode(node.name, Rewritten(node.op), std::move(inputs), b.Define(node.outputs[0], perm));
  return true;
}

}  // namespace

bool AddFollower(LayoutBuilder& b, const Node& node) {
  return std::visit(Overloaded{[&](const Binary&) { return AddBroadcasting(b, node); },
                               [&](const Where&) { return AddBroadcasting(b, node); },
                               [&](const PRelu&) { return AddBroadcasting(b, node); },
                               [&](const Clip&) { return AddElementwise(b, node); },
                               [&](const Unary&) { return AddElementwise(b, node); },
                               [&](const LeakyRelu&) { return AddElementwise(b, node); },
                               [&](const FakeQuantize&) { return AddFakeQuantize(b, node); },
                               [&](const DynamicQuantize&) { return AddDynamicQuantize(b, node); },
                               [&](const DynamicRange&) { return AddDynamicRange(b, node); },
                               [&](const Cast&) { return AddElementwise(b, node); },
                               [&](const Quantize&) { return AddElementwise(b, node); },
                               [&](const Dequantize&) { return AddElementwise(b, node); },
                               [&](const Concat&) { return AddSameRank(b, node); },
                               [&](const Pad&) { return AddSameRank(b, node); },
                               [&](const Slice&) { return AddSameRank(b, node); },
                               [&](const Softmax&) { return AddSameRank(b, node); },
                               [&](const Tile&) { return AddSameRank(b, node); },
                               [&](const Expand&) { return AddSameRank(b, node); },
                               [&](const Reduce& op) { return AddReducing(b, node, op.axes); },
                               [&](const ArgMax& op) {
                                 return AddReducing(b, node, {op.axis < 0 ? op.axis + 4 : op.axis});
                               },
                               [&](const Gather& op) {
                                 // Indices of rank 1 keep the dimension, a scalar index drops it.
                                 return b.OldShape(node.inputs[1]).size() <= 1 &&
                                        AddReducing(b, node, {op.axis});
                               },
                               [](const auto&) { return false; }},
                    node.op);
}

}  // namespace rshift
