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

// RowSum of the elements as they are.
RSHIFT_INLINE double SumOf(const float* x, int64_t n) {
  return SumRow(x, n, [](const Doubles& v) RSHIFT_INLINE_LAMBDA { return v; });
}

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

// The highest of the widest registers that fit; the last one overlaps its neighbours. A NaN is left
// out here: it comes back with the sum.
RSHIFT_INLINE float HighestOf(const float* x, int64_t n) {
  constexpr int64_t kWidth = kWide / 4;
  float few[kWidth];
  if (n < kWidth) {
    for (int64_t i = 0; i < kWidth; ++i) few[i] = x[i < n ? i : 0];
    x = few;
    n = kWidth;
  }
  const auto at = [=](int64_t i) RSHIFT_INLINE_LAMBDA { return LoadPart<WideFloats>(x + i); };
  WideFloats best = WideMax(at(n - kWidth), AllWide(kLowest)), other = best;
  int64_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) {
    best = WideMax(at(i), best);
    other = WideMax(at(i + kWidth), other);
  }
  if (i + kWidth <= n) best = WideMax(at(i), best);
  best = WideMax(best, other);
  float lane[kWidth];
  std::memcpy(lane, &best, sizeof lane);
#pragma GCC unroll 4
  for (int64_t half = kWidth / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int64_t k = 0; k < half; ++k)
      lane[k] = lane[k + half] > lane[k] ? lane[k + half] : lane[k];
  }
  return lane[0];
}

// y = f(x) of a row, in registers of any width: f takes a float or a vector of them.
template <typename F>
RSHIFT_INLINE void MapAnyWidth(const float* x, float* y, int64_t n, const F& f) {
  const auto by = [&]<typename Register>(Register) RSHIFT_INLINE_LAMBDA {
    constexpr int64_t kWidth = sizeof(Register) / sizeof(float);
    const Register last = f(LoadPart<Register>(x + n - kWidth));  // before its neighbours change
    for (int64_t i = 0; i + kWidth <= n; i += kWidth) {
      const Register value = f(LoadPart<Register>(x + i));
      std::memcpy(y + i, &value, sizeof value);
    }
    std::memcpy(y + n - kWidth, &last, sizeof last);
  };
  if (n >= kWide / 4) return by(WideFloats{});
  if (n >= kRegister / 4) return by(FloatPart{});
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
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

// out = exp(out) of neighbouring rows whose highest is 0, over its sum. Many rows' quotients are
// made before the first is waited for.
void DivideBySum(float* out, int64_t rows, int64_t n) {
  constexpr int64_t kRows = 64;
  float scales[kRows];
  Exponentials(out, out, rows * n);
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = rows - first < kRows ? rows - first : kRows;
    float* some = out + first * n;
    for (int64_t r = 0; r < count; ++r) scales[r] = SoftmaxScale(SumOf(some + r * n, n), false);
    for (int64_t r = 0; r < count; ++r) {
      const float scale = scales[r];
      if (scale != scale)
        FillNan(some + r * n, n);
      else
        MapAnyWidth(some + r * n, some + r * n, n,
                    [=](auto x) RSHIFT_INLINE_LAMBDA { return x * scale; });
    }
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
  const float scale = SoftmaxScale(sum, true);
  if (sum != sum)
    FillNan(out, n);
  else
    MapAnyWidth(out, out, n, [=](auto x) RSHIFT_INLINE_LAMBDA { return x - scale; });
}

constexpr int64_t kSoftmaxBlock = 2048;  // what is computed step by step stays in L1

// Neighbouring rows by way of a buffer where each begins with a register of its own: what is given
// alone is read and written across cache lines.
void SoftmaxInBuffer(const float* in, float* out, int64_t rows, int64_t n, int64_t pitch) {
  constexpr int64_t kWidth = kWide / 4;
  alignas(64) float buffer[kSoftmaxBlock];
  buffer[0] = 0;  // all that is read has been written: g++ doubts it
  const int64_t whole = n / kWidth * kWidth;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = in + r * n;
    float* to = buffer + r * pitch;
    const float highest = HighestOf(from, n);
    for (int64_t i = 0; i < whole; i += kWidth) {
      const WideFloats x = LoadPart<WideFloats>(from + i) - highest;
      std::memcpy(to + i, &x, sizeof x);
    }
    if (whole < n) {
      const WideFloats x = LoadFirst(from + whole, n - whole) - highest;
      std::memcpy(to + whole, &x, sizeof x);
    }
  }
  Exponentials(buffer, buffer, rows * pitch);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = buffer + r * pitch;
    float* to = out + r * n;
    const float scale = SoftmaxScale(SumOf(from, n), false);
    if (scale != scale) {
      FillNan(to, n);
      continue;
    }
    const auto scaled = [&](int64_t i)
                            RSHIFT_INLINE_LAMBDA { return LoadPart<WideFloats>(from + i) * scale; };
    for (int64_t i = 0; i < whole; i += kWidth) {
      const WideFloats y = scaled(i);
      std::memcpy(to + i, &y, sizeof y);
    }
    if (whole < n) StoreFirst(scaled(whole), n - whole, to + whole);
  }
}

void SoftmaxRows(const float* in, float* out, int64_t rows, int64_t n, bool log) noexcept {
  constexpr int64_t kWidth = kWide / 4;
  const int64_t pitch = (n + kWidth - 1) / kWidth * kWidth;
  // Rows that nearly fill their registers.
  const bool buffered = !log && pitch <= kSoftmaxBlock && pitch - n <= n / 8;
  const int64_t size = buffered ? pitch : n, most = size < kSoftmaxBlock ? kSoftmaxBlock / size : 1;
  for (int64_t row = 0; row < rows;) {
    const int64_t count = rows - row < most ? rows - row : most;
    if (buffered) {
      SoftmaxInBuffer(in + row * n, out + row * n, count, n, pitch);
      row += count;
      continue;
    }
    for (int64_t r = row; r < row + count; ++r) {
      const float highest = HighestOf(in + r * n, n);
      MapAnyWidth(in + r * n, out + r * n, n,
                  [=](auto x) RSHIFT_INLINE_LAMBDA { return x - highest; });
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
