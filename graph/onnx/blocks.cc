#include "graph/onnx/blocks.h"

#include <cmath>

namespace rshift {
namespace {

struct Blocks {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // empty: 0
  Shape shape;                       // of both
  int64_t axis = 0, size = 0;
};

Blocks ReadBlocks(const OnnxNode& node, const Shape& x) {
  Blocks b;
  b.size = node.Int("block_size", 0);
  b.axis = node.Axis(node.Int("axis", 1), x.size());
  const Value& scale = node.At(node.Input(1));
  node.CheckSupported(node.At(node.Input(0)).is_constant() && scale.is_constant(),
                      "has block_size ", b.size,
                      " and reads an activation; only one scale per tensor or per channel "
                      "is supported there");
  b.shape = x;
  node.Check(b.size > 0, "has block_size ", b.size, ", expected 1 or more");
  b.shape[b.axis] = (x[b.axis] + b.size - 1) / b.size;
  node.Check(scale.dtype == DType::kF32 && scale.shape == b.shape, "scale ", Quoted(scale.name),
             " has type ", Name(scale.dtype), " and shape ", ToString(scale.shape),
             ", expected floats of shape ", ToString(b.shape));
  b.scales = FloatElements(scale);
  for (const float s : b.scales) {
    node.Check(std::isfinite(s) && s > 0, "scale ", Quoted(scale.name), " holds ", s,
               ", expected a finite number above 0; export the model again");
  }
  if (!node.HasInput(2)) return b;
  const Value& zero = node.At(node.Input(2));
  node.CheckSupported(zero.is_constant(), "zero points are computed by the model");
  node.Check(zero.dtype == node.TypeOf(0) && zero.shape == b.shape, "zero point ",
             Quoted(zero.name), " has type ", Name(zero.dtype), " and shape ", ToString(zero.shape),
             ", expected ", Name(node.TypeOf(0)), " ", ToString(b.shape));
  b.zero_points = IntElements(zero);
  return b;
}

}  // namespace

void DequantizeBlocks(OnnxNode& node) {
  const Value& x = node.At(node.Input(0));
  const Shape shape = x.shape;
  node.Check(!shape.empty() && x.dtype != DType::kF32, "reads ", Quoted(x.name), " of type ",
             Name(x.dtype), " and shape ", ToString(shape), ", expected a list of integers");
  const Blocks b = ReadBlocks(node, shape);
  const std::vector<int64_t> integers = IntElements(x);
  const int64_t inner = Strides(shape)[b.axis], length = shape[b.axis], blocks = b.shape[b.axis];
  std::vector<float> reals(integers.size());
  for (size_t i = 0; i < integers.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t outer = at / (inner * length), place = at / inner % length;
    const auto block = static_cast<size_t>((outer * blocks + place / b.size) * inner + at % inner);
    const int64_t zero = b.zero_points.empty() ? 0 : b.zero_points[block];
    reals[i] = static_cast<float>(integers[i] - zero) * b.scales[block];
  }
  Value result;
  result.shape = shape;
  result.constant = MakeConstant<float>(reals);
  node.OutputConstant(std::move(result));
}

}  // namespace rshift
