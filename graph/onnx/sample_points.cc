#include "graph/onnx/sample_points.h"

#include <utility>

namespace rshift {
namespace {

// An element along one dimension and its part in the point: f32 [M, P].
struct Neighbour {
  Expr index;
  std::optional<Expr> weight;
};

std::optional<Expr> Times(const std::optional<Expr>& a, const std::optional<Expr>& b) {
  if (!a) return b;
  return b ? *a * *b : *a;
}

// Every combination of one neighbour from each dimension.
std::vector<Tap> Combined(const std::vector<std::vector<Neighbour>>& dims, const Shape& sizes,
                          const Expr& first, const EdgeRule& edge) {
  struct Partial {
    Expr row;
    std::optional<Expr> weight;
  };
  std::vector<Partial> all{{first, std::nullopt}};
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= sizes[d]) {
    std::vector<Partial> next;
    for (const Neighbour& neighbour : dims[d]) {
      const Edge inside = edge(neighbour.index, sizes[d]);
      const Expr row = CastTo(inside.index, DType::kS64) * static_cast<double>(stride);
      const auto weight = Times(neighbour.weight, inside.weight);
      for (const Partial& before : all) {
        next.push_back({before.row + row, Times(before.weight, weight)});
      }
    }
    all = std::move(next);
  }
  std::vector<Tap> taps;
  taps.reserve(all.size());
  for (const Partial& partial : all) {
    taps.push_back({partial.row, partial.weight ? *partial.weight : Number(first.node(), 1.0)});
  }
  return taps;
}

// Weights of the elements 1, 2 away at most: Keys' cubic, t in [0, 1) behind the second of four.
std::vector<Neighbour> CubicNeighbours(const Expr& at) {
  constexpr double kA = -0.75;
  const Expr below = Apply(UnaryOp::kFloor, at), t = at - below;
  const auto near = [&](const Expr& x) { return ((kA + 2) * x - (kA + 3)) * Square(x) + 1.0; };
  const auto far = [&](const Expr& x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {{below - 1.0, far(t + 1.0)},
          {below, near(t)},
          {below + 1.0, near(1.0 - t)},
          {below + 2.0, far(2.0 - t)}};
}

}  // namespace

Edge NearestInside(const Expr& index, int64_t size) {
  return {Clipped(index, 0.0f, static_cast<float>(size - 1)), std::nullopt};
}

Edge ZeroOutside(const Expr& index, int64_t size) {
  const Expr clipped = NearestInside(index, size).index;
  return {clipped, CastTo(Equal(clipped, index), DType::kF32)};
}

std::vector<Tap> LinearTaps(const std::vector<Expr>& points, const Shape& sizes, const Expr& first,
                            const EdgeRule& edge) {
  std::vector<std::vector<Neighbour>> dims;
  for (const Expr& at : points) {
    const Expr below = Apply(UnaryOp::kFloor, at), t = at - below;
    dims.push_back({{below, 1.0 - t}, {below + 1.0, t}});
  }
  return Combined(dims, sizes, first, edge);
}

std::vector<Tap> CubicTaps(const std::vector<Expr>& points, const Shape& sizes, const Expr& first,
                           const EdgeRule& edge) {
  std::vector<std::vector<Neighbour>> dims;
  dims.reserve(points.size());
  for (const Expr& at : points) dims.push_back(CubicNeighbours(at));
  return Combined(dims, sizes, first, edge);
}

std::vector<Tap> NearestTaps(const std::vector<Expr>& points, const Shape& sizes, const Expr& first,
                             const EdgeRule& edge) {
  std::vector<std::vector<Neighbour>> dims;
  dims.reserve(points.size());
  for (const Expr& at : points) dims.push_back({{at, std::nullopt}});
  return Combined(dims, sizes, first, edge);
}

Expr RowsOfChannels(const Expr& x) {
  const Shape s = x.shape();
  const int64_t size = NumElements(Shape(s.begin() + 2, s.end()));
  return Reshaped(Transposed(Reshaped(x, {s[0], s[1], size}), {0, 2, 1}), {s[0] * size, s[1]});
}

std::vector<Expr> Weighted(const Expr& rows, const std::vector<Tap>& taps) {
  std::vector<Expr> parts;
  for (const Tap& tap : taps) {
    const Expr read = Gathered(rows, tap.row, 0);
    const bool plain = tap.weight.shape().empty();
    parts.push_back(plain ? read : read * Unsqueezed(tap.weight, -1));
  }
  return parts;
}

Expr WeightedSum(const Expr& rows, const std::vector<Tap>& taps) {
  if (taps.size() == 1) return Weighted(rows, taps)[0];
  std::vector<Expr> at, weights;
  for (const Tap& tap : taps) {
    at.push_back(tap.row);
    weights.push_back(tap.weight);
  }
  const Expr read = Gathered(rows, Stacked(at, 2), 0);  // [M, P, T, C]
  const Shape s = read.shape();
  const Expr sum = Product(Unsqueezed(Stacked(weights, 2), 2), read);
  return Reshaped(sum, {s[0], s[1], s[3]});
}

Expr Sampled(const Expr& rows, const std::vector<Tap>& taps) {
  return Transposed(WeightedSum(rows, taps), {0, 2, 1});
}

}  // namespace rshift
