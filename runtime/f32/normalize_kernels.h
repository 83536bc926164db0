// (x - mean) * factor and what follows, of rows and columns (row_kernels.h), for the units of the
// instruction sets. In double, rounded once; the output may be the input.
#ifndef RSHIFT_RUNTIME_F32_NORMALIZE_KERNELS_H_
#define RSHIFT_RUNTIME_F32_NORMALIZE_KERNELS_H_

#include "runtime/f32/reduce_kernels.h"

namespace rshift::f32 {
namespace {

void NormalizeRow(const float* x, float* y, int64_t n, const Normal& normal, const float* scale,
                  const float* bias) noexcept {
  const double mean = normal.mean, factor = normal.factor;
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) {
      const double offset = bias != nullptr ? bias[i] : 0;
      y[i] = static_cast<float>((x[i] - mean) * factor * scale[i] + offset);
    }
    return;
  }
  const Doubles means = AllDoubles(mean), factors = AllDoubles(factor);
  UpdateLanes(y, n, [&](int64_t i) RSHIFT_INLINE_LAMBDA {
    const Doubles offset = bias != nullptr ? LoadWide(bias + i) : AllDoubles(0);
    return (LoadWide(x + i) - means) * factors * LoadWide(scale + i) + offset;
  });
}

void NormalizePlane(const float* x, float* y, int64_t n, const Normal& normal) noexcept {
  const double mean = normal.mean, factor = normal.factor, offset = normal.offset;
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>((x[i] - mean) * factor + offset);
    return;
  }
  const Doubles means = AllDoubles(mean), factors = AllDoubles(factor);
  const Doubles offsets = AllDoubles(offset);
  UpdateLanes(y, n, [&](int64_t i) RSHIFT_INLINE_LAMBDA {
    return (LoadWide(x + i) - means) * factors + offsets;
  });
}

void NormalizeColumns(const Columns& columns, const double* mean, const double* factor,
                      const double* offset, float* out) noexcept {
  const Columns c = columns;
  for (int64_t row = 0; row < c.rows; ++row) {
    const float* x = c.x + row * c.pitch;
    float* y = out + row * c.pitch;
    if (c.lanes < 8) {
      for (int64_t i = 0; i < c.lanes; ++i) {
        y[i] = static_cast<float>((x[i] - mean[i]) * factor[i] + offset[i]);
      }
      continue;
    }
    UpdateLanes(y, c.lanes, [&](int64_t i) RSHIFT_INLINE_LAMBDA {
      return (LoadWide(x + i) - Load(mean + i)) * Load(factor + i) + Load(offset + i);
    });
  }
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_NORMALIZE_KERNELS_H_
