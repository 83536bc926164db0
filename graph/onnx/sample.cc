// GridSample, DeformConv, RoiAlign: images read at points that the data give.
#include <algorithm>

#include "graph/onnx/entries.h"
#include "graph/onnx/sample_points.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

Shape Spatial(const Shape& x) { return Shape(x.begin() + 2, x.end()); }

// The row of each image's first element: s64 [N, 1].
Expr FirstRows(OnnxNode& node, int64_t images, const Shape& sizes) {
  return Iota(node, images, 2, 0) * static_cast<double>(NumElements(sizes));
}

// --- GridSample ---
struct Borders {
  double low, high;
};

Borders BordersOf(int64_t size, bool corners) {
  return corners ? Borders{0.0, size - 1.0} : Borders{-0.5, size - 0.5};
}

// Mirrored at both borders, as often as it takes.
Expr Reflected(const Expr& x, const Borders& b) {
  const double range = b.high - b.low;
  if (range <= 0) return x * 0.0 + b.low;
  const Expr from = x - b.low;
  const Expr rest = from - 2 * range * Apply(UnaryOp::kFloor, from / (2 * range));
  return Min(rest, 2 * range - rest) + b.low;
}

// Points outside of the image, as the padding mode has them. ONNX Runtime moves every coordinate of
// a point one of whose coordinates is beyond its borders.
std::vector<Expr> MovedInside(std::vector<Expr> points, const Shape& sizes,
                              const std::string& padding, bool corners) {
  if (padding == "zeros") return points;
  std::optional<Expr> out;
  for (size_t d = 0; d < points.size(); ++d) {
    OnnxNode& node = points[d].node();
    const Borders b = BordersOf(sizes[d], corners);
    for (const Expr& beyond :
         {Less(points[d], Number(node, b.low)), Less(Number(node, b.high), points[d])}) {
      out = out ? Apply(BinaryOp::kOr, *out, beyond) : beyond;
    }
  }
  for (size_t d = 0; d < points.size(); ++d) {
    const Expr moved = padding == "border" ? NearestInside(points[d], sizes[d]).index
                                           : Reflected(points[d], BordersOf(sizes[d], corners));
    points[d] = Select(*out, moved, points[d]);
  }
  return points;
}

EdgeRule EdgeOf(const std::string& padding, bool corners) {
  if (padding == "zeros") return ZeroOutside;
  if (padding == "border") return NearestInside;
  return [corners](const Expr& index, int64_t size) {
    return NearestInside(Reflected(index, BordersOf(size, corners)), size);
  };
}

// [N, P..., dims], x first -> for each dimension of the image, in their order, [N, P] as indices.
std::vector<Expr> GridPoints(const Expr& grid, const Shape& sizes, bool corners) {
  const Shape shape = grid.shape();
  const int64_t count = NumElements(Shape(shape.begin() + 1, shape.end() - 1));
  std::vector<Expr> points;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto from = static_cast<int64_t>(sizes.size() - 1 - d);
    const Expr at = Reshaped(At(grid, -1, from), {shape[0], count});
    const auto size = static_cast<double>(sizes[d]);
    points.push_back(corners ? (at + 1.0) / 2.0 * (size - 1.0) : ((at + 1.0) * size - 1.0) / 2.0);
  }
  return points;
}

void ImportGridSample(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), grid = FloatIn(node, 1);
  const Shape shape = x.shape(), sizes = Spatial(shape), places = grid.shape();
  node.Check((shape.size() == 4 || shape.size() == 5) && places.size() == shape.size() &&
                 places[0] == shape[0] && places.back() == static_cast<int64_t>(shape.size()) - 2 &&
                 NumElements(shape) > 0,
             "image ", ToString(shape), " and grid ", ToString(places), " do not fit");
  std::string mode = node.String("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const std::string padding = node.String("padding_mode", "zeros");
  node.Check(mode == "linear" || mode == "nearest" || mode == "cubic", "attribute 'mode' is ",
             Quoted(mode), ", expected linear, nearest or cubic");
  node.Check(padding == "zeros" || padding == "border" || padding == "reflection",
             "attribute 'padding_mode' is ", Quoted(padding),
             ", expected zeros, border or reflection");
  node.CheckSupported(mode != "cubic" || shape.size() == 4,
                      "interpolates cubically in three dimensions");
  const bool corners = node.Int("align_corners", 0) != 0;
  auto points = GridPoints(grid, sizes, corners);
  if (mode == "nearest") {
    for (Expr& at : points) at = Apply(UnaryOp::kRound, at);
  }
  // Cubic: the four elements are moved alone, as PyTorch does.
  if (mode != "cubic") points = MovedInside(points, sizes, padding, corners);
  const EdgeRule edge = EdgeOf(padding, corners);
  const Expr first = FirstRows(node, shape[0], sizes);
  const auto taps = mode == "linear"    ? LinearTaps(points, sizes, first, edge)
                    : mode == "nearest" ? NearestTaps(points, sizes, first, edge)
                                        : CubicTaps(points, sizes, first, edge);
  Shape out{shape[0], shape[1]};
  out.insert(out.end(), places.begin() + 1, places.end() - 1);
  GiveReshaped(Sampled(RowsOfChannels(x), taps), out);
}

// --- DeformConv ---
// Where the taps of the kernel lie along one dimension without offsets: [1, kernel, positions].
Expr TapPlaces(OnnxNode& node, const Shape& kernel, const Shape& out, size_t d) {
  const int64_t stride = Entries(node, "strides", 2, 1, 1)[d];
  const int64_t dilation = Entries(node, "dilations", 2, 1, 1)[d];
  const int64_t before = Entries(node, "pads", 4, 0, 0)[d];
  CheckConstantSize(node, NumElements(kernel) * NumElements(out));
  std::vector<float> places;
  for (int64_t k = 0; k < NumElements(kernel); ++k) {
    const int64_t tap = d == 0 ? k / kernel[1] : k % kernel[1];
    for (int64_t p = 0; p < NumElements(out); ++p) {
      const int64_t at = d == 0 ? p / out[1] : p % out[1];
      places.push_back(static_cast<float>(at * stride + tap * dilation - before));
    }
  }
  return Floats(node, {1, NumElements(kernel), NumElements(out)}, places);
}

void ImportDeformConv(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), w = FloatIn(node, 1), offsets = FloatIn(node, 2);
  const Shape shape = x.shape(), weight = w.shape(), moved = offsets.shape();
  node.CheckSupported(shape.size() == 4, "input has the shape ", ToString(shape),
                      ", expected two dimensions of space");
  const int64_t groups = node.Int("group", 1), sets = node.Int("offset_group", 1);
  node.Check(weight.size() == 4 && moved.size() == 4 && groups >= 1 && sets >= 1 &&
                 weight[1] * groups == shape[1] && weight[0] % groups == 0 && shape[1] % sets == 0,
             "input ", ToString(shape), ", weight ", ToString(weight), ", group ", groups,
             " and offset_group ", sets, " do not fit");
  const Shape kernel = Spatial(weight), out = Spatial(moved), sizes = Spatial(shape);
  const std::vector<int64_t> stated = node.Ints("kernel_shape");
  node.Check(stated.empty() || stated == kernel, "attribute 'kernel_shape' is ", ToString(stated),
             ", but the weight has ", ToString(weight));
  const int64_t taps = NumElements(kernel), spots = NumElements(out), n = shape[0];
  const auto strides = Entries(node, "strides", 2, 1, 1),
             dilations = Entries(node, "dilations", 2, 1, 1), pads = Entries(node, "pads", 4, 0, 0);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t room = sizes[d] + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1;
    node.Check(room >= 0 && out[d] == room / strides[d] + 1 && moved[0] == n &&
                   moved[1] == 2 * sets * taps,
               "offsets have the shape ", ToString(moved), ", which does not fit the input ",
               ToString(shape), " and the weight ", ToString(weight));
  }
  const Expr pairs = Reshaped(offsets, {n * sets, taps, 2, spots});
  std::vector<Expr> points;
  for (size_t d = 0; d < 2; ++d) {
    const Expr own = Reshaped(At(pairs, 2, static_cast<int64_t>(d)), {n * sets, taps, spots});
    points.push_back(Reshaped(own + TapPlaces(node, kernel, out, d), {n * sets, taps * spots}));
  }
  const Expr image = Reshaped(x, {n * sets, shape[1] / sets, sizes[0], sizes[1]});
  Expr read = Sampled(RowsOfChannels(image),
                      LinearTaps(points, sizes, FirstRows(node, n * sets, sizes), ZeroOutside));
  if (node.HasInput(4)) {
    const Expr mask = FloatIn(node, 4);
    node.Check(mask.shape() == Shape{n, sets * taps, out[0], out[1]}, "mask has the shape ",
               ToString(mask.shape()), ", expected ", n, "x", sets * taps, "x", out[0], "x",
               out[1]);
    read = read * Reshaped(mask, {n * sets, 1, taps * spots});
  }
  const Expr columns = Reshaped(read, {n, groups, weight[1] * taps, spots});
  const Expr factor = Reshaped(w, {1, groups, weight[0] / groups, weight[1] * taps});
  const Expr y = Reshaped(Product(factor, columns), {n, weight[0], out[0], out[1]});
  if (!node.HasInput(3)) return Give(y);
  node.Check(node.ShapeOf(3) == Shape{weight[0]}, "bias has the shape ", ToString(node.ShapeOf(3)),
             ", expected ", weight[0]);
  Give(y + Reshaped(FloatIn(node, 3), {1, weight[0], 1, 1}));
}

constexpr ImportEntry kSampleImports[] = {{"GridSample", ImportGridSample},
                                          {"DeformConv", ImportDeformConv}};

}  // namespace

std::span<const ImportEntry> SampleImports() { return kSampleImports; }

}  // namespace rshift
