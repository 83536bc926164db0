#include <algorithm>

#include "graph/fold/fold.h"

namespace rshift {

// Constant times constant is rare (a folded projection): double sums, no blocking.
FoldResult FoldMatMul(const MatMul& op, const FoldInputs& inputs, const Shape& out) {
  const Value &a = *inputs[0], &b = *inputs[1];
  if (a.dtype != DType::kF32 || op.clamp.active()) return nullptr;
  const auto x = a.constant->As<float>(), w = b.constant->As<float>();
  const int64_t m = out[out.size() - 2], n = out.back(), k = a.shape.back();
  const Shape batch(out.begin(), out.end() - 2);
  const auto batch_strides = [&](const Shape& shape, int64_t matrix) {
    Shape strides = BroadcastStrides({shape.begin(), shape.end() - 2}, batch);
    for (int64_t& s : strides) s *= matrix;
    return strides;
  };
  const std::array<Shape, 2> strides{batch_strides(a.shape, m * k), batch_strides(b.shape, k * n)};
  std::vector<float> result(NumElements(out));
  WalkStrided(batch, strides, [&](int64_t i, const std::array<int64_t, 2>& at) {
    std::vector<double> row(n);
    for (int64_t r = 0; r < m; ++r) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int64_t c = 0; c < k; ++c) {
        const double factor = x[at[0] + r * k + c];
        for (int64_t j = 0; j < n; ++j) row[j] += factor * w[at[1] + c * n + j];
      }
      for (int64_t j = 0; j < n; ++j) {
        const double bias =
            inputs.size() > 2 && inputs[2] ? inputs[2]->constant->As<float>()[j] : 0.0f;
        result[(i * m + r) * n + j] = static_cast<float>(row[j] + bias);
      }
    }
  });
  return MakeConstant<float>(result);
}

}  // namespace rshift
