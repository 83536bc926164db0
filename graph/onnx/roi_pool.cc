// MaxRoiPool: the greatest element of each cell of boxes. The maximum over any stretch of a line is
// that of two stretches whose length is a power of two, which are made once for the whole image.
#include "graph/onnx/elements.h"
#include "graph/onnx/sample_points.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr int64_t kMostRoiCells = 1 << 10;  // in each direction

// Images whose element i is the maximum of 1, 2, 4 ... elements from i on along an axis.
std::vector<Expr> Stretches(const Expr& x, int64_t axis) {
  std::vector<Expr> found{x};
  const int64_t size = x.dim(axis);
  for (int64_t length = 1; 2 * length <= size; length *= 2) {
    const Expr& last = found.back();
    const Expr both = Max(Part(last, axis, 0, size - length), Part(last, axis, length, size));
    found.push_back(Padded(both, axis, 0, length));  // what is behind is never read
  }
  return found;
}

// Cells of all boxes along one direction, [R, cells], f32.
struct RoiCells {
  Expr level;        // which of the stretches
  Expr first, last;  // where two of them begin
  Expr is_empty;     // bool
};

Expr RoundedAway(const Expr& x) {
  OnnxNode& node = x.node();
  const Expr size = Apply(UnaryOp::kFloor, Abs(x) + 0.5);
  return Select(Less(x, Number(node, 0.0)), 0.0 - size, size);
}

// from, to: [R, 1].
RoiCells CellsAlong(const Expr& from, const Expr& to, double scale, int64_t cells, int64_t size) {
  OnnxNode& node = from.node();
  const Expr zero = Number(node, 0.0), end = Number(node, static_cast<double>(size));
  const Expr start = RoundedAway(from * scale);
  const Expr length = Max(RoundedAway(to * scale) - start + 1.0, Number(node, 1.0));
  const Expr cell = length / static_cast<double>(cells);
  const Expr number = Iota(node, cells, 2, 1, DType::kF32);
  const auto inside = [&](const Expr& at) { return Min(Max(at + start, zero), end); };
  const Expr begins = inside(Apply(UnaryOp::kFloor, number * cell));
  const Expr ends = inside(Apply(UnaryOp::kCeil, (number + 1.0) * cell));
  const Expr count = ends - begins;
  Expr level = count * 0.0, stretch = level + 1.0;
  for (int64_t power = 2; power <= size; power *= 2) {
    const Expr longer =
        CastTo(Not(Less(count, Number(node, static_cast<double>(power)))), DType::kF32);
    level = level + longer;
    stretch = stretch + longer * stretch;
  }
  // An empty cell reads whatever is there.
  const Expr most = end - 1.0;
  return {level, Min(begins, most), Max(ends - stretch, zero), Less(count, Number(node, 1.0))};
}

void ImportMaxRoiPool(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), boxes = FloatIn(node, 1);
  const Shape shape = x.shape();
  node.Check(shape.size() == 4 && NumElements(shape) > 0 && boxes.rank() == 2 && boxes.dim(1) == 5,
             "input ", ToString(shape), " and rois ", ToString(boxes.shape()),
             " do not fit, expected [N, C, H, W] and [boxes, 5]");
  const auto pooled = node.Ints("pooled_shape");
  node.Check(pooled.size() == 2 && pooled[0] >= 1 && pooled[1] >= 1 && pooled[0] <= kMostRoiCells &&
                 pooled[1] <= kMostRoiCells,
             "attribute 'pooled_shape' is ", ToString(pooled), ", expected two numbers from 1 to ",
             kMostRoiCells);
  const int64_t height = shape[2], width = shape[3], images = shape[0];
  node.CheckSupported(height < (1 << 20) && width < (1 << 20), "reads images of ", height, "x",
                      width, ", expected less than 2^20 in each direction");
  const double scale = node.Float("spatial_scale", 1.0f);
  const auto column = [&](int64_t i) { return At(boxes, 1, i); };
  const RoiCells rows = CellsAlong(column(2), column(4), scale, pooled[0], height);
  const RoiCells columns = CellsAlong(column(1), column(3), scale, pooled[1], width);
  std::vector<Expr> tables;
  int64_t levels = 0;
  for (const Expr& tall : Stretches(x, 2)) {
    const std::vector<Expr> wide = Stretches(tall, 3);
    levels = static_cast<int64_t>(wide.size());
    for (const Expr& table : wide) tables.push_back(RowsOfChannels(table));
  }
  const int64_t count = boxes.dim(0), pixels = height * width;
  const auto integer = [](const Expr& at) { return CastTo(at, DType::kS64); };
  const auto down = [&](const Expr& at) { return Reshaped(at, {count, pooled[0], 1}); };
  const auto across = [&](const Expr& at) { return Reshaped(at, {count, 1, pooled[1]}); };
  const Expr image = Reshaped(Wrapped(integer(column(0)), images), {count, 1, 1});
  const Expr level =
      down(integer(rows.level)) * static_cast<double>(levels) + across(integer(columns.level));
  const Expr origin =
      level * static_cast<double>(images * pixels) + image * static_cast<double>(pixels);
  const Expr table = Joined(tables, 0);
  const auto corner = [&](const Expr& row, const Expr& at) {
    const Expr place =
        origin + down(integer(row)) * static_cast<double>(width) + across(integer(at));
    return Gathered(table, place, 0);  // [R, h, w, C]
  };
  const Expr greatest =
      Max(Max(corner(rows.first, columns.first), corner(rows.first, columns.last)),
          Max(corner(rows.last, columns.first), corner(rows.last, columns.last)));
  const Expr empty = Apply(BinaryOp::kOr, down(rows.is_empty), across(columns.is_empty));
  const Expr cells =
      Select(Reshaped(empty, {count, pooled[0], pooled[1], 1}), Number(node, 0.0), greatest);
  Give(Transposed(cells, {0, 3, 1, 2}));
}

constexpr ImportEntry kRoiPoolImports[] = {{"MaxRoiPool", ImportMaxRoiPool}};

}  // namespace

std::span<const ImportEntry> RoiPoolImports() { return kRoiPoolImports; }

}  // namespace rshift
