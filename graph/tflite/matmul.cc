// Products of matrices.
#include <numeric>
#include <utility>

#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// Weights [N, K]; the input is a list of rows of K.
void TranslateFullyConnected(OpWriter& op) {
  const auto* options = op.Options<FullyConnectedOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  op.CheckSupported(options->weights_format() == FullyConnectedOptionsWeightsFormat_DEFAULT,
                    "has shuffled weights; convert the model again with plain ones");
  const Shape w = op.InShape(1);
  op.Check(w.size() == 2, "weights have the shape ", ToString(w), ", expected 2 dimensions");
  std::string x = op.Real(0);
  if (op.InRank(0) != 2 || op.InShape(0)[1] != w[1]) x = op.Reshaped(x, {-1, w[1]});
  std::string y = op.Emit("Gemm", {x, op.Real(1), op.Bias(2, 0, 1)}, {{"transB", int64_t{1}}});
  if (options->keep_num_dims() && op.InRank(0) != 2) {
    std::vector<int64_t> shape = op.InShape(0);
    op.Check(!shape.empty(), "input is a scalar, expected a list");
    shape.front() = -1;
    shape.back() = w[0];
    y = op.Reshaped(y, shape);
  }
  op.GiveReal(op.Activated(y, options->fused_activation_function()));
}

std::string Adjoint(OpWriter& op, int i, bool swaps) {
  std::string x = op.Real(i);
  if (!swaps) return x;
  std::vector<int64_t> order(op.InShape(i).size());
  std::iota(order.begin(), order.end(), 0);
  op.Check(order.size() >= 2, "input ", i, " has ", order.size(),
           " dimensions, expected 2 or more");
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return op.Transposed(x, order);
}

void TranslateBatchMatMul(OpWriter& op) {
  const auto* options = op.Options<BatchMatMulOptions>();
  const std::string a = Adjoint(op, 0, options != nullptr && options->adj_x());
  const std::string b = Adjoint(op, 1, options != nullptr && options->adj_y());
  op.GiveReal(op.Emit("MatMul", {a, b}));
}

constexpr Entry kMatMulEntries[] = {
    {BuiltinOperator_FULLY_CONNECTED, TranslateFullyConnected},
    {BuiltinOperator_BATCH_MATMUL, TranslateBatchMatMul},
};

}  // namespace

std::span<const Entry> MatMulEntries() { return kMatMulEntries; }

}  // namespace rshift::tflite
