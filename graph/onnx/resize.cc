#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/onnx/choice.h"
#include "graph/onnx/resize_matrix.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

int64_t ScaledSize(const OnnxNode& node, int64_t in, float scale) {
  node.Check(std::isfinite(scale) && scale > 0.0f, "a scale is ", scale,
             ", expected a number above 0");
  const float size = std::floor(static_cast<float>(in) * scale);
  node.Check(size >= 1.0f && size < 1099511627776.0f, "scale ", scale, " makes dimension ", in,
             " become ", size, ", expected 1 or more");
  return static_cast<int64_t>(size);
}

int64_t RoundedSize(const OnnxNode& node, int64_t in, float scale) {
  const float size = std::floor(scale * static_cast<float>(in) + 0.5f);
  node.Check(size >= 1.0f && size < 1099511627776.0f, "keeping the aspect ratio makes dimension ",
             in, " become ", size, ", expected 1 or more");
  return static_cast<int64_t>(size);
}

struct Target {
  Shape out;
  std::vector<float> scales;
};

// Dimensions that are resized: all, or `axes` (opset 18).
std::vector<int64_t> ResizedAxes(const OnnxNode& node, const Shape& x) {
  std::vector<int64_t> axes;
  for (int64_t axis : node.Ints("axes")) axes.push_back(node.Axis(axis, x.size()));
  if (!node.HasAttribute("axes")) {
    for (size_t d = 0; d < x.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  }
  return axes;
}

Target FromScales(const OnnxNode& node, const Shape& x, const std::vector<float>& scales) {
  node.Check(scales.size() == x.size(), "has ", scales.size(), " scales, expected ", x.size());
  Target target{{}, scales};
  for (size_t d = 0; d < x.size(); ++d) target.out.push_back(ScaledSize(node, x[d], scales[d]));
  return target;
}

ResizeMode ReadMode(const OnnxNode& node) {
  if (node.String("mode", "nearest") == "bilinear") return ResizeMode::kLinear;
  return ReadChoice(node, "mode", ResizeMode::kNearest);
}

// Upsample, and Resize of opset 10: asymmetric; nearest takes the floor going up, the ceiling going
// down.
void ImportOldResize(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  const Target target = FromScales(
      node, x, node.HasInput(1) ? node.ConstantFloats(1, "scales") : node.Floats("scales"));
  Resize op;
  op.mode = ReadMode(node);
  node.Check(op.mode != ResizeMode::kCubic, "mode cubic needs opset 11");
  op.coordinate = CoordinateMode::kAsymmetric;
  op.cubic_a = -0.75f;  // the later opsets' default; nothing reads it
  const bool down =
      std::any_of(target.scales.begin(), target.scales.end(), [](float s) { return s < 1; });
  const bool up =
      std::any_of(target.scales.begin(), target.scales.end(), [](float s) { return s > 1; });
  node.CheckSupported(!(up && down) || op.mode != ResizeMode::kNearest,
                      "enlarges one dimension and shrinks another with mode nearest");
  op.nearest = down ? NearestMode::kCeil : NearestMode::kFloor;
  op.scales = target.scales;
  node.RequireFloat(0);
  node.Output(op, {node.Input(0)}, DType::kF32, target.out);
}

void ReadCoordinates(const OnnxNode& node, Resize& op) {
  op.nearest = ReadChoice(node, "nearest_mode", NearestMode::kRoundPreferFloor);
  const std::string mode = node.String("coordinate_transformation_mode", "half_pixel");
  if (const auto known = ParseFunction<CoordinateMode>(mode)) {
    op.coordinate = *known;
  } else if (mode == "tf_half_pixel_for_nn" && op.nearest == NearestMode::kFloor) {
    // floor((i + 0.5) / s) is ((i + 0.5) / s - 0.5) rounded half up.
    op.coordinate = CoordinateMode::kHalfPixel;
    op.nearest = NearestMode::kRoundPreferCeil;
  } else {
    node.Unsupported("coordinate_transformation_mode ", Quoted(mode), " is not supported here");
  }
}

// Sizes of the resized dimensions; the policies keep the aspect ratio by one common scale.
Target FromSizes(const OnnxNode& node, const Shape& x, const std::vector<int64_t>& axes,
                 const std::vector<int64_t>& sizes) {
  node.Check(sizes.size() == axes.size(), "has ", sizes.size(), " sizes, expected ", axes.size());
  const std::string policy = node.String("keep_aspect_ratio_policy", "stretch");
  node.Check(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
             "attribute 'keep_aspect_ratio_policy' is ", Quoted(policy),
             ", expected stretch, not_larger or not_smaller");
  Target target{x, std::vector<float>(x.size(), 1.0f)};
  float common = 0.0f;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t d = axes[i];
    node.Check(sizes[i] >= 1 && sizes[i] < (int64_t{1} << 40) && x[d] >= 1, "resizes dimension ",
               x[d], " to ", sizes[i], ", expected 1 or more");
    const float scale = static_cast<float>(sizes[i]) / static_cast<float>(x[d]);
    target.out[d] = sizes[i];
    target.scales[d] = scale;
    const bool better = policy == "not_larger" ? scale < common : scale > common;
    common = i == 0 || better ? scale : common;
  }
  if (policy == "stretch") return target;
  for (int64_t d : axes) {
    target.scales[d] = common;
    target.out[d] = RoundedSize(node, x[d], common);
  }
  return target;
}

Target ReadTarget(const OnnxNode& node, const Shape& x) {
  const std::vector<int64_t> axes = ResizedAxes(node, x);
  const auto scales = node.HasInput(2) ? node.ConstantFloats(2, "scales") : std::vector<float>();
  if (scales.empty()) {
    node.Check(node.HasInput(3), "has neither scales nor sizes");
    return FromSizes(node, x, axes, node.ConstantInts(3, "sizes"));
  }
  node.Check(scales.size() == axes.size(), "has ", scales.size(), " scales, expected ",
             axes.size());
  std::vector<float> all(x.size(), 1.0f);
  for (size_t i = 0; i < axes.size(); ++i) all[axes[i]] = scales[i];
  return FromScales(node, x, all);
}

// The part of each dimension that tf_crop_and_resize shows.
void ReadCrop(const OnnxNode& node, const Shape& x, MatrixResize& resize) {
  const std::vector<int64_t> axes = ResizedAxes(node, x);
  node.Check(node.HasInput(1), "coordinate_transformation_mode tf_crop_and_resize needs a roi");
  const auto roi = node.ConstantFloats(1, "roi");
  node.Check(roi.size() == 2 * axes.size(), "roi has ", roi.size(), " numbers, expected ",
             2 * axes.size());
  resize.starts.assign(x.size(), 0.0f);
  resize.ends.assign(x.size(), 1.0f);
  for (size_t i = 0; i < axes.size(); ++i) {
    const float start = roi[i], end = roi[axes.size() + i];
    node.Check(std::isfinite(start) && std::isfinite(end), "roi holds ", start, " and ", end,
               ", expected finite numbers");
    resize.starts[axes[i]] = start;
    resize.ends[axes[i]] = end;
  }
}

void ImportMatrixResize(OnnxNode& node, bool antialias) {
  const Expr x = FloatIn(node, 0);
  node.Check(NumElements(x.shape()) > 0, "input has the shape ", ToString(x.shape()),
             ", which is empty");
  const Target target = ReadTarget(node, x.shape());
  MatrixResize resize;
  resize.mode = ReadMode(node);
  resize.nearest = ReadChoice(node, "nearest_mode", NearestMode::kRoundPreferFloor);
  resize.coordinate = node.String("coordinate_transformation_mode", "half_pixel");
  resize.cubic_a = node.Float("cubic_coeff_a", -0.75f);
  resize.exclude_outside = node.Int("exclude_outside", 0) != 0;
  resize.antialias = antialias;
  resize.extrapolation = node.AnyFloat("extrapolation_value", 0.0f);
  resize.out = target.out;
  resize.scales = target.scales;
  if (resize.coordinate == "tf_crop_and_resize") ReadCrop(node, x.shape(), resize);
  Give(ResizedByMatrices(x, resize));
}

void ImportResize(OnnxNode& node) {
  if (node.opset() < 11) return ImportOldResize(node);
  // ONNX Runtime's QOperator models resize bytes, of whose scale the operator knows nothing.
  const DType type = node.TypeOf(0);
  const std::optional<QuantParams> quant = node.At(node.Input(0)).quant;
  const bool bytes = (type == DType::kS8 || type == DType::kU8) && quant;
  if (!bytes) node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  Resize op;
  op.mode = ReadMode(node);
  const Target target = ReadTarget(node, x);
  const bool down =
      std::any_of(target.scales.begin(), target.scales.end(), [](float s) { return s < 1; });
  const bool antialias = node.Int("antialias", 0) != 0 && down && op.mode != ResizeMode::kNearest;
  const bool crops =
      node.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  // Products of constants are folded: the table of positions of a vision transformer.
  const bool constant = !bytes && node.At(node.Input(0)).is_constant();
  if (antialias || crops || constant) return ImportMatrixResize(node, antialias);
  ReadCoordinates(node, op);
  op.cubic_a = node.Float("cubic_coeff_a", -0.75f);
  op.exclude_outside = node.Int("exclude_outside", 0) != 0;
  op.scales = target.scales;
  if (!bytes) return node.Output(op, {node.Input(0)}, DType::kF32, target.out);
  const ValueId real = node.Emit(Dequantize{}, {node.Input(0)}, DType::kF32, x);
  const ValueId resized = node.Emit(op, {real}, DType::kF32, target.out);
  node.Output(Quantize{}, {resized}, type, target.out);
  node.SetOutputQuant(*quant);
}

constexpr ImportEntry kResizeImports[] = {{"Resize", ImportResize}, {"Upsample", ImportOldResize}};

}  // namespace

std::span<const ImportEntry> ResizeImports() { return kResizeImports; }

}  // namespace rshift
