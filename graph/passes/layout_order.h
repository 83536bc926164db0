// How the elements of a tensor lie in memory, whatever its shape. The linear ONNX index is split
// into `dims`, outermost first; memory holds dims[perm[0]] outermost. [N,C,H,W] stored NHWC is
//   dims = {N, C, H*W}, perm = {0, 2, 1}
// and stays that when the tensor is reshaped to [N, C*H*W]: a Reshape never moves anything, a
// Transpose only renames. Orders are kept normalized (no dims of 1, nothing mergeable), so that
// equal orders compare equal.
#ifndef RSHIFT_GRAPH_PASSES_LAYOUT_ORDER_H_
#define RSHIFT_GRAPH_PASSES_LAYOUT_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/shape.h"

namespace rshift {

using Perm = std::vector<int64_t>;

struct ElementOrder {
  Shape dims;
  Perm perm;
  bool IsPlain() const { return dims.size() <= 1; }
  friend bool operator==(const ElementOrder&, const ElementOrder&) = default;
};

inline const Perm kNhwcPerm = {0, 2, 3, 1};

Perm Inverse(const Perm& perm);
// items[perm[0]], items[perm[1]], ...
std::vector<int64_t> Permute(const std::vector<int64_t>& items, const Perm& perm);

// The order of a tensor of ONNX shape `dims` whose memory dimension i is ONNX dimension perm[i].
// Tensors without elements count as plain.
ElementOrder Normalize(const Shape& dims, const Perm& perm);

// The coarsest split of the linear index that both splits can be read from; nothing when there is
// none ([4,6] and [6,4]).
std::optional<Shape> CommonDims(const Shape& a, const Shape& b);
// The same order written over the finer `dims` (from CommonDims with order.dims; not normalized).
ElementOrder Split(const ElementOrder& order, const Shape& dims);

// For each dim of `coarse` the indices of the dims of `fine` (a split of it) that make it up.
std::vector<Perm> Pieces(const Shape& coarse, const Shape& fine);

// The order after an ONNX Transpose of a tensor of `shape`; nothing when the order cuts across a
// dimension, or would have more than kMaxRank dims (go through plain).
std::optional<ElementOrder> AfterTranspose(const ElementOrder& order, const Shape& shape,
                                           const Perm& perm);

// What moving from one order to the other does to memory: dims in `from`'s memory order and the
// Transpose of them. Nothing when the two have no common split, or one of more than kMaxRank dims
// (go through plain).
std::optional<ElementOrder> MovementBetween(const ElementOrder& from, const ElementOrder& to);

// `movement` as the perm of one Transpose node from `shape` to `result`, when it is one.
std::optional<Perm> AsTranspose(const ElementOrder& movement, const Shape& shape,
                                const Shape& result);

// Elements of `size` bytes; `bytes` holds shape row-major, the result holds it permuted.
std::vector<uint8_t> PermuteBytes(const std::vector<uint8_t>& bytes, size_t size,
                                  const Shape& shape, const Perm& perm);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_LAYOUT_ORDER_H_
