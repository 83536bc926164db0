// Reductions along axes.
#include <algorithm>

#include "graph/onnx/proto.h"
#include "graph/tflite/table.h"
#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

// Axes of NHWC as those of NCHW.
std::vector<int64_t> ChannelsFirst(std::vector<int64_t> axes) {
  constexpr int64_t kPlace[] = {0, 2, 3, 1};
  for (int64_t& axis : axes) axis = kPlace[axis];
  return axes;
}

// With every axis kept, of size 1 where it is reduced. What is reduced over height and width is an
// image; other tensors of 4 dimensions stay as they are, so that a Softmax or a norm is seen, but
// for width and channels: as axes 2 and 3 they would be an image of NCHW, so they are one axis.
std::string Reduced(OpWriter& op, const char* type, const std::vector<int64_t>& axes) {
  const auto has = [&](int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  const bool image = op.InRank(0) == 4 && has(1) && has(2);
  const std::string x = op.Real(0);
  const OpAttributes keeps = {{"keepdims", int64_t{1}}};
  if (op.InRank(0) == 4 && axes == std::vector<int64_t>{2, 3}) {
    const Shape shape = op.InShape(0);
    const std::string rows = op.Reshaped(x, {shape[0], shape[1], shape[2] * shape[3]});
    return op.Reshaped(op.Emit(type, {rows, op.IntList({2})}, keeps), {shape[0], shape[1], 1, 1});
  }
  if (!image) return op.Emit(type, {x, op.IntList(axes)}, keeps);
  const std::string list = op.IntList(ChannelsFirst(axes));
  return op.ToChannelsLast(op.Emit(type, {op.ToChannelsFirst(x), list}, keeps));
}

void TranslateReduce(OpWriter& op, const char* type) {
  const auto* options = op.Options<ReducerOptions>();
  std::vector<int64_t> axes = op.Ints(1, "axes");
  for (int64_t& axis : axes) axis = op.Axis(axis, op.InRank(0));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (axes.empty()) return op.GiveReal(op.Real(0));  // nothing is reduced
  std::string y = Reduced(op, type, axes);
  if (options == nullptr || !options->keep_dims()) {
    y = op.Emit("Squeeze", {y, op.IntList(axes)});
  }
  op.GiveReal(y);
}

// Of booleans, as numbers.
void TranslateAnyAll(OpWriter& op, const char* type) {
  const auto* options = op.Options<ReducerOptions>();
  const bool keeps = options != nullptr && options->keep_dims();
  const std::string x =
      op.Emit("Cast", {op.Stored(0)}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
  const std::string y =
      op.Emit(type, {x, op.IntList(op.Ints(1, "axes"))}, {{"keepdims", int64_t{keeps ? 1 : 0}}});
  op.GiveStored(op.Emit("Cast", {y}, {{"to", int64_t{onnx::TensorProto::BOOL}}}));
}

void TranslateArg(OpWriter& op, const char* type) {
  const int64_t axis = op.Int(1, "axis");
  const int64_t to = OnnxType(op.Out().type(), op.where());
  std::string y = op.Emit(type, {op.Real(0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  if (to != onnx::TensorProto::INT64) y = op.Emit("Cast", {y}, {{"to", to}});
  op.GiveStored(y);
}

void TranslateCumsum(OpWriter& op) {
  const auto* options = op.Options<CumsumOptions>();
  const bool exclusive = options != nullptr && options->exclusive();
  const bool reverse = options != nullptr && options->reverse();
  op.GiveReal(op.Emit("CumSum", {op.Real(0), op.Scalar(op.Int(1, "axis"))},
                      {{"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}}));
}

// The k greatest along the last axis, and where they are.
void TranslateTopK(OpWriter& op) {
  const Names y =
      op.EmitMany("TopK", {op.Real(0), op.IntList({op.Int(1, "k")})}, 2, {{"axis", int64_t{-1}}});
  op.GiveReal(y[0], 0);
  const int64_t to = OnnxType(op.Out(1).type(), op.where());
  op.GiveStored(op.Emit("Cast", {y[1]}, {{"to", to}}), 1);
}

// How many of the boundaries, which rise, are not above x.
void TranslateBucketize(OpWriter& op) {
  const auto* options = op.Options<BucketizeOptions>();
  op.Check(options != nullptr && options->boundaries() != nullptr, "has no boundaries");
  op.CheckSupported(op.IsFloat(0), "has an input of integers; floats are supported");
  const std::vector<float> bounds(options->boundaries()->begin(), options->boundaries()->end());
  const std::string x = op.Emit("Unsqueeze", {op.Real(0), op.IntList({-1})});
  const std::string above = op.Emit("Cast", {op.Emit("GreaterOrEqual", {x, op.FloatList(bounds)})},
                                    {{"to", int64_t{onnx::TensorProto::FLOAT}}});
  const std::string sum =
      op.Emit("ReduceSum", {above, op.IntList({-1})}, {{"keepdims", int64_t{0}}});
  op.GiveStored(op.Emit("Cast", {sum}, {{"to", int64_t{onnx::TensorProto::INT32}}}));
}

constexpr Entry kReduceEntries[] = {
    {BuiltinOperator_MEAN, [](OpWriter& op) { TranslateReduce(op, "ReduceMean"); }},
    {BuiltinOperator_SUM, [](OpWriter& op) { TranslateReduce(op, "ReduceSum"); }},
    {BuiltinOperator_REDUCE_MAX, [](OpWriter& op) { TranslateReduce(op, "ReduceMax"); }},
    {BuiltinOperator_REDUCE_MIN, [](OpWriter& op) { TranslateReduce(op, "ReduceMin"); }},
    {BuiltinOperator_REDUCE_PROD, [](OpWriter& op) { TranslateReduce(op, "ReduceProd"); }},
    {BuiltinOperator_REDUCE_ANY, [](OpWriter& op) { TranslateAnyAll(op, "ReduceMax"); }},
    {BuiltinOperator_REDUCE_ALL, [](OpWriter& op) { TranslateAnyAll(op, "ReduceMin"); }},
    {BuiltinOperator_ARG_MAX, [](OpWriter& op) { TranslateArg(op, "ArgMax"); }},
    {BuiltinOperator_ARG_MIN, [](OpWriter& op) { TranslateArg(op, "ArgMin"); }},
    {BuiltinOperator_CUMSUM, TranslateCumsum},
    {BuiltinOperator_TOPK_V2, TranslateTopK},
    {BuiltinOperator_BUCKETIZE, TranslateBucketize},
};

}  // namespace

std::span<const Entry> ReduceEntries() { return kReduceEntries; }

}  // namespace rshift::tflite
