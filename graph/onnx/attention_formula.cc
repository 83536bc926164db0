#include <algorithm>
#include <limits>

#include "graph/onnx/attention.h"

namespace rshift {
namespace {

Expr MinusInfinity(OnnxNode& node) {
  return Number(node, -std::numeric_limits<double>::infinity());
}

// Rows of which nothing may be seen, as bool [.., queries, 1]; none when that cannot be.
std::optional<Expr> BlindRows(const AttentionMask& mask, OnnxNode& node) {
  if (!mask.allowed && !mask.added) return std::nullopt;
  const Expr nothing = MinusInfinity(node);
  const Expr added = mask.added ? *mask.added : Number(node, 0.0);
  const Expr bias = mask.allowed ? Select(*mask.allowed, added, nothing) : added;
  const Expr blind = Equal(Reduced(ReduceOp::kMax, bias, {-1}), nothing);
  if (!blind.is_constant()) return blind;
  const auto rows = IntElements(blind.value());
  return std::count(rows.begin(), rows.end(), 0) == static_cast<int64_t>(rows.size())
             ? std::nullopt
             : std::optional<Expr>(blind);
}

}  // namespace

void AttentionMask::Require(const Expr& seen) { allowed = allowed ? And(*allowed, seen) : seen; }

void AttentionMask::Add(const Expr& addend) { added = added ? *added + addend : addend; }

Expr HeadProduct(const Expr& a, const Expr& b) {
  const int64_t heads = a.dim(1), shared = b.dim(1);
  if (heads == shared) return Product(a, b);
  const int64_t rows = a.dim(2);
  const Expr grouped = Reshaped(a, {a.dim(0), shared, heads / shared * rows, a.dim(3)});
  return Reshaped(Product(grouped, b), {a.dim(0), heads, rows, b.dim(3)});
}

AttentionResult Attend(const Expr& q, const Expr& k, const Expr& v, const AttentionMask& mask,
                       float scale, float softcap, bool guard) {
  OnnxNode& node = q.node();
  node.Check(k.dim(1) == v.dim(1) && k.dim(1) > 0 && q.dim(1) % k.dim(1) == 0, "query has ",
             q.dim(1), " heads, key ", k.dim(1), " and value ", v.dim(1),
             ", expected the same number of key and value heads, a divisor of the query's");
  node.Check(k.dim(2) == v.dim(2), "key has ", k.dim(2), " rows and value ", v.dim(2),
             ", expected equal counts");
  const Expr raw = HeadProduct(q * scale, Swapped(k));
  const Expr capped = softcap == 0.0f ? raw : Tanh(raw / softcap) * softcap;
  const Expr summed = mask.added ? capped + *mask.added : capped;
  const Expr biased = mask.allowed ? Select(*mask.allowed, summed, MinusInfinity(node)) : summed;
  node.Check(biased.shape() == raw.shape(), "the mask does not broadcast to the scores ",
             ToString(raw.shape()), " [batch, heads, queries, keys]");
  Expr weights = SoftmaxOf(biased, -1);
  const auto blind = guard ? BlindRows(mask, node) : std::nullopt;
  if (blind) weights = Select(*blind, Number(node, 0.0), weights);
  return {raw, capped, biased, weights, HeadProduct(weights, v)};
}

Expr SplitHeads(const Expr& x, int64_t heads) {
  x.node().Check(heads >= 1 && x.rank() == 3 && x.dim(2) % heads == 0, "input of shape ",
                 ToString(x.shape()), " cannot be split into ", heads,
                 " heads, expected [batch, rows, a multiple of them]");
  return Transposed(Reshaped(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

Expr MergeHeads(const Expr& x) {
  return Reshaped(Transposed(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Expr QueryPositions(OnnxNode& node, int64_t count) { return Iota(node, count, 2, 0); }
Expr KeyPositions(OnnxNode& node, int64_t count) { return Iota(node, count, 2, 1); }
Expr NotAfter(const Expr& a, const Expr& b) { return Not(Less(b, a)); }

}  // namespace rshift
