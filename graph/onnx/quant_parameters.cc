#include "graph/onnx/quant_parameters.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace rshift {
namespace {

std::vector<float> ReadScales(const OnnxNode& node) {
  const std::string name = Quoted(node.At(node.Input(1)).name);
  std::vector<float> scales = node.ConstantFloats(1, "scale");
  for (float scale : scales) {
    node.Check(std::isfinite(scale) && scale > 0, "scale ", name, " holds ", scale,
               ", expected a finite number above 0; export the model again");
  }
  node.Check(node.ShapeOf(1).size() <= 1 && !scales.empty(), "scale ", name, " has the shape ",
             ToString(node.ShapeOf(1)), ", expected one number or a list of one per channel");
  return scales;
}

std::vector<int32_t> ReadZeroPoints(const OnnxNode& node, DType type, size_t count) {
  if (!node.HasInput(2)) return std::vector<int32_t>(count, 0);
  const Value& value = node.At(node.Input(2));
  const std::string name = Quoted(value.name);
  node.Check(value.dtype == type, "zero point ", name, " has type ", Name(value.dtype),
             ", but the integers of this tensor are ", Name(type), "; expected equal types");
  node.Check(value.shape.size() <= 1 && NumElements(value.shape) == static_cast<int64_t>(count),
             "zero point ", name, " has the shape ", ToString(value.shape), ", but scale ",
             Quoted(node.At(node.Input(1)).name), " has ", count,
             " elements; expected equally many");
  const std::vector<int64_t> elements = node.ConstantInts(2, "zero points");
  for (int64_t zero : elements) {
    node.Check(type != DType::kS32 || zero == 0, "zero point ", name, " holds ", zero,
               ", expected 0 for integers of type s32");
  }
  return {elements.begin(), elements.end()};
}

}  // namespace

QuantParameters ReadQuantParameters(const OnnxNode& node, const Shape& x, DType type) {
  QuantParameters p{ReadScales(node), {}, -1};
  p.zero_points = ReadZeroPoints(node, type, p.scales.size());
  if (p.scales.size() == 1) return p;
  node.CheckSupported(node.opset() >= 13, "has ", p.scales.size(),
                      " scales; scales per channel need opset 13");
  p.axis = node.Axis(node.Int("axis", 1), x.size());
  node.Check(x[p.axis] == static_cast<int64_t>(p.scales.size()), "scale ",
             Quoted(node.At(node.Input(1)).name), " has ", p.scales.size(), " elements, but ",
             Quoted(node.At(node.Input(0)).name), " has ", x[p.axis], " channels along axis ",
             p.axis, " of ", ToString(x));
  return p;
}

bool SharesZero(const QuantParameters& p) {
  return std::all_of(p.zero_points.begin(), p.zero_points.end(),
                     [&](int32_t zero) { return zero == p.zero_points[0]; });
}

}  // namespace rshift
