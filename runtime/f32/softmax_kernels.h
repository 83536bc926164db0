// Softmax of rows and columns (row_kernels.h), for the units of the instruction sets. The output
// may be the input: what overlaps is read before it is written.
#ifndef RSHIFT_RUNTIME_F32_SOFTMAX_KERNELS_H_
#define RSHIFT_RUNTIME_F32_SOFTMAX_KERNELS_H_

#include "runtime/f32/exponential.h"
#include "runtime/f32/reduce_kernels.h"

namespace rshift::portable {
double Log(double x);  // base/portable_math.h, which has code that no unit may include
}

namespace rshift::f32 {
namespace {

constexpr float kLowest = -__builtin_inff(), kNan = __builtin_nanf("");

// What is subtracted from x - highest, or what its exponential is multiplied by.
RSHIFT_INLINE float SoftmaxScale(double sum, bool log) {
  return static_cast<float>(log ? portable::Log(sum) : 1.0 / sum);
}

// One NaN for all: which of several an operation hands on is the instruction set's choice.
RSHIFT_INLINE Floats NanWhere(const Floats& nan, const Floats& x) {
  return Map([](const FloatPart& a, const FloatPart& b) { return a != a ? kNan - FloatPart{} : b; },
             nan, x);
}

void FillNan(float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = kNan;
}

// A NaN is left out here: it comes back with the sum.
RSHIFT_INLINE float HighestOf(const float* x, int64_t n) {
  const auto higher = [](const Floats& best, const Floats& v) {
    return Map([](const FloatPart& b, const FloatPart& a) { return Max(a, b); }, best, v);
  };
  float few[8];
  if (n < 8) {
    for (int64_t i = 0; i < 8; ++i) few[i] = x[i < n ? i : 0];
    x = few;
    n = 8;
  }
  Floats best = higher(AllFloats(kLowest), Load(x + n - 8)), other = best;
  const int64_t last = LastGroup(n);
  for (int64_t i = 0; i < last; i += 16) {
    best = higher(best, Load(x + i));
    if (i + 8 < last) other = higher(other, Load(x + i + 8));
  }
  best = higher(best, other);
  float lane[8];
  Store(best, lane);
  for (int half = 4; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] = lane[i + half] > lane[i] ? lane[i + half] : lane[i];
  }
  return lane[0];
}

// y = at(x, lane) for the lanes of one row; fewer than eight by way of a buffer.
template <typename F>
RSHIFT_INLINE void MapRow(const float* x, float* y, int64_t lanes, const F& at) {
  if (lanes >= 8) {
    UpdateLanes(y, lanes, [&](int64_t lane) { return at(Load(x + lane), lane); });
    return;
  }
  float few[8] = {};
  for (int64_t lane = 0; lane < lanes; ++lane) few[lane] = x[lane];
  Store(at(Load(few), 0), few);
  for (int64_t lane = 0; lane < lanes; ++lane) y[lane] = few[lane];
}

// out = exp(out) of neighbouring rows whose highest is 0, over its sum.
void DivideBySum(float* out, int64_t rows, int64_t n) {
  Exponentials(out, out, rows * n);
  for (int64_t row = 0; row < rows; ++row, out += n) {
    const double sum = RowSum(out, n, false);
    const Floats scale = AllFloats(SoftmaxScale(sum, false));
    if (sum != sum)
      FillNan(out, n);
    else
      MapRow(out, out, n, [&](const Floats& x, int64_t) { return x * scale; });
  }
}

// out = out - log(sum of exp(out)) of a row whose highest is 0.
void SubtractLogSum(float* out, int64_t n) {
  float powers[kSoftmaxLanes];
  double sum = 0;
  for (int64_t i = 0; i < n; i += kSoftmaxLanes) {
    const int64_t count = n - i < kSoftmaxLanes ? n - i : kSoftmaxLanes;
    Exponentials(out + i, powers, count);
    sum += RowSum(powers, count, false);
  }
  const Floats scale = AllFloats(SoftmaxScale(sum, true));
  if (sum != sum)
    FillNan(out, n);
  else
    MapRow(out, out, n, [&](const Floats& x, int64_t) { return x - scale; });
}

void SoftmaxRows(const float* in, float* out, int64_t rows, int64_t n, bool log) noexcept {
  constexpr int64_t kElements = 2048;  // what is computed step by step stays in L1
  const int64_t most = n < kElements ? kElements / n : 1;
  for (int64_t row = 0; row < rows;) {
    const int64_t count = rows - row < most ? rows - row : most;
    for (int64_t r = row; r < row + count; ++r) {
      const Floats highest = AllFloats(HighestOf(in + r * n, n));
      MapRow(in + r * n, out + r * n, n, [&](const Floats& x, int64_t) { return x - highest; });
      if (log) SubtractLogSum(out + r * n, n);
    }
    if (!log) DivideBySum(out + row * n, count, n);
    row += count;
  }
}

void SoftmaxColumns(const Columns& columns, float* out, bool log) noexcept {
  const Columns c = columns;
  float highest[kSoftmaxLanes], powers[kSoftmaxLanes], scale[kSoftmaxLanes];
  double sums[kSoftmaxLanes];
  for (float& lane : highest) lane = kLowest;
  for (double& lane : sums) lane = 0;
  FoldColumns(c, highest, [](const Floats& best, const float* x, int64_t) {
    return Map([](const FloatPart& b, const FloatPart& a) { return Max(a, b); }, best, Load(x));
  });
  for (int64_t row = 0; row < c.rows; ++row) {
    float* y = log ? powers : out + row * c.pitch;
    MapRow(c.x + row * c.pitch, y, c.lanes,
           [&](const Floats& x, int64_t lane) { return x - Load(highest + lane); });
    Exponentials(y, y, c.lanes);
    ColumnSums({y, 1, 0, c.lanes}, false, sums);
  }
  for (float& lane : scale) lane = 0;
  for (int64_t lane = 0; lane < c.lanes; ++lane) scale[lane] = SoftmaxScale(sums[lane], log);
  for (int64_t row = 0; row < c.rows; ++row) {
    float* y = out + row * c.pitch;
    MapRow(log ? c.x + row * c.pitch : y, y, c.lanes, [&](const Floats& x, int64_t lane) {
      const Floats by = Load(scale + lane);
      return NanWhere(by, log ? (x - Load(highest + lane)) - by : x * by);
    });
  }
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_SOFTMAX_KERNELS_H_
