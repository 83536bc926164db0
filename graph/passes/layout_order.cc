#include "graph/passes/layout_order.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "isa/max_rank.h"

namespace rshift {
namespace {

// Whether one Transpose can move it.
bool FitsRank(const ElementOrder& order) { return order.dims.size() <= size_t{kMaxRank}; }

Shape WithoutOnes(const Shape& dims) {
  Shape kept;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(kept),
               [](int64_t d) { return d != 1; });
  return kept;
}

// 1, last dim, last two dims, ..., all.
std::vector<int64_t> SuffixProducts(const Shape& dims) {
  std::vector<int64_t> products = {1};
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
    products.push_back(products.back() * *dim);
  return products;
}

// How many of the fine dims make up each coarse dim.
std::vector<size_t> Parts(const Shape& coarse, const Shape& fine) {
  std::vector<size_t> parts;
  size_t next = 0;
  for (int64_t dim : coarse) {
    size_t count = 0;
    for (int64_t product = 1; product != dim; ++count) product *= fine[next + count];
    parts.push_back(count);
    next += count;
  }
  return parts;
}

}  // namespace

std::vector<Perm> Pieces(const Shape& coarse, const Shape& fine) {
  std::vector<Perm> pieces;
  int64_t next = 0;
  for (size_t count : Parts(coarse, fine)) {
    Perm piece(count);
    std::iota(piece.begin(), piece.end(), next);
    next += static_cast<int64_t>(count);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Perm Inverse(const Perm& perm) {
  Perm inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<int64_t>(i);
  return inverse;
}

std::vector<int64_t> Permute(const std::vector<int64_t>& items, const Perm& perm) {
  std::vector<int64_t> result;
  for (int64_t i : perm) result.push_back(items[i]);
  return result;
}

ElementOrder Normalize(const Shape& dims, const Perm& perm) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return {};
  // Runs of dims that follow each other both in ONNX order and in memory become one; dims of 1 join
  // freely.
  std::vector<int64_t> memory;
  for (int64_t p : perm) {
    if (dims[p] != 1) memory.push_back(p);
  }
  std::vector<int64_t> next(dims.size() + 1, -1);  // the next dim that is not 1
  for (int64_t d = static_cast<int64_t>(dims.size()) - 1, after = -1; d >= 0; --d) {
    next[d] = after;
    if (dims[d] != 1) after = d;
  }
  std::vector<std::pair<int64_t, int64_t>> runs;  // first dim, elements; in memory order
  for (size_t i = 0; i < memory.size(); ++i) {
    if (i > 0 && next[memory[i - 1]] == memory[i]) {
      runs.back().second *= dims[memory[i]];
    } else {
      runs.emplace_back(memory[i], dims[memory[i]]);
    }
  }
  Perm by_dim(runs.size());
  std::iota(by_dim.begin(), by_dim.end(), 0);
  std::sort(by_dim.begin(), by_dim.end(),
            [&](int64_t a, int64_t b) { return runs[a].first < runs[b].first; });
  ElementOrder order;
  for (int64_t run : by_dim) order.dims.push_back(runs[run].second);
  order.perm = Inverse(by_dim);
  return order;
}

std::optional<Shape> CommonDims(const Shape& a, const Shape& b) {
  const std::vector<int64_t> pa = SuffixProducts(WithoutOnes(a));
  const std::vector<int64_t> pb = SuffixProducts(WithoutOnes(b));
  std::vector<int64_t> cuts;
  std::set_union(pa.begin(), pa.end(), pb.begin(), pb.end(), std::back_inserter(cuts));
  Shape dims;
  for (size_t i = cuts.size() - 1; i > 0; --i) {
    if (cuts[i] % cuts[i - 1] != 0) return std::nullopt;
    dims.push_back(cuts[i] / cuts[i - 1]);
  }
  return dims;
}

ElementOrder Split(const ElementOrder& order, const Shape& dims) {
  const std::vector<Perm> pieces = Pieces(order.dims, dims);
  ElementOrder fine{dims, {}};
  for (int64_t p : order.perm)
    fine.perm.insert(fine.perm.end(), pieces[p].begin(), pieces[p].end());
  return fine;
}

std::optional<ElementOrder> AfterTranspose(const ElementOrder& order, const Shape& shape,
                                           const Perm& perm) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return ElementOrder{};
  const std::optional<Shape> common = CommonDims(order.dims, shape);
  if (!common) return std::nullopt;
  const ElementOrder fine = Split(order, *common);
  const std::vector<Perm> pieces = Pieces(shape, *common);
  Perm renamed;  // the fine dims in the order of the transposed tensor
  for (int64_t p : perm) renamed.insert(renamed.end(), pieces[p].begin(), pieces[p].end());
  ElementOrder after = Normalize(Permute(fine.dims, renamed), Permute(Inverse(renamed), fine.perm));
  if (!FitsRank(after) && !order.IsPlain()) return std::nullopt;
  return after;
}

std::optional<ElementOrder> MovementBetween(const ElementOrder& from, const ElementOrder& to) {
  const std::optional<Shape> common = CommonDims(from.dims, to.dims);
  if (!common) return std::nullopt;
  const ElementOrder source = Split(from, *common);
  const ElementOrder target = Split(to, *common);
  ElementOrder movement =
      Normalize(Permute(source.dims, source.perm), Permute(Inverse(source.perm), target.perm));
  if (!FitsRank(movement) && !from.IsPlain() && !to.IsPlain()) return std::nullopt;
  return movement;
}

std::optional<Perm> AsTranspose(const ElementOrder& movement, const Shape& shape,
                                const Shape& result) {
  const Shape dims = WithoutOnes(shape);
  const std::optional<Shape> common = CommonDims(movement.dims, dims);
  if (shape.size() != result.size() || common != dims) return std::nullopt;
  const Perm moved = Split(movement, dims).perm;
  Perm large, ones;  // dimensions of `shape`
  for (size_t d = 0; d < shape.size(); ++d)
    (shape[d] == 1 ? ones : large).push_back(static_cast<int64_t>(d));
  Perm perm;
  size_t next_large = 0, next_one = 0;
  for (int64_t dim : result) {
    if (dim == 1) {
      if (next_one == ones.size()) return std::nullopt;
      perm.push_back(ones[next_one++]);
    } else {
      if (next_large == large.size() || shape[large[moved[next_large]]] != dim) return std::nullopt;
      perm.push_back(large[moved[next_large++]]);
    }
  }
  return perm;
}

std::vector<uint8_t> PermuteBytes(const std::vector<uint8_t>& bytes, size_t size,
                                  const Shape& shape, const Perm& perm) {
  // Dims that stay together move as one; what stays last is copied in one piece.
  ElementOrder order = Normalize(shape, perm);
  if (order.IsPlain()) return bytes;
  if (order.perm.back() + 1 == static_cast<int64_t>(order.perm.size())) {
    size *= static_cast<size_t>(order.dims.back());
    order.dims.pop_back();
    order.perm.pop_back();
  }
  std::vector<uint8_t> result(bytes.size());
  const Shape dims = Permute(order.dims, order.perm);
  const Shape strides = Permute(Strides(order.dims), order.perm);
  std::vector<int64_t> index(dims.size(), 0);
  int64_t source = 0;
  for (size_t at = 0; at < result.size(); at += size) {
    std::memcpy(&result[at], &bytes[source * size], size);
    for (size_t d = dims.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < dims[d]) break;
      source -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace rshift
