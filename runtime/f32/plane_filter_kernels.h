// Convolutions with one filter for each plane (row_kernels.h), for the units of the instruction
// sets.
#ifndef RSHIFT_RUNTIME_F32_PLANE_FILTER_KERNELS_H_
#define RSHIFT_RUNTIME_F32_PLANE_FILTER_KERNELS_H_

#include "runtime/f32/plane_sums.h"

namespace rshift::f32 {
namespace {

// Rows of a plane as the taps read them: zeros where the image ends, and of a stride s every s-th
// column together, so that the taps of neighbouring outputs are neighbours.
struct PlaneLines {
  const float* x = nullptr;  // of the first row
  int64_t row_step = 0;      // to the next row of the image
  int64_t phase_step = 0;    // to the columns behind these: number n has column s * i + n at i
};

// kPlaneWidth columns of a row of `width`, from `column` on; zeros where there are none. The same
// for all rows of an image.
class PartOfRow {
 public:
  RSHIFT_INLINE PartOfRow(int64_t column, int64_t width) : column_(column) {
    begin_ = column < 0 ? -column : 0;
    const int64_t left = width - column;
    end_ = left < kPlaneWidth ? left : kPlaneWidth;
    if (begin_ >= end_) begin_ = end_ = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
    for (int64_t i = 0; i < kPlaneWidth; ++i) is_there_[i] = i >= begin_ && i < end_ ? -1 : 0;
#endif
  }

  RSHIFT_INLINE bool is_whole() const { return end_ - begin_ == kPlaneWidth; }
  RSHIFT_INLINE WideFloats WholeOf(const float* x) const {
    return LoadPart<WideFloats>(x + column_);
  }
  RSHIFT_INLINE WideFloats Of(const float* x) const {
#if defined(__AVX512F__)
    const auto mask = static_cast<__mmask16>((1u << end_) - (1u << begin_));
    return _mm512_maskz_loadu_ps(mask, x + column_);
#elif defined(__AVX2__)
    static_assert(kPlaneWidth == 8);
    const auto is_there = _mm256_load_si256(reinterpret_cast<const __m256i*>(is_there_));
    const __m256 some = _mm256_maskload_ps(x + column_, is_there);
    return LoadPart<WideFloats>(&some);
#else
    float some[kPlaneWidth] = {};
    for (int64_t i = begin_; i < end_; ++i) some[i] = x[column_ + i];
    return LoadPart<WideFloats>(some);
#endif
  }

 private:
  int64_t column_, begin_, end_;  // columns column_ + [begin_, end_) are there
#if defined(__AVX2__) && !defined(__AVX512F__)
  alignas(32) int32_t is_there_[kPlaneWidth];  // all bits or none
#endif
};

// `rows` rows of the image from row `above` on, from column `first` on, in lines of `end` elements,
// a multiple of kPlaneWidth.
RSHIFT_INLINE void FillLines(const PlaneFilter& f, int64_t above, int64_t rows, int64_t first,
                             int64_t end, float* to) {
  const int64_t row_step = f.stride_w * end;
  const int64_t begin = above < 0 ? (-above < rows ? -above : rows) : 0;
  int64_t stop = f.height - above < rows ? f.height - above : rows;
  if (stop < begin) stop = begin;
  for (int64_t i = 0; i < begin * row_step; ++i) to[i] = 0;
  for (int64_t i = stop * row_step; i < rows * row_step; ++i) to[i] = 0;
  const float* x = f.x + (above + begin) * f.width;
  to += begin * row_step;
  const int64_t inside = stop - begin;
  if (f.stride_w == 1) {
    for (int64_t i = 0; i < end; i += kPlaneWidth) {
      const PartOfRow part(first + i, f.width);
      const auto fill = [&](auto load) RSHIFT_INLINE_LAMBDA {
        for (int64_t row = 0; row < inside; ++row) {
          const WideFloats some = load(x + row * f.width);
          std::memcpy(to + row * row_step + i, &some, sizeof some);
        }
      };
      if (part.is_whole())
        fill([&](const float* line) RSHIFT_INLINE_LAMBDA { return part.WholeOf(line); });
      else
        fill([&](const float* line) RSHIFT_INLINE_LAMBDA { return part.Of(line); });
    }
  } else if (f.stride_w == 2) {
    for (int64_t i = 0; i < end; i += kPlaneWidth) {
      const PartOfRow left(first + 2 * i, f.width), right(first + 2 * i + kPlaneWidth, f.width);
      const auto fill = [&](auto load) RSHIFT_INLINE_LAMBDA {
        for (int64_t row = 0; row < inside; ++row) {
          const WideFloats a = load(left, x + row * f.width), b = load(right, x + row * f.width);
          const WideFloats evens = EverySecond<0>(a, b), odds = EverySecond<1>(a, b);
          float* line = to + row * row_step + i;
          std::memcpy(line, &evens, sizeof evens);
          std::memcpy(line + end, &odds, sizeof odds);
        }
      };
      if (left.is_whole() && right.is_whole())
        fill([](const PartOfRow& part, const float* line)
                 RSHIFT_INLINE_LAMBDA { return part.WholeOf(line); });
      else
        fill([](const PartOfRow& part, const float* line)
                 RSHIFT_INLINE_LAMBDA { return part.Of(line); });
    }
  } else {
    for (int64_t row = 0; row < inside; ++row, x += f.width, to += row_step) {
      for (int64_t i = 0; i < end; ++i) {
        for (int64_t phase = 0; phase < f.stride_w; ++phase) {
          const int64_t column = first + i * f.stride_w + phase;
          to[phase * end + i] = column >= 0 && column < f.width ? x[column] : 0;
        }
      }
    }
  }
}

// Outputs of one register in each of several rows.
struct PlaneTile {
  const float* x = nullptr;  // the line of the first row's first tap
  float* out = nullptr;
  int64_t outputs = 0;  // of the register
};

// A window whose size is known: what is read of a row of the image serves all rows of outputs
// above which it lies.
template <int kKernel, int kStride>
struct KnownWindow {
  template <int kRows>
  RSHIFT_INLINE static void Add(const PlaneFilter& f, const PlaneLines& lines, const PlaneTile& t,
                                FloatSum* sums) {
#pragma GCC unroll 32
    for (int row = 0; row < (kRows - 1) * kStride + kKernel; ++row) {
      const float* x = t.x + row * lines.row_step;
#pragma GCC unroll 8
      for (int column = 0; column < kKernel; ++column) {
        const auto some =
            LoadPart<WideFloats>(x + column % kStride * lines.phase_step + column / kStride);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const int tap = row - r * kStride;
          if (tap >= 0 && tap < kKernel) sums[r].Add(some, f.w[tap * kKernel + column]);
        }
      }
    }
  }
};

struct AnyWindow {
  template <int kRows, typename Sum>
  RSHIFT_INLINE static void Add(const PlaneFilter& f, const PlaneLines& lines, const PlaneTile& t,
                                Sum* sums) {
    const int64_t below = f.stride_h * lines.row_step;
    const float* w = f.w;
    for (int64_t row = 0; row < f.kernel_h; ++row) {
      for (int64_t column = 0; column < f.kernel_w; ++column, ++w) {
        const int64_t place = column * f.dilation_w;
        const float* x = t.x + row * f.dilation_h * lines.row_step +
                         place % f.stride_w * lines.phase_step + place / f.stride_w;
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) sums[r].Add(LoadPart<WideFloats>(x + r * below), *w);
      }
    }
  }
};

template <typename Taps, typename Sum, int kRows>
void RunPlaneTile(const PlaneFilter& f, const PlaneLines& lines, const PlaneTile& t) {
  Sum sums[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums[r].Begin(f.bias);
  Taps::template Add<kRows>(f, lines, t, sums);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
    StoreOutputs(sums[r].End(f.bias), t.outputs, f.lo, f.hi, t.out + r * f.outputs);
}

// `rows` rows of `outputs` outputs. The last rows are computed twice where they fill no tile.
template <typename Taps, typename Sum>
void RunPlaneBlock(const PlaneFilter& f, const PlaneLines& lines, int64_t rows, int64_t outputs,
                   float* out) {
  for (int64_t i = 0; i < outputs; i += kPlaneWidth) {
    const auto tile = [&](int64_t row) RSHIFT_INLINE_LAMBDA {
      return PlaneTile{lines.x + i + row * f.stride_h * lines.row_step, out + i + row * f.outputs,
                       outputs - i};
    };
    if (rows < Sum::kRows) {
      for (int64_t row = 0; row < rows; ++row) RunPlaneTile<AnyWindow, Sum, 1>(f, lines, tile(row));
      continue;
    }
    for (int64_t row = 0; row < rows; row += Sum::kRows)
      RunPlaneTile<Taps, Sum, Sum::kRows>(f, lines,
                                          tile(row + Sum::kRows <= rows ? row : rows - Sum::kRows));
  }
}

using PlaneBlock = void (*)(const PlaneFilter& f, const PlaneLines& lines, int64_t rows,
                            int64_t outputs, float* out);

PlaneBlock FindPlaneBlock(const PlaneFilter& f) {
  if (f.in_double) return RunPlaneBlock<AnyWindow, DoubleSum>;
  const bool known = f.kernel_h == f.kernel_w && f.stride_h == f.stride_w && f.dilation_h == 1 &&
                     f.dilation_w == 1;
  const auto is = [&](int64_t kernel, int64_t stride) {
    return known && f.kernel_h == kernel && f.stride_h == stride;
  };
  if constexpr (kIsFused) {
    if (is(3, 1)) return RunPlaneBlock<KnownWindow<3, 1>, FloatSum>;
    if (is(3, 2)) return RunPlaneBlock<KnownWindow<3, 2>, FloatSum>;
    if (is(5, 1)) return RunPlaneBlock<KnownWindow<5, 1>, FloatSum>;
    if (is(5, 2)) return RunPlaneBlock<KnownWindow<5, 2>, FloatSum>;
    if (is(7, 1)) return RunPlaneBlock<KnownWindow<7, 1>, FloatSum>;
  }
  return RunPlaneBlock<AnyWindow, FloatSum>;
}

RSHIFT_INLINE int64_t ToWholeRegisters(int64_t n) {
  return (n + kPlaneWidth - 1) / kPlaneWidth * kPlaneWidth;
}

// x * w + bias, both rounded, of n neighbours.
RSHIFT_INLINE void ScalePlane(const PlaneFilter& f, const float* x, int64_t n, float* out) {
  const float w = f.w[0], bias = f.bias, lo = f.lo, hi = f.hi;
  const auto scaled = [=](const WideFloats& some) RSHIFT_INLINE_LAMBDA { return some * w + bias; };
  int64_t i = 0;
  for (; i + 4 * kPlaneWidth <= n; i += 4 * kPlaneWidth) {
#pragma GCC unroll 4
    for (int64_t k = i; k < i + 4 * kPlaneWidth; k += kPlaneWidth)
      StoreOutputs(scaled(LoadPart<WideFloats>(x + k)), kPlaneWidth, lo, hi, out + k);
  }
  for (; i < n; i += kPlaneWidth) {
    const bool whole = n - i >= kPlaneWidth;
    const WideFloats some = whole ? LoadPart<WideFloats>(x + i) : LoadFirst(x + i, n - i);
    StoreOutputs(scaled(some), n - i, lo, hi, out + i);
  }
}

// In bands of rows, 64 columns wide, whose lines stay in the nearest cache.
void PlaneConvolution(const PlaneFilter& f) noexcept {
  if (f.kernel_h == 1 && f.kernel_w == 1 && f.stride_h == 1 && f.stride_w == 1 &&
      f.height == f.rows && f.width == f.outputs)
    return ScalePlane(f, f.x + f.first * f.width, (f.end - f.first) * f.width,
                      f.out + f.first * f.width);
  constexpr int64_t kFloats = 8192, kOutputs = 64;
  static_assert(kMaxPlaneReach * kMaxPlaneStride * (kOutputs + 64) <= kFloats);
  alignas(64) float lines[kFloats + kPlaneWidth];
  const WideFloats zeros = {};
  const PlaneBlock run = FindPlaneBlock(f);
  const int64_t reach = (f.kernel_h - 1) * f.dilation_h + 1;
  for (int64_t at = 0; at < f.outputs; at += kOutputs) {
    const int64_t outputs = f.outputs - at < kOutputs ? f.outputs - at : kOutputs;
    // What the last register reads behind that is no output's.
    const int64_t end = ToWholeRegisters(outputs + (f.kernel_w - 1) * f.dilation_w / f.stride_w);
    const int64_t row_step = f.stride_w * end;
    int64_t band = (kFloats / row_step - reach) / f.stride_h + 1;
    if (band > kPlaneRows) band -= band % kPlaneRows;
    for (int64_t row = f.first; row < f.end; row += band) {
      const int64_t rows = f.end - row < band ? f.end - row : band;
      const int64_t above = row * f.stride_h - f.pad_top;
      const int64_t filled = (rows - 1) * f.stride_h + reach;
      FillLines(f, above, filled, at * f.stride_w - f.pad_left, end, lines);
      std::memcpy(lines + filled * row_step, &zeros, sizeof zeros);
      run(f, {lines, row_step, end}, rows, outputs, f.out + row * f.outputs + at);
    }
  }
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PLANE_FILTER_KERNELS_H_
