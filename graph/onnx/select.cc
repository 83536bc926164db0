// Results whose size depends on what is in a tensor: of constants lists, else lists as long as they
// can become, of which a part counts (bounded.h).
#include <algorithm>
#include <map>
#include <numeric>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Of a list with its length in front: element 0, [1].
Expr CountOf(const Expr& list) { return Reshaped(Part(Flat(list), 0, 0, 1), {1}); }

// `length` entries from `start` on, of which as many count as `count` says.
Expr Counted(const Expr& list, int64_t start, int64_t length, const Expr& count) {
  const Expr entries = Part(list, 0, start, start + length);
  entries.node().Bound(entries.id(), 0, count.id());
  return entries;
}

Expr Listed(OnnxNode& node, Op op, const std::vector<ValueId>& inputs, const Shape& shape) {
  return {node, node.Emit(std::move(op), inputs, DType::kS64, shape)};
}

// Where elements are not 0, in the row of all of them.
Expr PlacesOfNonZero(const Expr& x) {
  const int64_t size = NumElements(x.shape());
  const Expr list = Listed(x.node(), NonZero{}, {x.id()}, {1 + size});
  return Counted(list, 1, size, CountOf(list));
}

// [rank, count]: the places of all elements that are not 0.
void ImportNonZero(OnnxNode& node) {
  const Expr x = In(node, 0);
  const Shape shape = x.shape(), strides = Strides(shape);
  if (!x.is_constant()) {
    node.CheckSupported(!shape.empty(), "input is a scalar, expected one dimension or more");
    const Expr places = Unsqueezed(PlacesOfNonZero(x), 0);
    std::vector<Expr> rows;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Expr above = places / static_cast<double>(std::max<int64_t>(strides[d], 1));
      const auto dim = static_cast<double>(std::max<int64_t>(shape[d], 1));
      // Of the first dimension nothing has to be taken off.
      const Expr whole = above / dim;
      rows.push_back(d == 0 ? above : above - whole * dim);
    }
    return Give(Joined(rows, 0));
  }
  const std::vector<double> elements = Doubles(x.value());
  std::vector<int64_t> found;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != 0.0) found.push_back(static_cast<int64_t>(i));
  }
  std::vector<int64_t> places;
  for (size_t d = 0; d < shape.size(); ++d) {
    for (int64_t at : found) places.push_back(at / strides[d] % shape[d]);
  }
  Give(
      Ints(node, {static_cast<int64_t>(shape.size()), static_cast<int64_t>(found.size())}, places));
}

// The slices along `axis`, or the elements, where the condition holds.
void ImportCompress(OnnxNode& node) {
  const Expr x = In(node, 0), condition = In(node, 1);
  node.Check(condition.type() == DType::kBool && condition.rank() == 1, "condition is ",
             Name(condition.type()), " ", ToString(condition.shape()), ", expected a list of bool");
  const bool flat = !node.HasAttribute("axis");
  const Expr from = flat ? Flat(x) : x;
  const int64_t axis = flat ? 0 : node.Axis(node.Int("axis", 0), x.rank());
  node.Check(condition.dim(0) <= from.dim(axis), "condition has ", condition.dim(0),
             " entries for ", from.dim(axis));
  if (!condition.is_constant()) return Give(Gathered(from, PlacesOfNonZero(condition), axis));
  const auto flags = IntElements(condition.value());
  std::vector<int64_t> kept;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  Give(Gathered(from, Ints(node, {static_cast<int64_t>(kept.size())}, kept), axis));
}

// Rows of a matrix in the order of their first appearance, or sorted.
struct Distinct {
  std::vector<int64_t> first, inverse, counts;
};

Distinct FindDistinct(const std::vector<double>& elements, int64_t rows, bool sorted) {
  const int64_t width = rows == 0 ? 0 : static_cast<int64_t>(elements.size()) / rows;
  std::map<std::vector<double>, int64_t> groups;
  Distinct found;
  std::vector<int64_t> group_of(rows);
  std::vector<std::vector<double>> keys;
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<double> key(elements.begin() + r * width, elements.begin() + (r + 1) * width);
    const auto [entry, fresh] = groups.try_emplace(key, static_cast<int64_t>(keys.size()));
    if (fresh) {
      keys.push_back(key);
      found.first.push_back(r);
      found.counts.push_back(0);
    }
    group_of[r] = entry->second;
    ++found.counts[entry->second];
  }
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  if (sorted) {
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  }
  Distinct ordered;
  std::vector<int64_t> rank(keys.size());
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<int64_t>(i);
    ordered.first.push_back(found.first[order[i]]);
    ordered.counts.push_back(found.counts[order[i]]);
  }
  for (int64_t group : group_of) ordered.inverse.push_back(rank[group]);
  return ordered;
}

// turned: from, with the slices that are compared along its first dimension.
void ImportComputedUnique(OnnxNode& node, const Expr& from, int64_t axis, const Expr& turned) {
  const int64_t rows = turned.dim(0);
  node.CheckSupported(rows > 0, "input ", ToString(from.shape()), " has nothing along axis ", axis);
  const Expr matrix = Reshaped(turned, {rows, NumElements(turned.shape()) / rows});
  const Expr list =
      Listed(node, Unique{.sorted = node.Int("sorted", 1) != 0}, {matrix.id()}, {1 + 3 * rows});
  const Expr count = CountOf(list), first = Counted(list, 1, rows, count);
  Give(Gathered(from, first, axis));
  if (node.OutputUsed(1)) Give(first, 1);
  if (node.OutputUsed(2)) Give(Part(list, 0, 1 + rows, 1 + 2 * rows), 2);
  if (node.OutputUsed(3)) Give(Counted(list, 1 + 2 * rows, rows, count), 3);
}

void ImportUnique(OnnxNode& node) {
  const Expr x = In(node, 0);
  const bool flat = !node.HasAttribute("axis");
  const Expr from = flat ? Flat(x) : x;
  const int64_t axis = flat ? 0 : node.Axis(node.Int("axis", 0), x.rank());
  std::vector<int64_t> perm(from.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
  if (!x.is_constant()) return ImportComputedUnique(node, from, axis, Transposed(from, perm));
  const Distinct found = FindDistinct(Doubles(Transposed(from, perm).value()), from.dim(axis),
                                      node.Int("sorted", 1) != 0);
  const auto list = [&](const std::vector<int64_t>& entries) {
    return Ints(node, {static_cast<int64_t>(entries.size())}, entries);
  };
  Give(Gathered(from, list(found.first), axis));
  if (node.OutputUsed(1)) Give(list(found.first), 1);
  if (node.OutputUsed(2)) Give(list(found.inverse), 2);
  if (node.OutputUsed(3)) Give(list(found.counts), 3);
}

void ImportNonMaxSuppression(OnnxNode& node) {
  const Expr boxes = FloatIn(node, 0), scores = FloatIn(node, 1);
  node.Check(boxes.rank() == 3 && scores.rank() == 3 && boxes.dim(2) == 4 &&
                 boxes.dim(0) == scores.dim(0) && boxes.dim(1) == scores.dim(2),
             "boxes ", ToString(boxes.shape()), " and scores ", ToString(scores.shape()),
             " do not fit, expected [N, B, 4] and [N, C, B]");
  const double most = NumberIn(node, 2, "max_output_boxes_per_class", 0.0);
  NonMaxSuppression op;
  op.most = static_cast<int64_t>(std::clamp(most, 0.0, static_cast<double>(boxes.dim(1))));
  op.iou_threshold = static_cast<float>(NumberIn(node, 3, "iou_threshold", 0.0));
  op.score_threshold = static_cast<float>(NumberIn(node, 4, "score_threshold", 0.0));
  op.has_score_threshold = node.HasInput(4);
  op.center_point_box = node.Int("center_point_box", 0) != 0;
  node.Check(op.iou_threshold >= 0.0f && op.iou_threshold <= 1.0f, "iou_threshold is ",
             op.iou_threshold, ", expected 0 to 1");
  const int64_t rows = scores.dim(0) * scores.dim(1) * op.most;
  const Expr list = Listed(node, op, {boxes.id(), scores.id()}, {1 + rows, 3});
  Give(Counted(list, 1, rows, CountOf(list)));
}

constexpr ImportEntry kSelectImports[] = {{"NonZero", ImportNonZero},
                                          {"Compress", ImportCompress},
                                          {"Unique", ImportUnique},
                                          {"NonMaxSuppression", ImportNonMaxSuppression}};

}  // namespace

std::span<const ImportEntry> SelectImports() { return kSelectImports; }

}  // namespace rshift
