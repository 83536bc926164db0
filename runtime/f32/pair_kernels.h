// Sums and products of rows (row_kernels.h), for the units of the instruction sets.
#ifndef RSHIFT_RUNTIME_F32_PAIR_KERNELS_H_
#define RSHIFT_RUNTIME_F32_PAIR_KERNELS_H_

#include "runtime/f32/reduce_kernels.h"

namespace rshift::f32 {
namespace {

template <typename F>
RSHIFT_INLINE void JoinRows(const float* a, int64_t step_a, const float* b, int64_t step_b,
                            float* out, int64_t n, const F& join) {
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) out[i] = join(a[i * step_a], b[i * step_b]);
    return;
  }
  const auto parts = [&](const Floats& x, const Floats& y)
                         RSHIFT_INLINE_LAMBDA { return Map(join, x, y); };
  const Floats first_a = AllFloats(*a), first_b = AllFloats(*b);
  if (step_a != 0 && step_b != 0) {
    UpdateLanes(out, n,
                [&](int64_t i) RSHIFT_INLINE_LAMBDA { return parts(Load(a + i), Load(b + i)); });
  } else if (step_a != 0) {
    UpdateLanes(out, n,
                [&](int64_t i) RSHIFT_INLINE_LAMBDA { return parts(Load(a + i), first_b); });
  } else if (step_b != 0) {
    UpdateLanes(out, n,
                [&](int64_t i) RSHIFT_INLINE_LAMBDA { return parts(first_a, Load(b + i)); });
  } else {
    const Floats value = parts(first_a, first_b);
    UpdateLanes(out, n, [&](int64_t) RSHIFT_INLINE_LAMBDA { return value; });
  }
}

void RowAdd(const float* a, int64_t step_a, const float* b, int64_t step_b, float* out,
            int64_t n) noexcept {
  JoinRows(a, step_a, b, step_b, out, n, [](auto x, auto y) RSHIFT_INLINE_LAMBDA { return x + y; });
}
void RowMultiply(const float* a, int64_t step_a, const float* b, int64_t step_b, float* out,
                 int64_t n) noexcept {
  JoinRows(a, step_a, b, step_b, out, n, [](auto x, auto y) RSHIFT_INLINE_LAMBDA { return x * y; });
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PAIR_KERNELS_H_
