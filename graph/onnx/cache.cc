// TensorScatter of opset 24: new rows of keys or values, written into a cache at a place for each
// batch. Every row of the result reads the cache or the update.
#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// First rows to write, s64 [batch, 1]. One that would write outside of the cache ends the run.
Expr RowsToWriteFrom(OnnxNode& node, int64_t batch, int64_t last, bool circular) {
  if (!node.HasInput(2)) return Filled(node, 0.0, {batch, 1}, DType::kS64);
  const Expr given = In(node, 2);
  node.Check(given.type() == DType::kS64 || given.type() == DType::kS32, "write_indices have type ",
             Name(given.type()), ", expected int64 or int32");
  node.Check(given.shape() == Shape{batch}, "write_indices have the shape ",
             ToString(given.shape()), ", expected ", batch);
  const Expr first = CastTo(given, DType::kS64);
  if (circular) return Reshaped(first, {batch, 1});
  if (first.is_constant()) {
    for (int64_t i : IntElements(first.value())) {
      node.Check(i >= 0 && i <= last, "writes from row ", i, " on, expected 0 to ", last);
    }
    return Reshaped(first, {batch, 1});
  }
  const Expr negative = Less(first, Number(node, 0.0, DType::kS64));
  const Expr checked =
      Select(negative, Number(node, static_cast<double>(last + 1), DType::kS64), first);
  return Reshaped(Gathered(Iota(node, last + 1, 1, 0), checked, 0), {batch, 1});
}

void ImportTensorScatter(OnnxNode& node) {
  const Expr past = In(node, 0), update = In(node, 1);
  const Shape shape = past.shape();
  const int64_t axis = node.Axis(node.Int("axis", -2), shape.size());
  node.Check(axis >= 1, "attribute 'axis' is the batch dimension 0, expected another one");
  Shape beside = update.shape();
  const bool same_rank = beside.size() == shape.size();
  const int64_t rows = shape[axis], fresh = same_rank ? beside[axis] : 0;
  if (same_rank) beside[axis] = rows;
  node.Check(same_rank && beside == shape && fresh <= rows && past.type() == update.type(),
             "the cache ", ToString(shape), " and the update ", ToString(update.shape()),
             " do not fit");
  const std::string mode = node.String("mode", "linear");
  node.Check(mode == "linear" || mode == "circular", "attribute 'mode' is ", Quoted(mode),
             ", expected linear or circular");
  if (fresh == 0 || NumElements(shape) == 0) return Give(past);
  const int64_t batch = shape[0], total = rows + fresh;
  const Expr first = RowsToWriteFrom(node, batch, rows - fresh, mode == "circular");
  // Row p of a batch is row p - first of the update, where there is one.
  const Expr place = Iota(node, rows, 2, 1);
  Expr from = place - first;
  if (mode == "circular")
    from = Apply(BinaryOp::kMod, from, Number(node, static_cast<double>(rows), DType::kS64));
  const Expr zero = Number(node, 0.0, DType::kS64);
  const Expr written =
      And(Not(Less(from, zero)), Less(from, Number(node, static_cast<double>(fresh), DType::kS64)));
  const Expr row = Select(written, from + static_cast<double>(rows), place);
  // Among the rows of all batches and of what stands between them and the axis.
  const int64_t between = NumElements(Shape(shape.begin() + 1, shape.begin() + axis));
  const int64_t width = NumElements(Shape(shape.begin() + axis + 1, shape.end()));
  CheckConstantSize(node, batch * between);
  const Expr start = Reshaped(Iota(node, batch * between, 1, 0), {batch, between, 1});
  const Expr rows_of_all = start * static_cast<double>(total) + Reshaped(row, {batch, 1, rows});
  const Expr pool = Reshaped(Joined({past, update}, axis), {batch * between * total, width});
  GiveReshaped(Gathered(pool, Reshaped(rows_of_all, {batch * between * rows}), 0), shape);
}

constexpr ImportEntry kCacheImports[] = {{"TensorScatter", ImportTensorScatter}};

}  // namespace

std::span<const ImportEntry> CacheImports() { return kCacheImports; }

}  // namespace rshift
