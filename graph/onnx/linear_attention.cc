// LinearAttention of opset 27: a matrix for each head that every row of keys and values changes and
// every query reads.
#include <cmath>
#include <optional>

#include "graph/onnx/attention.h"
#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

struct Recurrence {
  Expr q;                      // [batch, heads, queries of each * rows, size], scaled
  Expr k, v;                   // [batch, heads, rows, size]
  std::optional<Expr> forget;  // what is left of the state, [batch, heads, rows, 1 or size of k]
  std::optional<Expr> beta;    // how far a value is moved, [batch, heads or 1, rows, 1]
  Expr state;                  // [batch, heads, size of k, size of v]
};

// [batch, rows, heads * size] in heads; `heads` or 1 columns are one number for each.
Expr ReadHeadsOf(OnnxNode& node, int i, int64_t heads, int64_t batch, int64_t rows) {
  const Expr x = FloatIn(node, i);
  node.Check(x.rank() == 3 && x.dim(0) == batch && x.dim(1) == rows, "input ",
             Quoted(x.value().name), " has the shape ", ToString(x.shape()), ", expected [", batch,
             ",", rows, ", columns]");
  return SplitHeads(x, heads);
}

// Row t of all heads, as [batch, heads, 1, columns].
Expr RowAt(const Expr& x, int64_t t) { return At(x, 2, t); }

// Without a rule that changes the state by what it holds, all rows at once: each query sees the
// state before, and the keys up to its own.
Expr SumOfRows(const Recurrence& r, int64_t group, Expr* state) {
  OnnxNode& node = r.k.node();
  const int64_t rows = r.k.dim(2);
  CheckConstantSize(node, NumElements({rows, rows}));
  std::vector<bool> seen(rows * rows);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) seen[i * rows + j] = true;
  }
  const Expr scores = Product(r.q, Swapped(r.k));
  const Expr grouped = Reshaped(scores, {r.k.dim(0), r.k.dim(1), group, rows, rows});
  const Expr masked = Select(Bools(node, {rows, rows}, seen), grouped, Number(node, 0.0));
  const Expr fresh = Product(Reshaped(masked, scores.shape()), r.v);
  const Expr known = Product(r.q, r.state);
  *state = r.state + Product(Swapped(r.k), r.v);
  return known + fresh;
}

// Row after row.
Expr Unrolled(const Recurrence& r, int64_t group, Expr* state) {
  const int64_t rows = r.k.dim(2);
  const Expr queries =
      Reshaped(r.q, {r.k.dim(0), r.k.dim(1), group, rows, r.k.dim(3)});  // group before rows
  std::vector<Expr> found;
  *state = r.state;
  for (int64_t t = 0; t < rows; ++t) {
    const Expr key = RowAt(r.k, t);
    Expr value = RowAt(r.v, t);
    if (r.forget) *state = *state * Swapped(RowAt(*r.forget, t));
    if (r.beta) value = RowAt(*r.beta, t) * (value - Product(key, *state));
    *state = *state + Swapped(key) * value;
    const Shape row{r.k.dim(0), r.k.dim(1), group, r.k.dim(3)};
    found.push_back(Product(Reshaped(At(queries, 3, t), row), *state));
  }
  const Expr all = Stacked(found, 3);  // [batch, heads, group, rows, size of v]
  return Reshaped(all, {r.k.dim(0), r.k.dim(1), group * rows, r.v.dim(3)});
}

void CheckGiven(const OnnxNode& node, int i, const char* role, bool expected,
                const std::string& rule) {
  node.Check(node.HasInput(i) == expected, "update_rule ", Quoted(rule),
             expected ? " needs the input " : " has no input ", role);
}

void ImportLinearAttention(OnnxNode& node) {
  const std::string rule = node.String("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  node.Check(gated || delta || rule == "linear", "attribute 'update_rule' is ", Quoted(rule),
             ", expected linear, gated, delta or gated_delta");
  CheckGiven(node, 4, "decay", gated, rule);
  CheckGiven(node, 5, "beta", delta, rule);
  const int64_t q_heads = node.Int("q_num_heads", 0), heads = node.Int("kv_num_heads", 0);
  node.Check(heads >= 1 && q_heads >= 1 && q_heads % heads == 0, "has ", q_heads,
             " heads of queries and ", heads, " of keys, expected a multiple");
  const Shape shape = node.ShapeOf(0);
  node.Check(shape.size() == 3 && NumElements(shape) > 0, "query has the shape ", ToString(shape),
             ", expected [batch, rows, heads * size]");
  const int64_t batch = shape[0], rows = shape[1], group = q_heads / heads;
  const Expr query = ReadHeadsOf(node, 0, q_heads, batch, rows);
  const Expr k = ReadHeadsOf(node, 1, heads, batch, rows);
  const Expr v = ReadHeadsOf(node, 2, heads, batch, rows);
  node.Check(query.dim(3) == k.dim(3), "heads of queries have ", query.dim(3),
             " columns, those of keys ", k.dim(3), ", expected equal sizes");
  const Shape state{batch, heads, k.dim(3), v.dim(3)};
  Expr past = node.HasInput(3) ? FloatIn(node, 3) : Filled(node, 0.0, state);
  node.Check(past.shape() == state, "past_state has the shape ", ToString(past.shape()),
             ", expected ", ToString(state));
  const float given = node.Float("scale", 0.0f);
  const double scale = given == 0.0f ? 1.0 / std::sqrt(static_cast<double>(k.dim(3))) : given;
  Recurrence r{Reshaped(query * scale, {batch, heads, group * rows, k.dim(3)}),
               k,
               v,
               std::nullopt,
               std::nullopt,
               past};
  if (gated) {
    const Expr decay = ReadHeadsOf(node, 4, heads, batch, rows);
    node.Check(decay.dim(3) == 1 || decay.dim(3) == k.dim(3), "decay has ", decay.dim(3),
               " columns for each head, expected 1 or ", k.dim(3));
    r.forget = Apply(UnaryOp::kExp, decay);
  }
  if (delta) {
    const Shape own = node.ShapeOf(5);
    r.beta = ReadHeadsOf(node, 5, own.empty() || own.back() == 1 ? 1 : heads, batch, rows);
    node.Check(r.beta->dim(3) == 1, "beta has the shape ", ToString(own),
               ", expected one number for each head, or one for all");
  }
  node.CheckSupported(rule == "linear" || rows <= kMostIterations, "has ", rows,
                      " rows, which would be unrolled; expected at most ", kMostIterations);
  const Expr y = rule == "linear" ? SumOfRows(r, group, &past) : Unrolled(r, group, &past);
  Give(MergeHeads(Reshaped(y, {batch, q_heads, rows, v.dim(3)})), 0);
  if (node.OutputUsed(1)) Give(past, 1);
}

constexpr ImportEntry kLinearAttentionImports[] = {{"LinearAttention", ImportLinearAttention}};

}  // namespace

std::span<const ImportEntry> LinearAttentionImports() { return kLinearAttentionImports; }

}  // namespace rshift
