#include "calibrate/data/finite.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace rshift {
namespace {

constexpr size_t kFiniteBlock =
    256;  // a constant count: the compiler makes vector code of the loop
constexpr int32_t kAbsolute = 0x7fffffff, kLargest = 0x7f7fffff;  // bits of the largest finite F32

bool BlockIsFinite(const float* values) {
  int32_t bad = 0;
  for (size_t i = 0; i < kFiniteBlock; ++i) {
    bad |= (std::bit_cast<int32_t>(values[i]) & kAbsolute) > kLargest ? 1 : 0;
  }
  return bad == 0;
}

}  // namespace

size_t FirstNotFinite(std::span<const float> values) {
  size_t at = 0;
  while (at + kFiniteBlock <= values.size() && BlockIsFinite(values.data() + at))
    at += kFiniteBlock;
  while (at < values.size() && std::isfinite(values[at])) ++at;
  return at;
}

size_t FirstRefused(std::span<const float> values, bool masks) {
  size_t at = FirstNotFinite(values);
  while (masks && at < values.size() && values[at] < 0 && std::isinf(values[at]))
    at += 1 + FirstNotFinite(values.subspan(at + 1));
  return at;
}

}  // namespace rshift
