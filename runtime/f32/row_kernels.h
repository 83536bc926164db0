// The loops of reductions, softmax and normalizations over rows and columns of floats: one body
// (make_row_kernels.h) compiled for each instruction set. Same bytes everywhere: a sum is that of
// eight or sixteen partial sums in double whatever the registers, without fused multiply-adds.
//
// A row is `n` neighbouring floats. Columns are `lanes` neighbouring floats in each of `rows` rows,
// `pitch` floats apart, combined lane by lane in the order of the rows.
#ifndef RSHIFT_RUNTIME_F32_ROW_KERNELS_H_
#define RSHIFT_RUNTIME_F32_ROW_KERNELS_H_

#include <cstdint>

namespace rshift {
enum class Isa : uint8_t;  // runtime/runtime.h, which a unit with newer instructions must not
                           // include
}

namespace rshift::f32 {

struct Columns {
  const float* x = nullptr;
  int64_t rows = 0, pitch = 0, lanes = 0;
};

struct Normal {
  double mean = 0, factor = 1, offset = 0;
};

// Taps of a pool that lie inside the image, at least one, each of `lanes` neighbouring floats.
struct FloatWindow {
  const float* x = nullptr;
  int64_t rows = 0, columns = 0, row_step = 0, column_step = 0, lanes = 0;
};

inline constexpr int64_t kSoftmaxLanes = 256;

// y[i] = f(x[i]); `y` may be `x`.
using ElementFunction = void (*)(const float* x, float* y, int64_t n, float alpha,
                                 float beta) noexcept;

struct RowKernels {
  // The sum of x or of |x|.
  double (*sum)(const float* x, int64_t n, bool absolute) noexcept;
  // The sum of (x - about)^2.
  double (*squares)(const float* x, int64_t n, double about) noexcept;
  // The highest x or the lowest; NaN where one is.
  float (*extreme)(const float* x, int64_t n, bool lowest) noexcept;
  // Both at once; a zero of either sign.
  void (*extremes)(const float* x, int64_t n, float* lowest, float* highest) noexcept;

  // The same for columns, on top of what is in `sums` and `extremes`, which have room for a
  // multiple of eight lanes. The lowest come with their signs turned.
  void (*sum_columns)(const Columns& columns, bool absolute, double* sums) noexcept;
  void (*square_columns)(const Columns& columns, const double* about, double* sums) noexcept;
  void (*extreme_columns)(const Columns& columns, bool lowest, float* extremes) noexcept;

  // exp(x - highest) / sum, or its logarithm, of each row of n; `out` may be `in`.
  void (*softmax_rows)(const float* in, float* out, int64_t rows, int64_t n, bool log) noexcept;
  // The same of each column, at most kSoftmaxLanes of them.
  void (*softmax_columns)(const Columns& in, float* out, bool log) noexcept;

  // (x - mean) * factor * scale + bias; without a bias where that is null. `y` may be `x`.
  void (*normalize_row)(const float* x, float* y, int64_t n, const Normal& normal,
                        const float* scale, const float* bias) noexcept;
  // (x - mean) * factor + offset, of a row by one normal and of columns by one for each lane.
  void (*normalize_plane)(const float* x, float* y, int64_t n, const Normal& normal) noexcept;
  void (*normalize_columns)(const Columns& columns, const double* mean, const double* factor,
                            const double* offset, float* out) noexcept;

  // The highest tap of each lane (x > best ? x : best), and the sum, in memory order, times a
  // factor.
  void (*window_highest)(const FloatWindow& window, float* out) noexcept;
  void (*window_mean)(const FloatWindow& window, double factor, float* out) noexcept;

  // As in isa/functions.def; elu times beta, clip to [alpha, beta].
  ElementFunction sigmoid, tanh, silu, mish, erf, gelu, gelu_tanh, elu, hard_sigmoid, hard_swish,
      leaky_relu, clip;
};

const RowKernels& RowKernelsFor(Isa isa);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_ROW_KERNELS_H_
