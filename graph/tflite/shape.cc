// The same elements in another shape, shapes as numbers, filled tensors.
#include <algorithm>

#include "graph/onnx/proto.h"
#include "graph/tflite/table.h"
#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

// The shape is an input, or in older files an option.
void TranslateReshape(OpWriter& op) {
  const std::string x = op.Moved(0);
  const auto* options = op.Options<ReshapeOptions>();
  if (op.HasInput(1) &&
      (op.In(1).type() == TensorType_INT32 || op.In(1).type() == TensorType_INT64)) {
    // As a list of one dimension at most.
    return op.GiveMoved(
        op.Emit("Reshape", {x, op.Reshaped(op.List(1), {-1})}, {{"allowzero", int64_t{1}}}));
  }
  Shape shape = op.OutShape();
  if (options != nullptr && options->new_shape() != nullptr) {
    shape.assign(options->new_shape()->begin(), options->new_shape()->end());
  }
  op.GiveMoved(op.Emit("Reshape", {x, op.IntList(shape)}, {{"allowzero", int64_t{1}}}));
}

void TranslateSqueeze(OpWriter& op) {
  const auto* options = op.Options<SqueezeOptions>();
  std::vector<int64_t> axes;
  if (options != nullptr && options->squeeze_dims() != nullptr) {
    axes.assign(options->squeeze_dims()->begin(), options->squeeze_dims()->end());
  }
  // Complex numbers have a dimension of their own behind these (complex.cc).
  for (int64_t& axis : axes) axis = op.Axis(axis, op.InRank(0));
  Names inputs = {op.Moved(0)};
  if (!axes.empty()) inputs.push_back(op.IntList(axes));
  op.GiveMoved(op.Emit("Squeeze", inputs));
}

void TranslateExpandDims(OpWriter& op) {
  op.GiveMoved(op.Emit("Unsqueeze", {op.Moved(0), op.IntList({op.Int(1, "axis")})}));
}

void TranslatePack(OpWriter& op) {
  const auto* options = op.Options<PackOptions>();
  const int64_t axis = op.Axis(options == nullptr ? 0 : options->axis(), op.InRank(0) + 1);
  Names inputs;
  for (int i = 0; i < op.InputCount(); ++i) {
    inputs.push_back(op.Emit("Unsqueeze", {op.Real(i), op.IntList({axis})}));
  }
  op.GiveReal(op.Emit("Concat", inputs, {{"axis", axis}}));
}

void TranslateUnpack(OpWriter& op) {
  const auto* options = op.Options<UnpackOptions>();
  const int64_t axis = op.Axis(options == nullptr ? 0 : options->axis(), op.InRank(0));
  const std::vector<int64_t> ones(static_cast<size_t>(op.OutputCount()), 1);
  const Names parts =
      op.EmitMany("Split", {op.Moved(0), op.IntList(ones)}, op.OutputCount(), {{"axis", axis}});
  for (int o = 0; o < op.OutputCount(); ++o) {
    op.GiveMoved(op.Emit("Squeeze", {parts[o], op.IntList({axis})}), o);
  }
}

void TranslateShape(OpWriter& op) {
  const int64_t to = OnnxType(op.Out().type(), op.where());
  op.GiveStored(op.Emit("Cast", {op.Emit("Shape", {op.Stored(0)})}, {{"to", to}}));
}

void TranslateRank(OpWriter& op) {
  const int64_t to = OnnxType(op.Out().type(), op.where());
  op.GiveStored(op.Emit("Cast", {op.Scalar(op.InRank(0))}, {{"to", to}}));
}

// A tensor of one number.
void TranslateFill(OpWriter& op) { op.GiveMoved(op.Emit("Expand", {op.Moved(1), op.List(0)})); }

void TranslateZerosLike(OpWriter& op) {
  const std::string shape = op.Emit("Shape", {op.Stored(0)});
  const std::string zero =
      op.Emit("Cast", {op.Float(0)}, {{"to", int64_t{OnnxType(op.Out().type(), op.where())}}});
  op.CheckSupported(!IsQuantized(op.Out()), "gives quantized zeros; only plain ones are supported");
  op.GiveStored(op.Emit("Expand", {zero, shape}));
}

void TranslateRange(OpWriter& op) {
  op.GiveStored(op.Emit("Range", {op.Stored(0), op.Stored(1), op.Stored(2)}));
}

// The shape that two shapes broadcast to: in each place one of them has 1, or both the same.
void TranslateBroadcastArgs(OpWriter& op) {
  op.Check(op.InRank(0) == 1 && op.InRank(1) == 1, "has shapes that are no lists");
  const int64_t rank = std::max(op.InShape(0)[0], op.InShape(1)[0]);
  Names shapes;
  for (const int i : {0, 1}) {
    const std::vector<int64_t> ones(static_cast<size_t>(rank - op.InShape(i)[0]), 1);
    shapes.push_back(
        ones.empty() ? op.List(i)
                     : op.Emit("Concat", {op.IntList(ones), op.List(i)}, {{"axis", int64_t{0}}}));
  }
  const int64_t to = OnnxType(op.Out().type(), op.where());
  op.GiveStored(op.Emit("Cast", {op.Emit("Max", shapes)}, {{"to", to}}));
}

// The elements are given zeros in their places when they are stored.
void TranslateDensify(OpWriter& op) { op.GiveStored(op.Emit("Identity", {op.Stored(0)})); }

constexpr Entry kShapeEntries[] = {
    {BuiltinOperator_RESHAPE, TranslateReshape},
    {BuiltinOperator_SQUEEZE, TranslateSqueeze},
    {BuiltinOperator_EXPAND_DIMS, TranslateExpandDims},
    {BuiltinOperator_PACK, TranslatePack},
    {BuiltinOperator_UNPACK, TranslateUnpack},
    {BuiltinOperator_SHAPE, TranslateShape},
    {BuiltinOperator_RANK, TranslateRank},
    {BuiltinOperator_DENSIFY, TranslateDensify},
    {BuiltinOperator_BROADCAST_ARGS, TranslateBroadcastArgs},
    {BuiltinOperator_FILL, TranslateFill},
    {BuiltinOperator_ZEROS_LIKE, TranslateZerosLike},
    {BuiltinOperator_RANGE, TranslateRange},
};

}  // namespace

std::span<const Entry> ShapeEntries() { return kShapeEntries; }

}  // namespace rshift::tflite
