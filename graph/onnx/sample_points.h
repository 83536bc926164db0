// Values between the elements of an image, at points that the data give: gathered elements times
// weights.
#ifndef RSHIFT_GRAPH_ONNX_SAMPLE_POINTS_H_
#define RSHIFT_GRAPH_ONNX_SAMPLE_POINTS_H_

#include <functional>
#include <optional>
#include <vector>

#include "graph/onnx/expr.h"

namespace rshift {

// One element that has a part in each point: where it lies and how much of it, both [M, P].
struct Tap {
  Expr row;     // s64, of rows of channels
  Expr weight;  // f32
};

// What an element along one dimension is at an index (f32, whole) that may lie outside: the index
// to read and, where `weight` is there, what to multiply it by.
struct Edge {
  Expr index;
  std::optional<Expr> weight;
};
using EdgeRule = std::function<Edge(const Expr& index, int64_t size)>;
Edge ZeroOutside(const Expr& index, int64_t size);
Edge NearestInside(const Expr& index, int64_t size);

// points: for each dimension of the image the coordinates, f32 [M, P], as indices. sizes: of those
// dimensions. first: the row of each image's first element, s64 [M, 1] or [1, 1].
// Two neighbours in each dimension.
std::vector<Tap> LinearTaps(const std::vector<Expr>& points, const Shape& sizes, const Expr& first,
                            const EdgeRule& edge);
// Four of them, with coefficient -0.75.
std::vector<Tap> CubicTaps(const std::vector<Expr>& points, const Shape& sizes, const Expr& first,
                           const EdgeRule& edge);
// The element at each point, which is a whole number.
std::vector<Tap> NearestTaps(const std::vector<Expr>& points, const Shape& sizes, const Expr& first,
                             const EdgeRule& edge);

// x [N, C, S...] as rows of channels: [N * S, C].
Expr RowsOfChannels(const Expr& x);
// For each tap [M, P, C]: the element times its weight.
std::vector<Expr> Weighted(const Expr& rows, const std::vector<Tap>& taps);
// Their sum, a product of matrices: [M, P, C].
Expr WeightedSum(const Expr& rows, const std::vector<Tap>& taps);
// As [M, C, P].
Expr Sampled(const Expr& rows, const std::vector<Tap>& taps);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_SAMPLE_POINTS_H_
