#include <cmath>
#include <limits>

#include "graph/fold/fold.h"

namespace rshift {
namespace {

// Towards zero; out of range saturates at int64, NaN gives the minimum (what x86 does), so that the
// result never depends on undefined behaviour.
int64_t Truncate(float v) {
  if (std::isnan(v) || v < -9223372036854775808.0f) return std::numeric_limits<int64_t>::min();
  if (v >= 9223372036854775808.0f) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(v);
}

}  // namespace

FoldResult FoldCast(const Value& x, DType to) {
  if (x.dtype == to) return x.constant;
  if (x.dtype == DType::kF32) {
    const auto in = x.constant->As<float>();
    std::vector<int64_t> elements(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      elements[i] = to == DType::kBool ? int64_t{in[i] != 0.0f} : Truncate(in[i]);
    }
    return StoreInts(elements, to);
  }
  const auto elements = LoadInts(x);
  if (to != DType::kF32) return StoreInts(elements, to);
  std::vector<float> result(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    result[i] = x.dtype == DType::kU64 ? static_cast<float>(static_cast<uint64_t>(elements[i]))
                                       : static_cast<float>(elements[i]);
  }
  return MakeConstant<float>(result);
}

}  // namespace rshift
