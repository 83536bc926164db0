// RoiAlign: cells of boxes, each read at a fixed number of points, or at as many as the box is
// large.
#include <algorithm>

#include "graph/onnx/elements.h"
#include "graph/onnx/sample_points.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr int64_t kMostPoints = 64;  // of a cell, in each direction

struct RoiForm {
  int64_t cells, points;  // along this direction
  double scale;
  bool half_pixel;
};

// Where boxes begin and how long their cells are, [R, 1].
struct RoiLine {
  Expr start, cell;
};

// from, to: ends of the boxes in this direction, [R, 1].
RoiLine LineOf(const Expr& from, const Expr& to, const RoiForm& form) {
  const double middle = form.half_pixel ? 0.5 : 0.0;
  const Expr start = from * form.scale - middle, end = to * form.scale - middle;
  Expr size = end - start;
  if (!form.half_pixel) size = Max(size, Number(from.node(), 1.0));
  return {start, size / static_cast<double>(form.cells)};
}

// The result is [R, cells * points].
Expr PointsAlong(const Expr& from, const Expr& to, const RoiForm& form) {
  OnnxNode& node = from.node();
  const auto [start, cell] = LineOf(from, to, form);
  std::vector<float> places;
  for (int64_t i = 0; i < form.cells * form.points; ++i) {
    places.push_back(static_cast<float>((static_cast<double>(i) + 0.5) / form.points));
  }
  return start + cell * Floats(node, {1, form.cells * form.points}, places);
}

// Beyond one pixel around the image there is nothing; up to there the edge's pixel.
std::pair<Expr, Expr> MovedInside(const Expr& at, int64_t size) {
  OnnxNode& node = at.node();
  const Expr outside = Apply(BinaryOp::kOr, Less(at, Number(node, -1.0)),
                             Less(Number(node, static_cast<double>(size)), at));
  return {NearestInside(at, size).index, CastTo(Not(outside), DType::kF32)};
}

// Rows [R, h, 1] or columns [R, 1, w] spread over [R, h * w].
Expr Spread(const Expr& x, const Shape& grid, bool rows) {
  const Shape line = rows ? Shape{grid[0], grid[1], 1} : Shape{grid[0], 1, grid[2]};
  return Reshaped(Expanded(Reshaped(x, line), grid), {grid[0], grid[1] * grid[2]});
}

// How much of each pixel of the line the mean over each cell holds, [R, cells, size], where a cell
// has a point for every pixel that it is long. A box twice as long as the image ends the run.
Expr SharesAlong(const Expr& from, const Expr& to, const RoiForm& form, int64_t size) {
  OnnxNode& node = from.node();
  const auto [start, cell] = LineOf(from, to, form);
  const int64_t boxes = from.dim(0), most = 2 * (size + form.cells - 1) / form.cells + 1;
  constexpr int64_t kMostShares = int64_t{1} << 26;
  node.CheckSupported(form.cells * most < (1 << 20) && size < (1 << 20) &&
                          boxes <= kMostShares / (form.cells * most * size),
                      "reads ", boxes, " boxes of ", form.cells, " cells at up to ", most,
                      " points of lines of ", size,
                      " pixels, which is more than 2^26 numbers; export it with sampling_ratio 2");
  const Expr wanted = CastTo(Max(Apply(UnaryOp::kCeil, cell), Number(node, 0.0)), DType::kS64);
  const Expr points = CastTo(Gathered(Iota(node, most + 1, 1, 0), wanted, 0), DType::kF32);
  const auto along = [&](const Expr& x) { return Reshaped(x, {boxes, 1, 1, 1}); };
  const Expr count = along(Max(points, Number(node, 1.0)));
  const Expr number = Iota(node, most, 4, 2, DType::kF32);
  const Expr part = (number + 0.5) / count + Iota(node, form.cells, 4, 1, DType::kF32);
  const Expr at = along(start) + along(cell) * part;  // [R, cells, points, 1]
  const auto end = static_cast<double>(size);
  const Expr read = And(Less(number, along(points)),
                        And(Not(Less(at, Number(node, -1.0))), Not(Less(Number(node, end), at))));
  const Expr inside = Min(Max(at, Number(node, 0.0)), Number(node, end - 1.0));
  const Expr distance = Abs(inside - Iota(node, size, 4, 3, DType::kF32));
  const Expr shares = Select(read, Max(1.0 - distance, Number(node, 0.0)), Number(node, 0.0));
  return Reshaped(Reduced(ReduceOp::kSum, shares, {2}) / count, {boxes, form.cells, size});
}

// The mean is a product of shares of rows and of columns. images: of each box, s64.
Expr MeanOfCells(const Expr& x, const Expr& images, const Expr& rows, const Expr& columns) {
  OnnxNode& node = x.node();
  const Shape shape = x.shape();
  const int64_t boxes = rows.dim(0), h = rows.dim(1), w = columns.dim(1);
  constexpr int64_t kMostBetween = int64_t{1} << 27;
  node.CheckSupported(h * boxes <= kMostBetween / (shape[1] * shape[3]), "makes ", boxes * h,
                      " rows of ", shape[1] * shape[3],
                      " numbers, which is more than 2^27; export it with sampling_ratio 2");
  const Expr own = Reshaped(Wrapped(images, shape[0]), {boxes, 1, 1, 1});
  const Expr meant = CastTo(Equal(own, Iota(node, shape[0], 4, 2)), DType::kF32);
  const Expr picked = Reshaped(rows, {boxes, h, 1, shape[2]}) * meant;
  const Expr pixels =
      Reshaped(Transposed(x, {0, 2, 3, 1}), {shape[0] * shape[2], shape[3] * shape[1]});
  const Expr lines = Product(Reshaped(picked, {boxes * h, shape[0] * shape[2]}), pixels);
  const Expr cells =
      Product(Unsqueezed(columns, 1), Reshaped(lines, {boxes, h, shape[3], shape[1]}));
  return Transposed(Reshaped(cells, {boxes, h, w, shape[1]}), {0, 3, 1, 2});
}

void ImportRoiAlign(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), boxes = FloatIn(node, 1), images = In(node, 2);
  const Shape shape = x.shape();
  node.Check(shape.size() == 4 && NumElements(shape) > 0 && boxes.rank() == 2 &&
                 boxes.dim(1) == 4 && images.shape() == Shape{boxes.dim(0)} &&
                 images.type() != DType::kF32,
             "input ", ToString(shape), ", rois ", ToString(boxes.shape()), " and batch indices ",
             ToString(images.shape()), " do not fit");
  const std::string mode = node.String("mode", "avg");
  node.Check(mode == "avg" || mode == "max", "attribute 'mode' is ", Quoted(mode),
             ", expected avg or max");
  const std::string transform = node.String("coordinate_transformation_mode", "half_pixel");
  node.Check(transform == "half_pixel" || transform == "output_half_pixel",
             "attribute 'coordinate_transformation_mode' is ", Quoted(transform),
             ", expected half_pixel or output_half_pixel");
  const bool half_pixel = node.opset() >= 16 && transform == "half_pixel";
  const int64_t points = node.Int("sampling_ratio", 0);
  node.CheckSupported(points >= 0 && points <= kMostPoints && (points > 0 || mode == "avg"),
                      "sampling_ratio is ", points, " with mode ", mode, ", expected 1 to ",
                      kMostPoints, ", or 0 with mode avg");
  const int64_t h = node.Int("output_height", 1), w = node.Int("output_width", 1);
  constexpr int64_t kMostCells = 1 << 16;  // in each direction
  node.Check(h >= 1 && w >= 1 && h <= kMostCells && w <= kMostCells, "makes ", h, "x", w,
             " cells, expected 1x1 to ", kMostCells, "x", kMostCells);
  const double scale = node.Float("spatial_scale", 1.0f);
  CheckConstantSize(node, h * points * w * points);
  const auto end = [&](int64_t i) { return At(boxes, 1, i); };
  if (points == 0) {
    const Expr down = SharesAlong(end(1), end(3), {h, points, scale, half_pixel}, shape[2]);
    const Expr across = SharesAlong(end(0), end(2), {w, points, scale, half_pixel}, shape[3]);
    return Give(MeanOfCells(x, images, down, across));
  }
  const auto [rows, rows_in] =
      MovedInside(PointsAlong(end(1), end(3), {h, points, scale, half_pixel}), shape[2]);
  const auto [columns, columns_in] =
      MovedInside(PointsAlong(end(0), end(2), {w, points, scale, half_pixel}), shape[3]);
  const Shape grid{boxes.dim(0), h * points, w * points};
  const Expr first = Reshaped(Wrapped(images, shape[0]), {boxes.dim(0), 1}) *
                     static_cast<double>(shape[2] * shape[3]);
  const auto taps = LinearTaps({Spread(rows, grid, true), Spread(columns, grid, false)},
                               {shape[2], shape[3]}, first, NearestInside);
  const Expr inside = Spread(rows_in, grid, true) * Spread(columns_in, grid, false);
  // mode max: the largest product of a pixel and its weight, as ONNX Runtime has it.
  const auto value_of = [&] {
    if (mode == "avg") return WeightedSum(RowsOfChannels(x), taps);
    const std::vector<Expr> parts = Weighted(RowsOfChannels(x), taps);
    Expr most = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) most = Max(most, parts[i]);
    return most;
  };
  const Expr value =
      Reshaped(value_of() * Unsqueezed(inside, -1), {boxes.dim(0), h, points, w, points, shape[1]});
  const Expr cells =
      Reduced(mode == "max" ? ReduceOp::kMax : ReduceOp::kMean, value, {2, 4}, false);
  Give(Transposed(cells, {0, 3, 1, 2}));
}

constexpr ImportEntry kRoiImports[] = {{"RoiAlign", ImportRoiAlign}};

}  // namespace

std::span<const ImportEntry> RoiImports() { return kRoiImports; }

}  // namespace rshift
