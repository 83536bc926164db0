// Attention and MultiHeadAttention of the domain com.microsoft.
#include <cmath>

#include "graph/onnx/attention.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

float ReadScale(OnnxNode& node, int64_t size) {
  const float scale = node.Float("scale", 0.0f);
  return scale != 0.0f ? scale : 1.0f / std::sqrt(static_cast<float>(size));
}

// What the masked keys' scores get, from 1 for keys that are seen and 0 for others.
void AddMasked(OnnxNode& node, const Expr& seen, AttentionMask& mask) {
  mask.Add((1.0 - CastTo(seen, DType::kF32)) * node.Float("mask_filter_value", -10000.0f));
}

// The mask of input i: lengths [batch], ends and starts [2 * batch], or 1 for keys that are seen
// as [batch, keys], [batch, queries, keys] or [batch, 1, queries, keys].
void AddKeyMask(OnnxNode& node, int i, const Expr& q, int64_t keys, AttentionMask& mask) {
  if (!node.HasInput(i)) return;
  const Expr given = In(node, i);
  const int64_t batch = q.dim(0);
  if (given.rank() == 1) {
    node.CheckSupported(given.dim(0) == batch || given.dim(0) == 2 * batch,
                        "the mask has the shape ", ToString(given.shape()),
                        ", expected the key lengths of ", batch,
                        " sequences, their ends and starts, or a mask of keys");
    const Expr wide = CastTo(given, DType::kS64), key = KeyPositions(node, keys);
    Expr seen = Less(key, Reshaped(Part(wide, 0, 0, batch), {batch, 1, 1, 1}));
    if (given.dim(0) == 2 * batch) {
      const Expr start = Reshaped(Part(wide, 0, batch, 2 * batch), {batch, 1, 1, 1});
      seen = And(seen, NotAfter(start, key));
    }
    return AddMasked(node, seen, mask);
  }
  const Shape shape = given.shape();
  node.CheckSupported(given.rank() <= 4 && shape.back() == keys, "the mask has the shape ",
                      ToString(shape), " for ", keys, " keys, expected [batch, keys], [batch, ",
                      "queries, keys] or [batch, 1, queries, keys]");
  if (given.rank() == 2) return AddMasked(node, Reshaped(given, {shape[0], 1, 1, keys}), mask);
  if (given.rank() == 3) return AddMasked(node, Unsqueezed(given, 1), mask);
  AddMasked(node, given, mask);
}

void AddCausal(OnnxNode& node, int64_t queries, int64_t keys, AttentionMask& mask) {
  if (node.Int("unidirectional", 0) == 0) return;
  const Expr place = QueryPositions(node, queries) + static_cast<double>(keys - queries);
  mask.Require(NotAfter(KeyPositions(node, keys), place));
}

Expr AddBias(const Expr& x, const Expr& bias, int64_t start) {
  return x + Part(bias, 0, start, start + x.dim(2));
}

// input, weights, bias, mask_index, past, attention_bias, past_sequence_length.
void ImportMicrosoftAttention(OnnxNode& node) {
  node.CheckSupported(!node.HasInput(6) && node.Int("do_rotary", 0) == 0 &&
                          node.Int("past_present_share_buffer", 0) == 0,
                      "shared past buffers and rotary embeddings inside the operator are not "
                      "supported; export them as operators of their own");
  const Expr x = FloatIn(node, 0), w = FloatIn(node, 1);
  node.Check(x.rank() == 3 && w.rank() == 2 && w.dim(0) == x.dim(2), "input ", ToString(x.shape()),
             " and weight ", ToString(w.shape()), " do not fit");
  const int64_t heads = node.Int("num_heads", 0);
  std::vector<int64_t> sizes = node.Ints("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, w.dim(1) / 3);
  node.Check(sizes.size() == 3 && sizes[0] + sizes[1] + sizes[2] == w.dim(1) && heads >= 1,
             "attribute 'qkv_hidden_sizes' does not fit the weight ", ToString(w.shape()));
  Expr all = Product(x, w);
  if (node.HasInput(2)) all = all + FloatIn(node, 2);
  const Expr q = SplitHeads(Part(all, 2, 0, sizes[0]), heads);
  Expr k = SplitHeads(Part(all, 2, sizes[0], sizes[0] + sizes[1]), heads);
  Expr v = SplitHeads(Part(all, 2, sizes[0] + sizes[1], w.dim(1)), heads);
  if (node.HasInput(4)) {  // [2, batch, heads, rows, size]
    const Expr past = FloatIn(node, 4);
    const auto half = [&](int64_t i) {
      Shape shape = past.shape();
      shape.erase(shape.begin());
      return Reshaped(At(past, 0, i), shape);
    };
    k = Joined({half(0), k}, 2);
    v = Joined({half(1), v}, 2);
  }
  AttentionMask mask;
  AddKeyMask(node, 3, q, k.dim(2), mask);
  if (node.HasInput(5)) mask.Add(FloatIn(node, 5));
  AddCausal(node, q.dim(2), k.dim(2), mask);
  const auto result = Attend(q, k, v, mask, ReadScale(node, q.dim(3)), 0.0f, false);
  if (node.OutputUsed(1)) Give(Stacked({k, v}, 0), 1);
  Give(MergeHeads(result.y));
}

struct Heads {
  Expr q, k, v;
};

// Query alone: [batch, rows, heads, 3, size]; query and key: key is [batch, rows, heads, 2, size];
// or three tensors, key and value [batch, rows, heads * size] or split already.
Heads ReadHeads(OnnxNode& node, int64_t heads) {
  const Expr query = FloatIn(node, 0);
  const auto unpacked = [&](const Expr& packed, int64_t i) {
    const Expr one = At(packed, 3, i);
    return Transposed(Reshaped(one, {one.dim(0), one.dim(1), one.dim(2), one.dim(4)}),
                      {0, 2, 1, 3});
  };
  const auto biased = [&](const Expr& x, int64_t start) {
    return node.HasInput(3) && x.rank() == 3 ? AddBias(x, FloatIn(node, 3), start) : x;
  };
  if (!node.HasInput(1)) {
    node.CheckSupported(query.rank() == 5 && !node.HasInput(3),
                        "packed query, key and value need the shape [batch, rows, heads, 3, size] "
                        "and no bias");
    return {unpacked(query, 0), unpacked(query, 1), unpacked(query, 2)};
  }
  const Expr key = FloatIn(node, 1);
  const Expr q = SplitHeads(biased(query, 0), heads);
  if (!node.HasInput(2)) {
    node.CheckSupported(key.rank() == 5 && !node.HasInput(3),
                        "packed key and value need the shape [batch, rows, heads, 2, size] and no "
                        "bias");
    return {q, unpacked(key, 0), unpacked(key, 1)};
  }
  const Expr value = FloatIn(node, 2);
  if (key.rank() == 4) return {q, key, value};
  const int64_t hidden = query.dim(2);
  return {q, SplitHeads(biased(key, hidden), heads),
          SplitHeads(biased(value, hidden + key.dim(2)), heads)};
}

// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
void ImportMultiHead(OnnxNode& node) {
  node.CheckSupported(!node.HasInput(8) && !node.HasInput(9),
                      "past_sequence_length and cache_indirection are not supported; export with a "
                      "cache that grows");
  const Heads in = ReadHeads(node, node.Int("num_heads", 0));
  const Expr k = node.HasInput(6) ? Joined({FloatIn(node, 6), in.k}, 2) : in.k;
  const Expr v = node.HasInput(7) ? Joined({FloatIn(node, 7), in.v}, 2) : in.v;
  AttentionMask mask;
  AddKeyMask(node, 4, in.q, k.dim(2), mask);
  if (node.HasInput(5)) mask.Add(FloatIn(node, 5));
  AddCausal(node, in.q.dim(2), k.dim(2), mask);
  const auto result = Attend(in.q, k, v, mask, ReadScale(node, in.q.dim(3)), 0.0f, false);
  if (node.OutputUsed(1)) Give(k, 1);
  if (node.OutputUsed(2)) Give(v, 2);
  if (node.OutputUsed(3)) Give(result.biased, 3);
  Give(MergeHeads(result.y));
}

constexpr ImportEntry kAttentionMicrosoftImports[] = {
    {"com.microsoft:Attention", ImportMicrosoftAttention},
    {"com.microsoft:MultiHeadAttention", ImportMultiHead},
};

}  // namespace

std::span<const ImportEntry> AttentionMicrosoftImports() { return kAttentionMicrosoftImports; }

}  // namespace rshift
