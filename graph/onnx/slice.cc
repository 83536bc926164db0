#include <algorithm>

#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr int64_t kFar = int64_t{1} << 40;

// Start, step and length along one dimension, by the clamping rules of ONNX (those of numpy).
struct Cut {
  int64_t start, step, length;
};

Cut CutDimension(int64_t size, int64_t start, int64_t end, int64_t step) {
  step = std::clamp(step, -kFar, kFar);
  if (size == 0) return {0, step, 0};
  const auto from_end = [&](int64_t at) { return at < 0 ? at + size : at; };
  const int64_t lowest = step > 0 ? 0 : -1;
  start = std::clamp<int64_t>(from_end(start), 0, step > 0 ? size : size - 1);
  end = std::clamp<int64_t>(from_end(end), lowest, size);
  const int64_t length =
      step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  return {start, step, std::max<int64_t>(length, 0)};
}

void OutputSlice(OnnxNode& node, const Slice& op, const Shape& out, int i) {
  if (out == node.ShapeOf(0) &&
      std::all_of(op.steps.begin(), op.steps.end(), [](int64_t s) { return s > 0; })) {
    return node.Output(Identity{}, {node.Input(0)}, node.TypeOf(0), out, i);
  }
  node.Output(op, {node.Input(0)}, node.TypeOf(0), out, i);
}

void ImportSlice(OnnxNode& node) {
  Shape out = node.ShapeOf(0);
  const size_t rank = out.size();
  const auto starts = node.IntsFrom(1, "starts"), ends = node.IntsFrom(2, "ends");
  auto axes = node.IntsFrom(3, "axes"), steps = node.IntsFrom(4, "steps");
  if (axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  node.Check(
      starts.size() == ends.size() && starts.size() == axes.size() && starts.size() == steps.size(),
      "has ", starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes and ",
      steps.size(), " steps, expected equal counts");
  node.Axes(axes, rank);
  Slice op{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.Axis(axes[i], rank);
    node.Check(steps[i] != 0, "a step is 0");
    const Cut cut = CutDimension(out[axis], starts[i], ends[i], steps[i]);
    op.starts[axis] = cut.start;
    op.steps[axis] = cut.step;
    out[axis] = cut.length;
  }
  OutputSlice(node, op, out, 0);
}

// Sizes of the parts: given, or equal ones of which the last may be smaller (opset 18).
std::vector<int64_t> SplitSizes(OnnxNode& node, int64_t size) {
  auto sizes = node.IntsFrom(1, "split");
  if (!sizes.empty()) return sizes;
  const int64_t parts = node.Int("num_outputs", node.OutputCount());
  node.Check(parts >= 1 && parts == node.OutputCount(), "splits into ", parts, " parts but has ",
             node.OutputCount(), " outputs");
  node.Check(node.opset() >= 18 || size % parts == 0, "cannot split ", size, " elements into ",
             parts, " equal parts");
  const int64_t each = (size + parts - 1) / parts;
  for (int64_t rest = size; parts > static_cast<int64_t>(sizes.size()); rest -= sizes.back()) {
    sizes.push_back(std::min(each, rest));
  }
  return sizes;
}

void ImportSplit(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), x.size());
  const auto sizes = SplitSizes(node, x[axis]);
  node.Check(static_cast<int>(sizes.size()) == node.OutputCount(), "has ", sizes.size(),
             " sizes for ", node.OutputCount(), " outputs");
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    node.Check(sizes[i] >= 0 && sizes[i] <= x[axis] - start, "the parts exceed the ", x[axis],
               " elements of axis ", axis);
    Slice op{std::vector<int64_t>(x.size(), 0), std::vector<int64_t>(x.size(), 1)};
    op.starts[axis] = start;
    Shape out = x;
    out[axis] = sizes[i];
    OutputSlice(node, op, out, static_cast<int>(i));
    start += sizes[i];
  }
  node.Check(start == x[axis], "the parts have ", start, " elements, expected ", x[axis]);
}

constexpr ImportEntry kSliceImports[] = {{"Slice", ImportSlice}, {"Split", ImportSplit}};

}  // namespace

std::span<const ImportEntry> SliceImports() { return kSliceImports; }

}  // namespace rshift
