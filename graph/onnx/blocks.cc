#include "graph/onnx/blocks.h"

#include <cmath>

#include "graph/onnx/expr.h"

namespace rshift {
namespace {

struct Blocks {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // empty: 0
  Shape shape;                       // of both
  int64_t axis = 0, size = 0;
};

// `type`: of the integers.
Blocks ReadBlocks(const OnnxNode& node, const Shape& x, DType type) {
  Blocks b;
  b.size = node.Int("block_size", 0);
  b.axis = node.Axis(node.Int("axis", 1), x.size());
  const Value& scale = node.At(node.Input(1));
  node.CheckSupported(scale.is_constant(), "scale ", Quoted(scale.name),
                      " is computed from the model's input, expected a constant");
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
  node.Check(zero.dtype == type && zero.shape == b.shape, "zero point ", Quoted(zero.name),
             " has type ", Name(zero.dtype), " and shape ", ToString(zero.shape), ", expected ",
             Name(type), " ", ToString(b.shape));
  b.zero_points = IntElements(zero);
  return b;
}

// One number for each block as one for each element of x, which broadcasts to it.
Expr PerElement(OnnxNode& node, const Blocks& b, const std::vector<float>& numbers,
                const Shape& x) {
  std::vector<int64_t> block_of(x[b.axis]);
  for (size_t i = 0; i < block_of.size(); ++i) block_of[i] = static_cast<int64_t>(i) / b.size;
  return Gathered(Floats(node, b.shape, numbers), Ints(node, {x[b.axis]}, block_of), b.axis);
}

// Of an activation: its bytes count in units of their block's scale, as with scales of channels.
void DequantizeComputedBlocks(OnnxNode& node) {
  Expr units = In(node, 0);
  const Shape shape = units.shape();
  const Blocks b = ReadBlocks(node, shape, units.type());
  if (units.type() == DType::kS8 || units.type() == DType::kU8) {
    node.SetQuant(units.id(), {1.0f, 0});
    units = units.Emit(Dequantize{}, {units.id()}, DType::kF32, shape);
  } else {
    node.CheckSupported(units.type() == DType::kS32, "dequantizes ", Quoted(units.value().name),
                        " of type ", Name(units.type()), " by blocks; expected s8, u8 or s32");
    units = CastTo(units, DType::kF32);
  }
  if (!b.zero_points.empty()) {
    units = units - PerElement(node, b, {b.zero_points.begin(), b.zero_points.end()}, shape);
  }
  Give(units * PerElement(node, b, b.scales, shape));
}

}  // namespace

void QuantizeBlocks(OnnxNode& node, DType type, std::pair<float, float> limits) {
  const Expr x = In(node, 0);
  const Shape shape = x.shape();
  const bool bytes = type == DType::kS8 || type == DType::kU8;
  node.CheckSupported(!shape.empty() && (bytes || x.is_constant()), "has block_size, reads ",
                      Quoted(x.value().name), " ", ToString(shape), " and gives ", Name(type),
                      "; expected a list or more, and integers of 8 bits");
  const Blocks b = ReadBlocks(node, shape, type);
  Expr units = x / PerElement(node, b, b.scales, shape);
  if (x.is_constant() || !b.zero_points.empty()) units = Apply(UnaryOp::kRound, units);
  if (!b.zero_points.empty()) {
    units = units + PerElement(node, b, {b.zero_points.begin(), b.zero_points.end()}, shape);
  }
  if (x.is_constant()) return Give(CastTo(Clipped(units, limits.first, limits.second), type));
  node.Output(Quantize{}, {units.id()}, type, shape);
  node.SetOutputQuant({1.0f, 0});
}

void DequantizeBlocks(OnnxNode& node) {
  const Value& x = node.At(node.Input(0));
  const Shape shape = x.shape;
  node.Check(!shape.empty() && x.dtype != DType::kF32, "reads ", Quoted(x.name), " of type ",
             Name(x.dtype), " and shape ", ToString(shape), ", expected a list of integers");
  if (!x.is_constant()) return DequantizeComputedBlocks(node);
  const Blocks b = ReadBlocks(node, shape, x.dtype);
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
