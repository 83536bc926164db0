// FlexAttention of the domain ai.onnx.preview: attention whose scores and probabilities are changed
// by graphs that the node holds.
#include <algorithm>
#include <cmath>

#include "graph/onnx/attention.h"
#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

Expr ReadFour(OnnxNode& node, int i) {
  const Expr x = FloatIn(node, i);
  node.Check(x.rank() == 4, "input ", Quoted(x.value().name), " has the shape ",
             ToString(x.shape()), ", expected [batch, heads, rows, size]");
  return x;
}

// What the graph of this attribute makes of x; x itself where there is none.
Expr Modified(OnnxNode& node, const char* name, const Expr& x) {
  if (!node.HasAttribute(name)) return x;
  const std::vector<Expr> made = ImportBody(node, node.Body(name), name, {x});
  node.Check(made.size() == 1 && made[0].shape() == x.shape() && made[0].type() == x.type(),
             "the graph '", name, "' has ", made.size(), " outputs",
             made.empty() ? "" : ", the first " + ToString(made[0].shape()),
             ", expected one of the shape ", ToString(x.shape()), " of its input");
  return made[0];
}

void ImportFlexAttention(OnnxNode& node) {
  const Expr q = ReadFour(node, 0), k = ReadFour(node, 1), v = ReadFour(node, 2);
  node.Check(
      q.dim(0) == k.dim(0) && q.dim(0) == v.dim(0) && q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2),
      "query ", ToString(q.shape()), ", key ", ToString(k.shape()), " and value ",
      ToString(v.shape()), " do not fit");
  node.Check(k.dim(1) == v.dim(1) && k.dim(1) > 0 && q.dim(1) % k.dim(1) == 0, "query has ",
             q.dim(1), " heads, key ", k.dim(1), " and value ", v.dim(1),
             ", expected the same number of key and value heads, a divisor of the query's");
  if (node.HasAttribute("softmax_precision")) {  // all of them are f32 here
    const auto precision = static_cast<int>(node.Int("softmax_precision", 1));
    node.Check(ImportDType(precision, node.where()) == DType::kF32,
               "attribute 'softmax_precision' is ", precision, ", expected a float type");
  }
  const float usual = 1.0f / std::sqrt(static_cast<float>(std::max<int64_t>(q.dim(3), 1)));
  const Expr scores = HeadProduct(q * node.Float("scale", usual), Swapped(k));
  const Expr weights =
      Modified(node, "prob_mod", SoftmaxOf(Modified(node, "score_mod", scores), -1));
  Give(HeadProduct(weights, v));
}

constexpr ImportEntry kFlexAttentionImports[] = {
    {"ai.onnx.preview:FlexAttention", ImportFlexAttention}};

}  // namespace

std::span<const ImportEntry> FlexAttentionImports() { return kFlexAttentionImports; }

}  // namespace rshift
