// CumSum and CumProd: the partial result of 2^i neighbours from that of half as many, so that the
// depth and the error grow with the logarithm of the length. Exact for integers.
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

void ImportCumulated(OnnxNode& node, BinaryOp op) {
  const double neutral = op == BinaryOp::kAdd ? 0.0 : 1.0;
  Expr x = In(node, 0);
  const auto axes = node.ConstantInts(1, "axis");
  node.Check(axes.size() == 1, "axis has ", axes.size(), " elements, expected 1");
  const int64_t axis = node.Axis(axes[0], x.rank()), size = x.dim(axis);
  const bool backward = node.Int("reverse", 0) != 0;
  // Element i meets element i - distance: what moves in from outside changes nothing.
  const auto shifted = [&](const Expr& from, int64_t distance) {
    return backward ? Padded(Part(from, axis, distance, size), axis, 0, distance, neutral)
                    : Padded(Part(from, axis, 0, size - distance), axis, distance, 0, neutral);
  };
  const DType type = x.type();
  if (type != DType::kF32) x = CastTo(x, DType::kS64);
  if (node.Int("exclusive", 0) != 0 && size > 0) x = shifted(x, 1);
  for (int64_t distance = 1; distance < size; distance *= 2) {
    x = Apply(op, x, shifted(x, distance));
  }
  Give(CastTo(x, type));
}

constexpr ImportEntry kCumulateImports[] = {
    {"CumSum", [](OnnxNode& node) { ImportCumulated(node, BinaryOp::kAdd); }},
    {"CumProd", [](OnnxNode& node) { ImportCumulated(node, BinaryOp::kMul); }},
};

}  // namespace

std::span<const ImportEntry> CumulateImports() { return kCumulateImports; }

}  // namespace rshift
