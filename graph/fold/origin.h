// What happens to the integers of a quantized constant when its elements are moved.
#ifndef RSHIFT_GRAPH_FOLD_ORIGIN_H_
#define RSHIFT_GRAPH_FOLD_ORIGIN_H_

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// Moves elements of `size` bytes: takes a constant's bytes, gives them in the new order.
using MoveBytes =
    std::function<std::vector<uint8_t>(const std::vector<uint8_t>& bytes, size_t size)>;

// The origin of a constant of shape `to` whose elements are those of `from` (which may have no
// origin: null), moved by `move`. Null when scales of single channels would no longer lie along one
// dimension.
std::shared_ptr<const QuantizedOrigin> MoveOrigin(const Value& from, const Shape& to,
                                                  const MoveBytes& move);

// The same for a node that was executed on constants: Reshape, Identity and Transpose keep the
// origin, every other operator gives null.
std::shared_ptr<const QuantizedOrigin> OriginAfter(const Op& op, const Value& from,
                                                   const Shape& to);

// The origin of the constant whose elements along `axis` are those of `from` times a factor each:
// the scales change, for a factor below 0 the integers' signs. Null without an origin, and where no
// scale and integers of its type hold the product: a factor 0, infinite scales, -(-128), u8.
std::shared_ptr<const QuantizedOrigin> ScaleOrigin(const Value& from, int64_t axis,
                                                   std::span<const double> factors);
// The reals of bytes: (q - zero) * scale, exact difference, one rounding.
std::shared_ptr<const ConstantData> RealsOf(const QuantizedOrigin& origin, const Shape& shape);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_FOLD_ORIGIN_H_
