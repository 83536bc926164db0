// Scaled dot product attention as a formula, shared by the operators that are one.
#ifndef RSHIFT_GRAPH_ONNX_ATTENTION_H_
#define RSHIFT_GRAPH_ONNX_ATTENTION_H_

#include <optional>

#include "graph/onnx/expr.h"

namespace rshift {

// Which keys a query sees, and what is added to their scores. Both broadcast to
// [batch, heads, queries, keys].
struct AttentionMask {
  std::optional<Expr> allowed;  // bool
  std::optional<Expr> added;    // f32
  // `seen` as a further condition.
  void Require(const Expr& seen);
  void Add(const Expr& addend);
};

struct AttentionResult {
  Expr raw;      // q * k^T * scale
  Expr capped;   // after the softcap
  Expr biased;   // after the mask
  Expr weights;  // after the softmax
  Expr y;        // [batch, heads, queries, head size of v]
};

// Products of each head of b with its consecutive heads of a: [batch, heads of a, rows of a,
// columns of b].
Expr HeadProduct(const Expr& a, const Expr& b);

// q: [batch, heads, queries, size], k and v: [batch, heads or a divisor of it, keys, size]: each
// of their heads serves as many consecutive heads of q. softcap 0: none. Rows without a key that
// may be seen are 0 where `guard` is set.
AttentionResult Attend(const Expr& q, const Expr& k, const Expr& v, const AttentionMask& mask,
                       float scale, float softcap, bool guard);

// [batch, rows, heads * size] -> [batch, heads, rows, size]
Expr SplitHeads(const Expr& x, int64_t heads);
// The inverse.
Expr MergeHeads(const Expr& x);

// Positions 0 ... count - 1 of the queries ([count, 1]) and of the keys ([1, count]), s64.
Expr QueryPositions(OnnxNode& node, int64_t count);
Expr KeyPositions(OnnxNode& node, int64_t count);
// a <= b
Expr NotAfter(const Expr& a, const Expr& b);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_ATTENTION_H_
