// Same elements, another shape; and what is known about a shape.
#include <algorithm>

#include "base/checked.h"
#include "graph/onnx/bounded.h"
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

void ImportIdentity(OnnxNode& node) {
  node.Output(Identity{}, {node.Input(0)}, node.TypeOf(0), node.ShapeOf(0));
}

// Inference: nothing is dropped.
void ImportDropout(OnnxNode& node) {
  if (node.HasInput(2)) {
    // At ratio 0 nothing is dropped, and nothing scaled.
    const auto training = node.ConstantInts(2, "training_mode");
    const auto ratio = node.HasInput(1) ? node.ConstantFloats(1, "ratio") : std::vector{0.5f};
    node.CheckSupported((training.size() == 1 && training[0] == 0) || ratio == std::vector{0.0f},
                        "is in training mode; export the model for inference (model.eval())");
  }
  node.CheckSupported(node.opset() >= 7 || node.Int("is_test", 0) != 0,
                      "is in training mode (is_test = 0); export the model for inference");
  ImportIdentity(node);
  if (node.OutputUsed(1)) Give(Filled(node, 1.0, node.ShapeOf(0), DType::kBool), 1);
}

Shape ResolveReshape(const OnnxNode& node, const Shape& x, std::vector<int64_t> wanted) {
  const bool zero_copies = node.Int("allowzero", 0) == 0;
  int64_t known = 1, free = -1;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == 0 && zero_copies) {
      node.Check(d < x.size(), "the new shape copies dimension ", d, " of ", ToString(x),
                 ", which does not exist");
      wanted[d] = x[d];
    }
    node.Check(wanted[d] >= -1, "the new shape holds ", wanted[d]);
    if (wanted[d] == -1) {
      node.Check(free < 0, "the new shape has two dimensions of -1");
      free = static_cast<int64_t>(d);
      continue;
    }
    const auto product = CheckedMul<int64_t>(known, wanted[d]);
    node.Check(product.has_value(), "the new shape has too many elements");
    known = *product;
  }
  const int64_t count = NumElements(x);
  if (free >= 0) {
    node.Check(known > 0 && count % known == 0, "cannot reshape ", ToString(x), " with ", count,
               " elements to rows of ", known);
    wanted[free] = count / known;
    known = count;
  }
  node.Check(known == count, "cannot reshape ", ToString(x), " with ", count, " elements to ",
             ToString(wanted), " with ", known);
  return wanted;
}

void ImportReshape(OnnxNode& node) {
  const auto wanted = node.IntsFrom(1, "shape");
  node.Check(node.HasInput(1) || node.HasAttribute("shape"), "has no new shape");
  node.OutputReshaped(node.Input(0), ResolveReshape(node, node.ShapeOf(0), wanted));
}

void ImportFlatten(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  const auto rank = static_cast<int64_t>(x.size());
  int64_t axis = node.Int("axis", 1);
  node.Check(axis >= -rank && axis <= rank, "axis ", axis, " is outside [-", rank, ", ", rank, "]");
  if (axis < 0) axis += rank;
  node.OutputReshaped(node.Input(0), {NumElements(Shape(x.begin(), x.begin() + axis)),
                                      NumElements(Shape(x.begin() + axis, x.end()))});
}

void ImportSqueeze(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  const auto axes = node.Axes(node.IntsFrom(1, "axes"), x.size());
  const bool all = axes.empty() && !node.HasAttribute("axes") && !node.HasInput(1);
  Shape out;
  for (size_t d = 0; d < x.size(); ++d) {
    const bool listed = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d));
    node.Check(!listed || x[d] == 1, "dimension ", d, " of ", ToString(x), " is not 1");
    if (!listed && !(all && x[d] == 1)) out.push_back(x[d]);
  }
  node.OutputReshaped(node.Input(0), out);
}

void ImportUnsqueeze(OnnxNode& node) {
  const auto wanted = node.IntsFrom(1, "axes");
  Shape out = node.ShapeOf(0);
  for (int64_t axis : node.Axes(wanted, out.size() + wanted.size())) {
    out.insert(out.begin() + axis, 1);
  }
  node.OutputReshaped(node.Input(0), out);
}

Value IntConstant(Shape shape, const std::vector<int64_t>& elements) {
  Value value;
  value.dtype = DType::kS64;
  value.shape = std::move(shape);
  value.constant = MakeConstant<int64_t>(elements);
  return value;
}

// start and end (opset 15) are clamped to the rank.
void ImportShape(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  const auto rank = static_cast<int64_t>(x.size());
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamp(node.Int("start", 0)), end = clamp(node.Int("end", rank));
  const Shape part(x.begin() + start, x.begin() + std::max(start, end));
  RequireFixedDims(node, node.Input(0), start, end);
  node.OutputConstant(IntConstant({static_cast<int64_t>(part.size())}, part));
}

void ImportSize(OnnxNode& node) {
  RequireFixedDims(node, node.Input(0), 0, static_cast<int64_t>(node.ShapeOf(0).size()));
  node.OutputConstant(IntConstant({}, {NumElements(node.ShapeOf(0))}));
}

constexpr ImportEntry kShapeImports[] = {
    {"Identity", ImportIdentity}, {"Dropout", ImportDropout}, {"Reshape", ImportReshape},
    {"Flatten", ImportFlatten},   {"Squeeze", ImportSqueeze}, {"Unsqueeze", ImportUnsqueeze},
    {"Shape", ImportShape},       {"Size", ImportSize},
};

}  // namespace

std::span<const ImportEntry> ShapeImports() { return kShapeImports; }

}  // namespace rshift
