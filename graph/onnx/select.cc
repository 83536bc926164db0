// Results whose size depends on what is in a tensor: of constants only.
#include <algorithm>
#include <map>
#include <numeric>

#include "graph/onnx/elements.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Throws kUnsupported unless x is constant.
void RequireConstant(const OnnxNode& node, const Expr& x, const char* role) {
  node.CheckSupported(x.is_constant(), role, " ", Quoted(x.value().name),
                      " is computed from the model's input, which decides the size of the result; "
                      "expected a constant");
}

std::vector<double> Doubles(const Value& constant) {
  if (constant.dtype == DType::kF32) {
    const auto floats = FloatElements(constant);
    return {floats.begin(), floats.end()};
  }
  const auto ints = IntElements(constant);
  return {ints.begin(), ints.end()};
}

// [rank, count]: the places of all elements that are not 0.
void ImportNonZero(OnnxNode& node) {
  const Expr x = In(node, 0);
  RequireConstant(node, x, "input");
  const std::vector<double> elements = Doubles(x.value());
  const Shape shape = x.shape(), strides = Strides(shape);
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
  RequireConstant(node, condition, "condition");
  node.Check(condition.type() == DType::kBool && condition.rank() == 1, "condition is ",
             Name(condition.type()), " ", ToString(condition.shape()), ", expected a list of bool");
  const bool flat = !node.HasAttribute("axis");
  const Expr from = flat ? Flat(x) : x;
  const int64_t axis = flat ? 0 : node.Axis(node.Int("axis", 0), x.rank());
  const auto flags = IntElements(condition.value());
  node.Check(static_cast<int64_t>(flags.size()) <= from.dim(axis), "condition has ", flags.size(),
             " entries for ", from.dim(axis));
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

void ImportUnique(OnnxNode& node) {
  const Expr x = In(node, 0);
  RequireConstant(node, x, "input");
  const bool flat = !node.HasAttribute("axis");
  const Expr from = flat ? Flat(x) : x;
  const int64_t axis = flat ? 0 : node.Axis(node.Int("axis", 0), x.rank());
  std::vector<int64_t> perm(from.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
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

constexpr ImportEntry kImports[] = {
    {"NonZero", ImportNonZero}, {"Compress", ImportCompress}, {"Unique", ImportUnique}};

}  // namespace

std::span<const ImportEntry> SelectImports() { return kImports; }

}  // namespace rshift
