// Operators that a constant mask or the number of each element makes: Trilu, EyeLike, OneHot,
// Hardmax, ReverseSequence.
#include <algorithm>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// [rows, columns]: column - row >= least, or <= most.
std::vector<bool> Diagonals(int64_t rows, int64_t columns, int64_t k, bool upper) {
  std::vector<bool> mask(rows * columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      mask[r * columns + c] = upper ? c - r >= k : c - r <= k;
    }
  }
  return mask;
}

// A Where, not a product: what is cut off may be infinite.
void ImportTrilu(OnnxNode& node) {
  const Expr x = In(node, 0);
  node.Check(x.rank() >= 2, "input has the shape ", ToString(x.shape()), ", expected matrices");
  const int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  CheckConstantSize(node, NumElements({rows, columns}));
  int64_t k = 0;
  if (node.HasInput(1)) {
    const auto given = node.ConstantInts(1, "k");
    node.Check(given.size() == 1, "k has ", given.size(), " elements, expected 1");
    k = std::clamp(given[0], -rows - columns, rows + columns);
  }
  const bool upper = node.Int("upper", 1) != 0;
  const Expr mask = Bools(node, {rows, columns}, Diagonals(rows, columns, k, upper));
  Give(Select(mask, x, Number(node, 0.0, x.type())));
}

void ImportEyeLike(OnnxNode& node) {
  const Expr x = In(node, 0);
  node.Check(x.rank() == 2, "input has the shape ", ToString(x.shape()), ", expected a matrix");
  const int64_t rows = x.dim(0), columns = x.dim(1);
  const int64_t k = std::clamp(node.Int("k", 0), -rows - columns, rows + columns);
  const DType type = node.HasAttribute("dtype")
                         ? ImportDType(static_cast<int>(node.Int("dtype", 1)), node.where())
                         : x.type();
  CheckConstantSize(node, NumElements({rows, columns}));
  std::vector<int64_t> eye(rows * columns, 0);
  for (int64_t r = 0; r < rows; ++r) {
    if (r + k >= 0 && r + k < columns) eye[r * columns + r + k] = 1;
  }
  Give(CastTo(Ints(node, {rows, columns}, eye), type));
}

// An index outside of [-depth, depth) gives a row of `off`.
void ImportOneHot(OnnxNode& node) {
  const Expr indices = CastTo(In(node, 0), DType::kS64), values = In(node, 2);
  const Expr given = In(node, 1);
  node.CheckSupported(given.is_constant() && NumElements(given.shape()) == 1,
                      "depth is computed from the model's input, expected a constant number");
  const int64_t depth = IntElements(CastTo(given, DType::kS64).value())[0];
  node.Check(depth >= 1 && depth < (int64_t{1} << 31), "depth is ", depth, ", expected 1 or more");
  node.Check(values.shape() == Shape{2}, "values have the shape ", ToString(values.shape()),
             ", expected 2: off and on");
  const int64_t axis = node.Axis(node.Int("axis", -1), indices.rank() + 1);
  const Expr wrapped = Select(Less(indices, Number(node, 0.0, DType::kS64)),
                              indices + static_cast<double>(depth), indices);
  const Expr hot = Equal(Unsqueezed(wrapped, axis), Iota(node, depth, indices.rank() + 1, axis));
  Give(Select(hot, Reshaped(At(values, 0, 1), {}), Reshaped(At(values, 0, 0), {})));
}

// 1 at the first maximum. Before opset 13 all dimensions from `axis` on are one row.
void ImportHardmax(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const bool flattens = node.opset() < 13;
  const Shape shape = x.shape();
  int64_t axis = node.Axis(node.Int("axis", flattens ? 1 : -1), x.rank());
  Expr rows = x;
  if (flattens) {
    rows = Reshaped(x, {NumElements(Shape(shape.begin(), shape.begin() + axis)),
                        NumElements(Shape(shape.begin() + axis, shape.end()))});
    axis = 1;
  }
  const Expr hot = Equal(ArgMaxOf(rows, axis), Iota(node, rows.dim(axis), rows.rank(), axis));
  GiveReshaped(CastTo(hot, DType::kF32), shape);
}

// The first lengths[b] elements of each sequence, turned around.
void ImportReverseSequence(OnnxNode& node) {
  const Expr x = In(node, 0);
  const int64_t batch = node.Axis(node.Int("batch_axis", 1), x.rank());
  const int64_t time = node.Axis(node.Int("time_axis", 0), x.rank());
  node.Check(batch != time, "batch_axis and time_axis are the same");
  const Expr lengths = CastTo(In(node, 1), DType::kS64);
  node.Check(lengths.shape() == Shape{x.dim(batch)}, "sequence_lens has the shape ",
             ToString(lengths.shape()), ", expected ", x.dim(batch));
  Shape per_sequence(x.rank(), 1);
  per_sequence[batch] = x.dim(batch);
  const Expr length = Reshaped(lengths, per_sequence);
  const Expr place = Iota(node, x.dim(time), x.rank(), time);
  const Expr turned = Select(Less(place, length), length - place - 1.0, place);
  Give(Gathered(Flat(x), PlacesAlong(Expanded(turned, x.shape()), x.shape(), time), 0));
}

constexpr ImportEntry kMaskImports[] = {
    {"Trilu", ImportTrilu},
    {"EyeLike", ImportEyeLike},
    {"OneHot", ImportOneHot},
    {"Hardmax", ImportHardmax},
    {"ReverseSequence", ImportReverseSequence},
};

}  // namespace

std::span<const ImportEntry> MaskImports() { return kMaskImports; }

}  // namespace rshift
