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

// A row of outputs of a pool over an image of one channel: kernel 2 or 3, stride 1 or 2.
struct PlaneRow {
  const float* x = nullptr;        // column 0 of the first row of taps inside the image
  int64_t rows = 0, pitch = 0;     // rows of taps inside, at least one
  int64_t columns = 0, first = 0;  // of the image; the column of the first output's first tap
  int64_t kernel = 0, stride = 0;  // along the row
  int64_t outputs = 0;
};

// A convolution of one channel, a plane, with one filter: rows of outputs from `first` on.
struct PlaneFilter {
  const float* x = nullptr;
  int64_t height = 0, width = 0;
  const float* w = nullptr;  // [kernel_h][kernel_w]
  float bias = 0, lo = 0, hi = 0;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t rows = 0, outputs = 0;  // of outputs, and outputs of each
  int64_t first = 0, end = 0;     // rows that are computed
  float* out = nullptr;           // of row 0
  // The sum, from the bias on, for portable steps. Of one tap where no pixel is left out, which is
  // a scale and an offset, product and sum are rounded to float all the same.
  bool in_double = false;
};
// How far apart the first and the last tap may be, counting both, and the strides.
inline constexpr int64_t kMaxPlaneReach = 16, kMaxPlaneStride = 4;

// Planes of outputs, each the sum of the planes of x by the weights of its row.
struct PlaneProduct {
  const float* x = nullptr;     // [depth][pixels]
  const float* w = nullptr;     // [rows][depth]
  const float* bias = nullptr;  // of each row; null for none
  float* out = nullptr;         // [rows][pixels]
  int64_t depth = 0, rows = 0, pixels = 0;
  int64_t first = 0, end = 0;  // pixels that are computed
  float lo = 0, hi = 0;
  bool in_double = false;
};

inline constexpr int64_t kSoftmaxLanes = 256;

// A tile of a matrix product (portable steps): `rows` outputs of one column each read x, and
// neighbouring columns w. out[r][c] = clamp(bias[c] + x[0][r] * w[0][c] + x[1][r] * w[1][c] ...),
// the sum in double and in this order: a product of two floats is exact there, so that a fused
// multiply-add gives the same.
struct ProductTile {
  const double* x = nullptr;    // [depth][rows], floats that were widened
  const float* w = nullptr;     // [depth][kernel's columns]
  const float* bias = nullptr;  // [kernel's columns]
  int64_t depth = 0, rows = 0;  // rows: 1 to the kernel's
  float* const* out = nullptr;  // of each row
  int64_t columns = 0;          // that are written, at most the kernel's
  float lo = 0, hi = 0;
};

// One output pixel of a depthwise convolution: the same with an x and a w for each lane.
struct DepthwiseTaps {
  const float* const* x = nullptr;  // of each tap
  const float* const* w = nullptr;
  int64_t taps = 0, lanes = 0;
  const float* bias = nullptr;
  float* out = nullptr;
  float lo = 0, hi = 0;
};

struct ProductKernels {
  int64_t rows = 0, columns = 0;  // of the largest tile
  void (*tile)(const ProductTile& tile) noexcept = nullptr;
  // to[k * count + r] = x[r][k] for k below depth: a part of ProductTile::x.
  void (*widen)(const float* const* x, int64_t count, int64_t depth, double* to) noexcept = nullptr;
  void (*depthwise)(const DepthwiseTaps& taps) noexcept = nullptr;
};
inline constexpr int64_t kMaxProductRows = 8;

// y[i] = f(x[i]); `y` may be `x`.
using ElementFunction = void (*)(const float* x, float* y, int64_t n, float alpha,
                                 float beta) noexcept;

// out[i] = a[i * step_a] and b[i * step_b] joined; a step is 0 or 1. `out` may be an operand.
using PairFunction = void (*)(const float* a, int64_t step_a, const float* b, int64_t step_b,
                              float* out, int64_t n) noexcept;

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
  // The highest tap; which zero, or whether a NaN, when there are several is open.
  void (*plane_row_highest)(const PlaneRow& row, float* out) noexcept;
  // Each element twice, in `times` rows of 2 n floats behind each other.
  void (*plane_row_twice)(const float* x, int64_t n, float* out, int64_t times) noexcept;
  void (*plane_convolution)(const PlaneFilter& filter) noexcept;
  void (*plane_product)(const PlaneProduct& product) noexcept;

  // As in isa/functions.def; elu times beta, clip to [alpha, beta].
  ElementFunction sigmoid, tanh, silu, mish, erf, gelu, gelu_tanh, elu, hard_sigmoid, hard_swish,
      leaky_relu, clip;

  PairFunction add, multiply;

  ProductKernels product;
};

const RowKernels& RowKernelsFor(Isa isa);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_ROW_KERNELS_H_
