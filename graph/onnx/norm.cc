#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Reduces over `axes`, kept as 1.
ValueId Reduced(OnnxNode& node, ReduceOp op, ValueId x, const std::vector<int64_t>& axes) {
  Shape shape = node.At(x).shape;
  for (int64_t axis : axes) shape[axis] = 1;
  return node.Emit(Reduce{op, axes}, {x}, DType::kF32, shape);
}

// [C] -> [C, 1, 1] for a rank of 4: broadcasts along the channels.
ValueId PerChannel(OnnxNode& node, ValueId id, size_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = NumElements(node.At(id).shape);
  return node.Reshaped(id, shape);
}

ValueId Filled(OnnxNode& node, float value, int64_t count) {
  return node.Emit(Expand{}, {node.Scalar(value)}, DType::kF32, {count});
}

void CheckVector(OnnxNode& node, int i, int64_t channels, const char* role) {
  node.RequireFloat(i);
  node.Check(node.ShapeOf(i) == Shape{channels}, role, " ", Quoted(node.At(node.Input(i)).name),
             " has the shape ", ToString(node.ShapeOf(i)), ", expected ", channels);
}

// spatial = 0 (before opset 9): one mean and scale for each element of [C, H, W].
void ImportElementwiseBatchNorm(OnnxNode& node, float epsilon) {
  const ValueId deviation = node.Applied(
      UnaryOp::kSqrt, node.Broadcasted(BinaryOp::kAdd, node.Input(4), node.Scalar(epsilon)));
  const ValueId factor = node.Broadcasted(BinaryOp::kDiv, node.Input(1), deviation);
  const ValueId shift = node.Broadcasted(BinaryOp::kSub, node.Input(2),
                                         node.Broadcasted(BinaryOp::kMul, node.Input(3), factor));
  node.OutputBinary(BinaryOp::kAdd, node.Broadcasted(BinaryOp::kMul, node.Input(0), factor), shift);
}

// By the statistics of what it reads: of weights that the model standardizes itself (BiT, NFNet), a
// constant. Of activations they are what training computes.
void ImportTrainingBatchNorm(OnnxNode& node, float epsilon) {
  const Expr x = In(node, 0);
  node.CheckSupported(x.is_constant(),
                      "is in training mode; export the model for inference (model.eval())");
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.rank(); ++d) {
    if (d != 1) axes.push_back(static_cast<int64_t>(d));
  }
  const auto of_channels = [&](int i) {
    return Expr(node, PerChannel(node, node.Input(i), x.rank()));
  };
  const Expr centered = x - Reduced(ReduceOp::kMean, x, axes);
  const Expr variance = Reduced(ReduceOp::kMean, Square(centered), axes);
  Give(centered / Sqrt(variance + epsilon) * of_channels(1) + of_channels(2));
}

void ImportBatchNorm(OnnxNode& node) {
  for (int i = 1; i < node.OutputCount(); ++i) node.RefuseOutput(i, "training statistics");
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  const float epsilon = node.Float("epsilon", 1e-5f);
  node.Check(x.size() >= 2, "input has the shape ", ToString(x), ", expected [N, C, ...]");
  if (node.opset() < 9 && node.Int("spatial", 1) == 0) {
    return ImportElementwiseBatchNorm(node, epsilon);
  }
  constexpr const char* kRoles[] = {"scale", "bias", "mean", "variance"};
  std::vector<ValueId> inputs{node.Input(0)};
  for (int i = 1; i <= 4; ++i) {
    CheckVector(node, i, x[1], kRoles[i - 1]);
    inputs.push_back(node.Input(i));
  }
  if (node.Int("training_mode", 0) != 0) return ImportTrainingBatchNorm(node, epsilon);
  node.Output(BatchNorm{epsilon}, inputs, DType::kF32, x);
}

// An operand of a normalization over the last dimensions, with exactly their shape.
ValueId Stretched(OnnxNode& node, int i, const Shape& normalized) {
  node.RequireFloat(i);
  node.Check(Broadcast(node.ShapeOf(i), normalized, node.where()) == normalized, "input ",
             Quoted(node.At(node.Input(i)).name), " has the shape ", ToString(node.ShapeOf(i)),
             ", expected ", ToString(normalized));
  if (node.ShapeOf(i) == normalized) return node.Input(i);
  return node.Emit(Expand{}, {node.Input(i)}, DType::kF32, normalized);
}

// Mean and 1 / deviation over the dimensions from `axis` on.
void GiveStatistics(OnnxNode& node, int64_t axis) {
  if (!node.OutputUsed(1) && !node.OutputUsed(2)) return;
  const Expr x = In(node, 0);
  std::vector<int64_t> axes(x.rank() - axis);
  std::iota(axes.begin(), axes.end(), axis);
  const Expr mean = Reduced(ReduceOp::kMean, x, axes);
  const Expr variance = Reduced(ReduceOp::kMean, Square(x - mean), axes);
  if (node.OutputUsed(1)) Give(mean, 1);
  if (!node.OutputUsed(2)) return;
  Give(Apply(UnaryOp::kReciprocal, Sqrt(variance + node.Float("epsilon", 1e-5f))), 2);
}

void ImportLayerNorm(OnnxNode& node) {
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  const int64_t axis = node.Axis(node.Int("axis", -1), x.size());
  const Shape normalized(x.begin() + axis, x.end());
  GiveStatistics(node, axis);
  std::vector<ValueId> inputs{node.Input(0), Stretched(node, 1, normalized)};
  if (node.HasInput(2)) inputs.push_back(Stretched(node, 2, normalized));
  node.Output(LayerNorm{axis, node.Float("epsilon", 1e-5f)}, inputs, DType::kF32, x);
}

// x / sqrt(mean(x^2) + epsilon) * scale. A scale that does not fit the rows is multiplied behind.
void ImportRmsNorm(OnnxNode& node) {
  node.RequireFloat(0);
  node.RequireFloat(1);
  const Shape x = node.ShapeOf(0), scale = node.ShapeOf(1);
  const int64_t axis = node.Axis(node.Int("axis", -1), x.size());
  const Shape normalized(x.begin() + axis, x.end());
  const LayerNorm norm{axis, node.Float("epsilon", 1e-5f), /*rms=*/true};
  if (scale.size() <= normalized.size())
    return node.Output(norm, {node.Input(0), Stretched(node, 1, normalized)}, DType::kF32, x);
  const Expr ones = Floats(node, normalized, std::vector<float>(NumElements(normalized), 1.0f));
  Give(Expr(node, node.Emit(norm, {node.Input(0), ones.id()}, DType::kF32, x)) * In(node, 1));
}

void ImportInstanceNorm(OnnxNode& node) {
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  node.Check(x.size() >= 3, "input has the shape ", ToString(x), ", expected [N, C, ...]");
  CheckVector(node, 1, x[1], "scale");
  CheckVector(node, 2, x[1], "bias");
  node.Output(InstanceNorm{node.Float("epsilon", 1e-5f)},
              {node.Input(0), node.Input(1), node.Input(2)}, DType::kF32, x);
}

// Groups become channels of an instance normalization. Until opset 20 scale and bias count groups,
// from opset 21 on channels.
void ImportGroupNorm(OnnxNode& node) {
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  node.Check(x.size() >= 3, "input has the shape ", ToString(x), ", expected [N, C, ...]");
  const int64_t groups = node.Int("num_groups", 0);
  node.Check(groups >= 1 && groups <= x[1] && x[1] % groups == 0, "attribute 'num_groups' is ",
             groups, ", expected a divisor of ", x[1], " channels");
  const bool by_group = node.opset() < 21;
  CheckVector(node, 1, by_group ? groups : x[1], "scale");
  CheckVector(node, 2, by_group ? groups : x[1], "bias");
  Shape grouped{x[0], groups, NumElements(x) / std::max<int64_t>(x[0] * groups, 1), 1};
  const ValueId in = node.Reshaped(node.Input(0), grouped);
  const ValueId scale = by_group ? node.Input(1) : Filled(node, 1.0f, groups);
  const ValueId bias = by_group ? node.Input(2) : Filled(node, 0.0f, groups);
  const ValueId normal = node.Emit(InstanceNorm{node.Float("epsilon", 1e-5f)}, {in, scale, bias},
                                   DType::kF32, grouped);
  if (by_group) return node.OutputReshaped(normal, x);
  const ValueId scaled = node.Broadcasted(BinaryOp::kMul, node.Reshaped(normal, x),
                                          PerChannel(node, node.Input(1), x.size()));
  node.OutputBinary(BinaryOp::kAdd, scaled, PerChannel(node, node.Input(2), x.size()));
}

void ImportMeanVariance(OnnxNode& node) {
  node.RequireFloat(0);
  auto axes = node.Ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  axes = node.Axes(axes, node.ShapeOf(0).size());
  const ValueId mean = Reduced(node, ReduceOp::kMean, node.Input(0), axes);
  const ValueId centred = node.Broadcasted(BinaryOp::kSub, node.Input(0), mean);
  const ValueId variance =
      Reduced(node, ReduceOp::kMean, node.Applied(UnaryOp::kSquare, centred), axes);
  const ValueId deviation =
      node.Broadcasted(BinaryOp::kAdd, node.Applied(UnaryOp::kSqrt, variance), node.Scalar(1e-9f));
  node.OutputBinary(BinaryOp::kDiv, centred, deviation);
}

// A zero vector stays zero: its norm is lifted to the smallest normal float.
void ImportLpNorm(OnnxNode& node) {
  node.RequireFloat(0);
  const int64_t p = node.Int("p", 2);
  node.Check(p == 1 || p == 2, "attribute 'p' is ", p, ", expected 1 or 2");
  const int64_t axis = node.Axis(node.Int("axis", -1), node.ShapeOf(0).size());
  const ValueId norm = Reduced(node, p == 1 ? ReduceOp::kL1 : ReduceOp::kL2, node.Input(0), {axis});
  node.OutputBinary(
      BinaryOp::kDiv, node.Input(0),
      node.Broadcasted(BinaryOp::kMax, norm, node.Scalar(std::numeric_limits<float>::min())));
}

void ImportLrn(OnnxNode& node) {
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  const int64_t size = node.Int("size", 0);
  node.Check(size >= 1 && size < (int64_t{1} << 31), "attribute 'size' is ", size,
             ", expected 1 or more");
  node.Check(x.size() >= 2, "input has the shape ", ToString(x), ", expected [N, C, ...]");
  node.Output(
      Lrn{size, node.Float("alpha", 1e-4f), node.Float("beta", 0.75f), node.Float("bias", 1.0f), 1},
      {node.Input(0)}, DType::kF32, x);
}

// Before opset 13 all dimensions from `axis` on are one long row; when only one of them is not 1
// this is the modern form along that dimension.
void ImportSoftmax(OnnxNode& node, bool log) {
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  node.Check(!x.empty(), "input is a scalar, expected one dimension or more");
  const bool flattens = node.opset() < 13;
  const int64_t axis = node.Axis(node.Int("axis", flattens ? 1 : -1), x.size());
  if (!flattens) return node.Output(Softmax{axis, log}, {node.Input(0)}, DType::kF32, x);
  int64_t longer = 0, only = axis;
  for (size_t d = axis; d < x.size(); ++d) {
    if (x[d] != 1) only = static_cast<int64_t>(d), ++longer;
  }
  if (longer <= 1) {
    return node.Output(Softmax{only, log}, {node.Input(0)}, DType::kF32, x);
  }
  const Shape rows{NumElements(Shape(x.begin(), x.begin() + axis)),
                   NumElements(Shape(x.begin() + axis, x.end()))};
  const ValueId flat = node.Reshaped(node.Input(0), rows);
  node.OutputReshaped(node.Emit(Softmax{1, log}, {flat}, DType::kF32, rows), x);
}

constexpr ImportEntry kNormImports[] = {
    {"BatchNormalization", ImportBatchNorm},
    {"LayerNormalization", ImportLayerNorm},
    {"RMSNormalization", ImportRmsNorm},
    {"InstanceNormalization", ImportInstanceNorm},
    {"GroupNormalization", ImportGroupNorm},
    {"MeanVarianceNormalization", ImportMeanVariance},
    {"LpNormalization", ImportLpNorm},
    {"LRN", ImportLrn},
    {"Softmax", [](OnnxNode& node) { ImportSoftmax(node, false); }},
    {"LogSoftmax", [](OnnxNode& node) { ImportSoftmax(node, true); }},
};

}  // namespace

std::span<const ImportEntry> NormImports() { return kNormImports; }

}  // namespace rshift
