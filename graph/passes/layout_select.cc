// [N, C, H, W] -> Reshape, Transpose -> Gather of half 0 or 1: how ShuffleNet v2 and its kin split
// channels. In NHWC memory the chosen elements are every second channel, or one half of them: a
// Slice.
#include <numeric>

#include "graph/passes/layout_ops.h"

namespace rshift {
namespace {

int64_t ElementsFrom(const Shape& dims, size_t first) {
  return std::accumulate(dims.begin() + static_cast<int64_t>(first), dims.end(), int64_t{1},
                         std::multiplies<>());
}

std::optional<int64_t> ConstantIndex(const LayoutBuilder& b, ValueId id, int64_t size) {
  const Value& value = b.old().value(id);
  if (!value.is_constant() || !value.shape.empty()) return std::nullopt;
  if (value.dtype != DType::kS64 && value.dtype != DType::kS32) return std::nullopt;
  const int64_t index = value.dtype == DType::kS64 ? value.constant->As<int64_t>()[0]
                                                   : value.constant->As<int32_t>()[0];
  return index < 0 ? index + size : index;
}

struct Cut {
  Slice slice;
  Shape result;
};

// Element `index` of the `size` that a dim with `inner` elements behind it has, out of memory of
// `shape`, when that is every size-th element of one memory dimension or one stretch of it.
std::optional<Cut> CutMemory(const Shape& shape, int64_t size, int64_t inner, int64_t index) {
  Cut cut{{Shape(shape.size(), 0), Shape(shape.size(), 1)}, shape};
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t behind = ElementsFrom(shape, d + 1);
    if (behind == inner && shape[d] % size == 0) {
      cut.slice.starts[d] = index;
      cut.slice.steps[d] = size;
    } else if (behind * shape[d] == size * inner && inner % behind == 0) {
      cut.slice.starts[d] = index * (inner / behind);
    } else {
      continue;
    }
    cut.result[d] = shape[d] / size;
    return cut;
  }
  return std::nullopt;
}

// `order` (over fine dims) without fine dim `gone`.
ElementOrder Without(const ElementOrder& order, int64_t gone) {
  Shape dims = order.dims;
  dims.erase(dims.begin() + gone);
  Perm perm;
  for (int64_t p : order.perm) {
    if (p != gone) perm.push_back(p - (p > gone ? 1 : 0));
  }
  return Normalize(dims, perm);
}

}  // namespace

bool AddSelection(LayoutBuilder& b, const Node& node) {
  const auto* gather = std::get_if<Gather>(&node.op);
  if (gather == nullptr || b.IsPlainFree(node.inputs[0])) return false;
  const Form native = b.Native(node.inputs[0]);
  const Value source = b.graph().value(native.id);
  const Shape& shape = b.OldShape(node.inputs[0]);
  const Shape& result = b.OldShape(node.outputs[0]);
  if (source.layout != Layout::kNhwc || result.size() != 4 || NumElements(result) == 0)
    return false;
  const std::optional<Shape> common = CommonDims(native.order.dims, shape);
  const std::optional<int64_t> index = ConstantIndex(b, node.inputs[1], shape[gather->axis]);
  if (!common || !index) return false;
  const Perm pieces = Pieces(shape, *common)[gather->axis];
  if (pieces.size() != 1) return false;

  const ElementOrder fine = Split(native.order, *common);
  const Shape memory = Permute(fine.dims, fine.perm);
  const size_t position = static_cast<size_t>(Inverse(fine.perm)[pieces[0]]);
  const std::optional<Cut> cut =
      CutMemory(source.shape, memory[position], ElementsFrom(memory, position + 1), *index);
  if (!cut || cut->result != Permute(result, kNhwcPerm)) return false;
  if (Without(fine, pieces[0]) != Normalize(result, kNhwcPerm)) return false;
  b.AddNode(node.name, cut->slice, {native.id}, b.Define(node.outputs[0], kNhwcPerm));
  return true;
}

}  // namespace rshift
