#include "graph/onnx/resize_matrix.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rshift {
namespace {

// One dimension.
struct Line {
  int64_t in, out;
  double scale, start, end;
};

// The place in the input that element i of the output shows.
double SourceOf(const OnnxNode& node, const MatrixResize& resize, const Line& line, int64_t i) {
  const auto at = static_cast<double>(i), in = static_cast<double>(line.in);
  const auto out = static_cast<double>(line.out);
  const double half_pixel = (at + 0.5) / line.scale - 0.5;
  if (resize.coordinate == "half_pixel") return half_pixel;
  if (resize.coordinate == "pytorch_half_pixel") return line.out > 1 ? half_pixel : 0.0;
  if (resize.coordinate == "asymmetric") return at / line.scale;
  if (resize.coordinate == "align_corners") {
    return line.out > 1 ? at * (in - 1.0) / (out - 1.0) : 0.0;
  }
  if (resize.coordinate == "half_pixel_symmetric") {
    return half_pixel + in / 2.0 * (1.0 - out / (line.scale * in));
  }
  if (resize.coordinate == "tf_crop_and_resize") {
    const double first = line.start * (in - 1.0), length = (line.end - line.start) * (in - 1.0);
    return line.out > 1 ? first + at * length / (out - 1.0)
                        : 0.5 * (line.start + line.end) * (in - 1.0);
  }
  node.Unsupported("coordinate_transformation_mode ", Quoted(resize.coordinate),
                   " is not supported here");
}

int64_t NearestTo(double place, NearestMode mode) {
  const double below = std::floor(place);
  const bool half = place - below == 0.5;
  switch (mode) {
    case NearestMode::kRoundPreferFloor:
      return static_cast<int64_t>(half ? below : std::floor(place + 0.5));
    case NearestMode::kRoundPreferCeil:
      return static_cast<int64_t>(std::floor(place + 0.5));
    case NearestMode::kFloor:
      return static_cast<int64_t>(below);
    case NearestMode::kCeil:
      break;
  }
  return static_cast<int64_t>(std::ceil(place));
}

// What an element `distance` away counts.
double Kernel(const MatrixResize& resize, double distance) {
  const double x = std::abs(distance), a = resize.cubic_a;
  if (resize.mode == ResizeMode::kLinear) return std::max(1.0 - x, 0.0);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  return x < 2.0 ? ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a : 0.0;
}

// Row `place` of the matrix: the share of each element of the input. Against aliasing the kernel is
// stretched over all elements that one of the output stands for.
void AddShares(const MatrixResize& resize, const Line& line, double place, float* row) {
  const double stretch = resize.antialias ? std::min(line.scale, 1.0) : 1.0;
  const double reach = (resize.mode == ResizeMode::kLinear ? 1.0 : 2.0) / stretch;
  const auto first = static_cast<int64_t>(std::floor(place - reach)),
             last = static_cast<int64_t>(std::ceil(place + reach));
  const auto is_inside = [&](int64_t i) { return i >= 0 && i < line.in; };
  double sum = 0.0;
  for (int64_t i = first; i <= last; ++i) {
    if (resize.exclude_outside && !is_inside(i)) continue;
    sum += Kernel(resize, (static_cast<double>(i) - place) * stretch);
  }
  std::vector<double> shares(line.in, 0.0);
  for (int64_t i = first; i <= last; ++i) {
    if (resize.exclude_outside && !is_inside(i)) continue;
    const int64_t inside = std::clamp<int64_t>(i, 0, line.in - 1);
    shares[inside] += Kernel(resize, (static_cast<double>(i) - place) * stretch) / sum;
  }
  for (int64_t i = 0; i < line.in; ++i) row[i] = static_cast<float>(shares[i]);
}

Expr AlongDimension(const Expr& x, size_t d, const Line& line, const std::vector<double>& places,
                    const MatrixResize& resize) {
  OnnxNode& node = x.node();
  const auto axis = static_cast<int64_t>(d);
  if (resize.mode == ResizeMode::kNearest) {
    std::vector<int64_t> indices;
    indices.reserve(places.size());
    for (double place : places) {
      indices.push_back(std::clamp<int64_t>(NearestTo(place, resize.nearest), 0, line.in - 1));
    }
    return Gathered(x, Ints(node, {line.out}, indices), axis);
  }
  CheckConstantSize(node, NumElements({line.out, line.in}));
  std::vector<float> matrix(line.out * line.in, 0.0f);
  for (int64_t i = 0; i < line.out; ++i) {
    AddShares(resize, line, places[i], matrix.data() + i * line.in);
  }
  const Shape shape = x.shape();
  Shape out = shape;
  out[d] = line.out;
  const int64_t outer = NumElements(Shape(shape.begin(), shape.begin() + axis));
  const int64_t inner = NumElements(Shape(shape.begin() + axis + 1, shape.end()));
  const Expr rows = Floats(node, {line.out, line.in}, matrix);
  if (inner == 1) return Reshaped(Product(Reshaped(x, {outer, line.in}), Swapped(rows)), out);
  return Reshaped(Product(rows, Reshaped(x, {outer, line.in, inner})), out);
}

}  // namespace

Expr ResizedByMatrices(const Expr& x, const MatrixResize& resize) {
  OnnxNode& node = x.node();
  const bool crops = resize.coordinate == "tf_crop_and_resize";
  Expr y = x;
  std::optional<Expr> outside;
  for (size_t d = 0; d < resize.out.size(); ++d) {
    const Line line{x.dim(d), resize.out[d], resize.scales[d], crops ? resize.starts[d] : 0.0,
                    crops ? resize.ends[d] : 1.0};
    if (line.in == line.out && line.scale == 1.0 && line.start == 0.0 && line.end == 1.0) continue;
    CheckConstantSize(node, line.out);
    std::vector<double> places;
    std::vector<bool> beyond;
    for (int64_t i = 0; i < line.out; ++i) {
      const double place = SourceOf(node, resize, line, i);
      beyond.push_back(crops && (place < 0.0 || place > static_cast<double>(line.in - 1)));
      // Whatever is read there is replaced.
      places.push_back(beyond.back() ? 0.0 : place);
    }
    y = AlongDimension(y, d, line, places, resize);
    if (std::count(beyond.begin(), beyond.end(), true) == 0) continue;
    Shape along(resize.out.size(), 1);
    along[d] = line.out;
    const Expr own = Bools(node, along, beyond);
    outside = outside ? Apply(BinaryOp::kOr, *outside, own) : own;
  }
  return outside ? Select(*outside, Number(node, resize.extrapolation), y) : y;
}

}  // namespace rshift
