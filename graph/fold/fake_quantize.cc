// FakeQuantize of constants: weights, as a rule.
#include "isa/fake_quantize.h"

#include "graph/fold/fold.h"

namespace rshift {

FoldResult FoldFakeQuantize(const FakeQuantize& op, const Value& x, const Value& ranges) {
  if (x.dtype != DType::kF32) return nullptr;
  const auto in = x.constant->As<float>();
  const auto rows = ranges.constant->As<FakeQuantizeRange>();
  const int64_t inner = Strides(x.shape)[static_cast<size_t>(op.axis)];
  const auto steps = static_cast<float>(op.levels - 1);
  std::vector<float> result(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t row = static_cast<size_t>(static_cast<int64_t>(i) / inner) % rows.size();
    result[i] = FakeQuantized(in[i], rows[row], steps);
  }
  return MakeConstant<float>(result);
}

}  // namespace rshift
