// Resize: nearest by index lists (any element type), linear and cubic in F32 or, with
// taps made before, in integers.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

// The input coordinate of output index x, in float as ONNX Runtime computes it.
float SourceCoordinate(CoordinateMode mode, float x, float scale, float in, float out) {
  switch (mode) {
    case CoordinateMode::kHalfPixel:
      return (x + 0.5f) / scale - 0.5f;
    case CoordinateMode::kPytorchHalfPixel:
      return out > 1.0f ? (x + 0.5f) / scale - 0.5f : 0.0f;
    case CoordinateMode::kAlignCorners:
      return out > 1.0f ? x * (in - 1.0f) / (out - 1.0f) : 0.0f;
    case CoordinateMode::kAsymmetric:
      return x / scale;
    case CoordinateMode::kHalfPixelSymmetric: {
      // Symmetric about the centre even when `out` was rounded down from scale * in.
      const float adjustment = out / (scale * in);
      const float offset = in / 2.0f * (1.0f - adjustment);
      return offset + (x + 0.5f) / scale - 0.5f;
    }
  }
  return x;
}

// Halves are exact in float, so comparing with one is; negative results are clamped to 0 by the
// caller.
float Nearest(NearestMode mode, float coordinate) {
  switch (mode) {
    case NearestMode::kRoundPreferFloor:
      return coordinate == std::floor(coordinate) + 0.5f ? std::floor(coordinate)
                                                         : std::round(coordinate);
    case NearestMode::kRoundPreferCeil:
      return std::round(coordinate);
    case NearestMode::kFloor:
      return std::floor(coordinate);
    case NearestMode::kCeil:
      return std::ceil(coordinate);
  }
  return coordinate;
}

void LowerNearest(LoweringContext& context, const Node& node, const Resize& op) {
  const Shape& in = context.InputValue(node, 0).shape;
  const Shape& out = context.OutputValue(node).shape;
  std::vector<int64_t> indices;
  for (size_t d = 0; d < out.size(); ++d) {
    const std::vector<int64_t> part = NearestIndices(op, op.scales[d], in[d], out[d]);
    indices.insert(indices.end(), part.begin(), part.end());
  }
  auto command = Bound(context, node, isa::ResizeNearest{});
  command.list = context.AddList(node.name + ".indices", indices);
  context.Emit(node, command);
}

}  // namespace

std::vector<int64_t> NearestIndices(const Resize& op, float scale, int64_t in, int64_t out) {
  std::vector<int64_t> indices(out);
  for (int64_t i = 0; i < out; ++i) {
    if (in == out && scale == 1.0f) {
      indices[i] = i;
      continue;
    }
    const float coordinate = SourceCoordinate(op.coordinate, static_cast<float>(i), scale,
                                              static_cast<float>(in), static_cast<float>(out));
    // Clamped as float first: a coordinate may lie beyond every integer type.
    const float nearest = std::clamp(Nearest(op.nearest, coordinate), 0.0f, static_cast<float>(in));
    indices[i] = std::min(static_cast<int64_t>(nearest), in - 1);
  }
  return indices;
}

void Lower(LoweringContext& context, const Node& node, const Resize& op) {
  const Value& x = context.InputValue(node, 0);
  const Value& y = context.OutputValue(node);
  RSHIFT_REQUIRE(op.scales.size() == x.shape.size() && x.shape.size() == y.shape.size(),
                 ErrorCode::kInternal, Describe(node), ": ", op.scales.size(),
                 " scales from shape ", ToString(x.shape), " to ", ToString(y.shape),
                 ", expected one for each dimension");
  for (const float scale : op.scales) {
    RSHIFT_REQUIRE(std::isfinite(scale) && scale > 0.0f, ErrorCode::kInvalidInput, Describe(node),
                   ": scale is ", scale, ", expected a positive number");
  }
  RSHIFT_REQUIRE(NumElements(x.shape) > 0 || NumElements(y.shape) == 0, ErrorCode::kInvalidInput,
                 Describe(node), ": input of shape ", ToString(x.shape), " is empty");
  if (op.mode == ResizeMode::kNearest) return LowerNearest(context, node, op);
  RequireF32(context, node);
  auto command = Bound<isa::ResizeF32>(context, node, op);
  command.list = context.AddNumbers(node.name + ".scales", DType::kF32, op.scales);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QResize& op) {
  auto command = Bound<isa::Resize>(context, node, op);
  command.list = context.AddNumbers(node.name + ".taps", DType::kS32, op.taps);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QResizeS16& op) {
  auto command = Bound<isa::ResizeS16>(context, node, op);
  command.list = context.AddNumbers(node.name + ".taps", DType::kS32, op.taps);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QResizeLinear& op) {
  auto command = Bound<isa::ResizeLinear>(context, node, op);
  command.list = context.AddNumbers(node.name + ".taps", DType::kS32, op.taps);
  context.Emit(node, command);
}

}  // namespace rshift::lowering
