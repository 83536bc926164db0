// Linear interpolation as LiteRT's integer kernels compute it. NUMERICS.md section 13.8.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/error.h"
#include "quantize/numerics/resize.h"
#include "quantize/numerics/tflite_resize.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

using numerics::TfLiteCorners;
using numerics::TfLiteResizeAxis;

// As LiteRT knows it; of ONNX's coordinates these three are the same.
std::optional<TfLiteCorners> CornersOf(CoordinateMode mode) {
  switch (mode) {
    case CoordinateMode::kHalfPixel:
      return TfLiteCorners::kHalfPixel;
    case CoordinateMode::kAlignCorners:
      return TfLiteCorners::kAligned;
    case CoordinateMode::kAsymmetric:
      return TfLiteCorners::kAsymmetric;
    case CoordinateMode::kPytorchHalfPixel:
    case CoordinateMode::kHalfPixelSymmetric:
      break;
  }
  return std::nullopt;
}

bool IsScaled(const Resize& op, const Shape& x, const Shape& y, size_t d) {
  return x[d] != y[d] || op.scales[d] != 1.0f;
}

// Dimensions that are resized.
int ScaledAxes(const Resize& op, const Shape& x, const Shape& y) {
  int axes = 0;
  for (size_t d = 0; d < x.size(); ++d) axes += IsScaled(op, x, y, d) ? 1 : 0;
  return axes;
}

// The list of the command (isa/ops/resize.h), by `pair` of each output index.
template <typename Pair>
std::vector<int32_t> PairsOf(const Resize& op, const Shape& x, const Shape& y, const Pair& pair) {
  std::vector<int32_t> list, pairs;
  for (size_t d = 0; d < x.size(); ++d) {
    const bool scaled = IsScaled(op, x, y, d);
    list.push_back(scaled ? 2 : 0);
    for (int64_t i = 0; scaled && i < y[d]; ++i) {
      const auto both = pair(TfLiteResizeAxis{*CornersOf(op.coordinate), x[d], y[d]}, i);
      for (const auto& [index, coefficient] :
           {std::pair(both.low, both.to_low), std::pair(both.high, both.to_high)}) {
        pairs.push_back(static_cast<int32_t>(index));
        pairs.push_back(std::bit_cast<int32_t>(coefficient));
      }
    }
  }
  list.insert(list.end(), pairs.begin(), pairs.end());
  return list;
}

// Between numbers of one type.
Op InterpolationOf(const Resize& op, const Shape& x, const Shape& y, const IntType& type,
                   const std::optional<ResizeArithmetic>& arithmetic) {
  if (!arithmetic) {
    QResize result;
    result.clamp = {type.qmin(), type.qmax()};
    result.taps = PairsOf(op, x, y, numerics::XnnpackPair);
    return result;
  }
  QResizeLinear result;
  result.arithmetic = *arithmetic;
  result.taps = *arithmetic == ResizeArithmetic::kHalfAway
                    ? PairsOf(op, x, y, numerics::TfLiteIntegerPair)
                    : PairsOf(op, x, y, numerics::TfLiteFloatPair);
  return result;
}

}  // namespace

OpSupport SupportLinearResize(const Graph& graph, const Node& node, const Resize& op) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  if (op.mode != ResizeMode::kLinear) return {OpKind::kFloat, "LiteRT has no cubic interpolation"};
  if (NumElements(x) == 0 || NumElements(y) == 0) return {OpKind::kFloat, "it is empty"};
  if (!CornersOf(op.coordinate)) return {OpKind::kFloat, "LiteRT does not have its coordinates"};
  if (ScaledAxes(op, x, y) > numerics::kMostResizedAxes)
    return {OpKind::kFloat, "it interpolates along more than two dimensions"};
  for (size_t d = 0; d < x.size(); ++d) {
    if (std::max(x[d], y[d]) > numerics::kMostTfLiteResized)
      return {OpKind::kFloat, Cat("a dimension has more than ", numerics::kMostTfLiteResized)};
    if (op.scales[d] != static_cast<float>(y[d]) / static_cast<float>(x[d]))
      return {OpKind::kFloat, "its scale is not the quotient of its sizes, as LiteRT's is"};
  }
  return {OpKind::kFunction, ""};
}

void EmitLinearResize(Emitter& emitter, const Node& node, const Resize& op) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType type = emitter.Type(old_x), wanted = emitter.Type(old_y);
  const Value &x = emitter.old().value(old_x), &y = emitter.old().value(old_y);
  const Op form =
      InterpolationOf(op, x.shape, y.shape, type, RulesOf(emitter).LinearResize(type.dtype));
  const ValueId input = emitter.Int(old_x);
  if (type == wanted) return emitter.AddNode(node.name, form, {input}, emitter.DefineInt(old_y));
  const ValueId raw = emitter.Temporary(old_y, "__raw", type);
  emitter.AddNode(node.name, form, {input}, raw);
  emitter.AddRequantize(node.name + "__rescale", raw, type, emitter.DefineInt(old_y), wanted,
                        {wanted.qmin(), wanted.qmax()});
}

}  // namespace rshift
