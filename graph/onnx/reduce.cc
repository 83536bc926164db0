#include <algorithm>
#include <numeric>

#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Axes moved from an attribute to an input: ReduceSum at opset 13, the others at 18.
template <ReduceOp kOp>
void ImportReduce(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  std::vector<int64_t> axes = node.Axes(node.IntsFrom(1, "axes"), x.size());
  const bool nothing = axes.empty() && node.Int("noop_with_empty_axes", 0) != 0;
  if (axes.empty() && !nothing) {
    axes.resize(x.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const bool keep = node.Int("keepdims", 1) != 0;
  Shape out;
  for (size_t d = 0; d < x.size(); ++d) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d));
    node.Check(!reduced || x[d] > 0 || kOp != ReduceOp::kMean,
               "takes the mean over the empty dimension ", d, " of ", ToString(x));
    if (!reduced) out.push_back(x[d]);
    if (reduced && keep) out.push_back(1);
  }
  node.Check(node.TypeOf(0) != DType::kBool || kOp == ReduceOp::kMin || kOp == ReduceOp::kMax,
             "input has type bool, expected numbers");
  node.Output(Reduce{kOp, axes}, {node.Input(0)}, node.TypeOf(0), out);
}

void ImportArg(OnnxNode& node, bool min) {
  const Shape x = node.ShapeOf(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), x.size());
  node.Check(x[axis] > 0, "axis ", axis, " of ", ToString(x), " is empty");
  Shape out = x;
  out[axis] = 1;
  if (node.Int("keepdims", 1) == 0) out.erase(out.begin() + axis);
  node.Output(ArgMax{axis, min, node.Int("select_last_index", 0) != 0}, {node.Input(0)},
              DType::kS64, out);
}

constexpr ImportEntry kReduceImports[] = {
#define RSHIFT_REDUCE(id, name, ...) {"Reduce" #name, ImportReduce<ReduceOp::k##name>},
#include "isa/functions.def"
    {"ArgMax", [](OnnxNode& node) { ImportArg(node, false); }},
    {"ArgMin", [](OnnxNode& node) { ImportArg(node, true); }},
};

}  // namespace

std::span<const ImportEntry> ReduceImports() { return kReduceImports; }

}  // namespace rshift
