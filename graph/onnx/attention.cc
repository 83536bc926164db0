// Attention of the standard operators, opset 23 and newer.
#include "graph/onnx/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/onnx/table.h"

namespace rshift {
namespace {

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };
enum Output { kY, kPresentKey, kPresentValue, kScores };

Expr ReadHeads(OnnxNode& node, int i, const char* heads) {
  const Expr x = FloatIn(node, i);
  if (x.rank() == 4) return x;
  node.Check(x.rank() == 3, "input ", Quoted(x.value().name), " has the shape ",
             ToString(x.shape()), ", expected 3 or 4 dimensions");
  node.Check(node.HasAttribute(heads), "attribute '", heads, "' is missing");
  return SplitHeads(x, node.Int(heads, 0));
}

// Rows of the cache, then the new ones.
Expr WithPast(OnnxNode& node, const Expr& x, int i) {
  if (!node.HasInput(i)) return x;
  const Expr past = FloatIn(node, i);
  node.Check(past.rank() == 4 && past.dim(0) == x.dim(0) && past.dim(1) == x.dim(1) &&
                 past.dim(3) == x.dim(3),
             "the cache ", Quoted(past.value().name), " has the shape ", ToString(past.shape()),
             ", which does not fit ", ToString(x.shape()));
  return Joined({past, x}, 2);
}

// Places of the queries among the keys: the first one has `offset` keys before it.
Expr Places(OnnxNode& node, int64_t queries) {
  const Expr own = QueryPositions(node, queries);
  if (node.HasInput(kPastKey)) return own + static_cast<double>(node.ShapeOf(kPastKey)[2]);
  if (!node.HasInput(kLengths)) return own;
  const Expr lengths = CastTo(In(node, kLengths), DType::kS64);
  return own + (Reshaped(lengths, {NumElements(lengths.shape()), 1, 1, 1}) -
                static_cast<double>(queries));
}

// The mask that the user gives: shorter rows end in keys that nobody sees.
void AddUserMask(OnnxNode& node, int64_t keys, AttentionMask& mask) {
  if (!node.HasInput(kMask)) return;
  const Expr given = In(node, kMask);
  const bool is_bool = given.type() == DType::kBool;
  if (!is_bool) node.RequireFloat(kMask);
  node.Check(given.rank() >= 1 && given.rank() <= 4 && (given.dim(given.rank() - 1) <= keys),
             "the mask has the shape ", ToString(given.shape()), " for ", keys, " keys");
  const int64_t last = given.dim(given.rank() - 1);
  const int64_t missing = last == 1 && keys > 1 ? 0 : keys - last;
  if (is_bool) return mask.Require(Padded(given, -1, 0, missing));
  mask.Add(given.rank() == 0 || missing == 0
               ? given
               : Padded(given, -1, 0, missing, -std::numeric_limits<float>::infinity()));
}

AttentionMask ReadMask(OnnxNode& node, int64_t queries, int64_t keys) {
  AttentionMask mask;
  AddUserMask(node, keys, mask);
  const int64_t left = node.Int("left_window_size", -1), right = node.Int("right_window_size", -1);
  node.Check(left >= -1 && right >= -1, "the window is ", left, " and ", right,
             ", expected -1 or more");
  const Expr place = Places(node, queries), key = KeyPositions(node, keys);
  if (node.Int("is_causal", 0) != 0) mask.Require(NotAfter(key, place));
  if (left >= 0) mask.Require(NotAfter(place - static_cast<double>(left), key));
  if (right >= 0) mask.Require(NotAfter(key, place + static_cast<double>(right)));
  if (node.HasInput(kLengths)) {
    const Expr lengths = CastTo(In(node, kLengths), DType::kS64);
    mask.Require(Less(key, Reshaped(lengths, {NumElements(lengths.shape()), 1, 1, 1})));
  }
  return mask;
}

void GiveScores(OnnxNode& node, const AttentionResult& result) {
  if (!node.OutputUsed(kScores)) return;
  const int64_t mode = node.Int("qk_matmul_output_mode", 0);
  node.Check(mode >= 0 && mode <= 3, "attribute 'qk_matmul_output_mode' is ", mode,
             ", expected 0 to 3");
  const Expr* const modes[] = {&result.raw, &result.capped, &result.biased, &result.weights};
  Give(*modes[mode], kScores);
}

void ImportAttention(OnnxNode& node) {
  node.Check(node.HasInput(kPastKey) == node.HasInput(kPastValue),
             "has one of past_key and past_value, expected both or none");
  node.Check(!node.HasInput(kPastKey) || !node.HasInput(kLengths),
             "has past_key and nonpad_kv_seqlen, expected one of them");
  const Expr q = ReadHeads(node, kQuery, "q_num_heads");
  const Expr k = WithPast(node, ReadHeads(node, kKey, "kv_num_heads"), kPastKey);
  const Expr v = WithPast(node, ReadHeads(node, kValue, "kv_num_heads"), kPastValue);
  node.Check(q.dim(0) == k.dim(0) && q.dim(0) == v.dim(0) && q.dim(3) == k.dim(3), "query ",
             ToString(q.shape()), ", key ", ToString(k.shape()), " and value ", ToString(v.shape()),
             " do not fit; expected equal batches and head sizes");
  const float scale =
      node.Float("scale", 1.0f / std::sqrt(static_cast<float>(std::max<int64_t>(q.dim(3), 1))));
  const AttentionResult result =
      Attend(q, k, v, ReadMask(node, q.dim(2), k.dim(2)), scale, node.Float("softcap", 0.0f), true);
  Give(node.ShapeOf(kQuery).size() == 3 ? MergeHeads(result.y) : result.y, kY);
  if (node.OutputUsed(kPresentKey)) Give(k, kPresentKey);
  if (node.OutputUsed(kPresentValue)) Give(v, kPresentValue);
  GiveScores(node, result);
}

constexpr ImportEntry kAttentionImports[] = {{"Attention", ImportAttention}};

}  // namespace

std::span<const ImportEntry> AttentionImports() { return kAttentionImports; }

}  // namespace rshift
