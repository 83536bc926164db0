// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss: what evaluation graphs end in.
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// logs: [N, C, ...], labels: [N, ...]. A label that is no class, or is `ignore_index`, has the loss
// and the weight 0.
Expr Loss(OnnxNode& node, const Expr& logs) {
  const Expr labels = In(node, 1);
  Shape expected = logs.shape();
  node.Check(expected.size() >= 2, "input has the shape ", ToString(expected),
             ", expected [N, C, ...]");
  const int64_t classes = expected[1];
  expected.erase(expected.begin() + 1);
  node.Check(labels.shape() == expected && labels.type() != DType::kF32, "labels are ",
             Name(labels.type()), " ", ToString(labels.shape()), ", expected integers ",
             ToString(expected));
  const Expr wide = CastTo(labels, DType::kS64);
  Expr hit = Equal(Unsqueezed(wide, 1), Iota(node, classes, logs.rank(), 1));
  const bool ignores = node.HasAttribute("ignore_index");
  if (ignores) {
    const auto ignored = static_cast<double>(node.Int("ignore_index", 0));
    hit = And(hit, Not(Unsqueezed(Equal(wide, Number(node, ignored, DType::kS64)), 1)));
  }
  Expr weights = Number(node, 1.0);
  if (node.HasInput(2)) {
    const Expr given = FloatIn(node, 2);
    node.Check(given.shape() == Shape{classes}, "weights have the shape ", ToString(given.shape()),
               ", expected ", classes);
    Shape column(logs.rank(), 1);
    column[1] = classes;
    weights = Reshaped(given, column);
  }
  const auto picked = [&](const Expr& x) {
    return Reduced(ReduceOp::kSum, Select(hit, x, Number(node, 0.0)), {1}, false);
  };
  const Expr loss = picked(-1.0 * logs * weights);
  const std::string reduction = node.String("reduction", "mean");
  if (reduction == "none") return loss;
  node.Check(reduction == "mean" || reduction == "sum", "attribute 'reduction' is ",
             Quoted(reduction), ", expected none, mean or sum");
  std::vector<int64_t> all(expected.size());
  for (size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int64_t>(d);
  const Expr sum = Reduced(ReduceOp::kSum, loss, all, false);
  if (reduction == "sum") return sum;
  if (!node.HasInput(2) && !ignores) {
    return sum / static_cast<double>(NumElements(expected));
  }
  return sum / Reduced(ReduceOp::kSum, picked(Expanded(weights, logs.shape())), all, false);
}

void ImportLogLikelihood(OnnxNode& node) { Give(Loss(node, FloatIn(node, 0))); }

void ImportCrossEntropy(OnnxNode& node) {
  const Expr logs = SoftmaxOf(FloatIn(node, 0), 1, true);
  Give(Loss(node, logs));
  if (node.OutputUsed(1)) Give(logs, 1);
}

constexpr ImportEntry kLossImports[] = {{"NegativeLogLikelihoodLoss", ImportLogLikelihood},
                                        {"SoftmaxCrossEntropyLoss", ImportCrossEntropy}};

}  // namespace

std::span<const ImportEntry> LossImports() { return kLossImports; }

}  // namespace rshift
