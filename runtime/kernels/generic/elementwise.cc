#include "runtime/kernels/elementwise.h"

#include "quantize/numerics/add.h"
#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/average_forms.h"
#include "quantize/numerics/average_pool.h"
#include "quantize/numerics/quantize.h"
#include "runtime/kernels/avx512/add.h"
#include "runtime/kernels/avx512/quantize.h"
#include "runtime/kernels/generic/targets.h"

// Written for the vectoriser (-O3 -fno-trapping-math, see CMakeLists.txt). `omp simd`: an element
// depends on its own index only, in place as well. The arguments are copied: the bytes written may
// alias them as far as the compiler knows.
namespace rshift {
namespace {

[[gnu::always_inline]] inline int32_t At(const ByteOperand& x, int64_t i) {
  return (x.bytes[i] ^ x.flip) - x.zero;
}

[[gnu::always_inline]] inline void AddLoop(const AddArgs& args, int64_t begin, int64_t end) {
  uint8_t* y = args.y;
  const AddArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::AddCommonShift(
        At(p.a, i), At(p.b, i), p.multiplier_a, p.multiplier_b, p.rshift, p.zero_y, p.lo, p.hi));
  }
}

// numerics::AddCommonShiftAway in 32 bits: the last bit is shifted out apart, so that the rounding
// term is 1 and cannot overflow. With a shift of 32 and more nothing is left but the sign, and the
// result is 0.
[[gnu::always_inline]] inline void AddAwayLoop(const AddArgs& args, int64_t begin, int64_t end) {
  uint8_t* y = args.y;
  const AddArgs p = args;
  const int32_t last = p.rshift > 0 ? 1 : 0;
  const int32_t first = p.rshift > 32 ? 31 : p.rshift - last;
  const int32_t low = p.lo - p.zero_y, high = p.hi - p.zero_y;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const int32_t sum = At(p.a, i) * p.multiplier_a + At(p.b, i) * p.multiplier_b;
    const int32_t towards = sum + ((sum >> 31) & -last);
    const int32_t rounded = ((towards >> first) + last) >> last;
    y[i] = static_cast<uint8_t>((rounded < low ? low : rounded > high ? high : rounded) + p.zero_y);
  }
}

[[gnu::always_inline]] inline void AddFloatLoop(const AddFloatArgs& args, int64_t begin,
                                                int64_t end) {
  uint8_t* y = args.y;
  const AddFloatArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::AddFloat(At(p.a, i), p.scale_a, 0, At(p.b, i), p.scale_b,
                                                   0, p.scale_y, p.zero_y, p.lo, p.hi));
  }
}

// fma is one instruction where the function's instruction set has it, else the C library's: exact
// either way.
[[gnu::always_inline]] inline void AddFmaLoop(const AddFmaArgs& args, int64_t begin, int64_t end) {
  uint8_t* y = args.y;
  const AddFmaArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::AddFma(At(p.a, i), At(p.b, i), p.ratio_a, p.ratio_b,
                                                 p.fixed, p.shift_y, p.lo, p.hi));
  }
}

[[gnu::always_inline]] inline void MulFloatLoop(const MulFloatArgs& args, int64_t begin,
                                                int64_t end) {
  uint8_t* y = args.y;
  const MulFloatArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const int32_t product = At(p.a, i) * At(p.b, i);
    y[i] = static_cast<uint8_t>(
        numerics::MulFloatZero(product, p.scale, p.zero_y, p.shift_y, p.lo, p.hi));
  }
}

[[gnu::always_inline]] inline void ProductLoop(const ProductArgs& args, int64_t begin,
                                               int64_t end) {
  const ProductArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) p.y[i - begin] = At(p.a, i) * At(p.b, i);
}

// numerics::RoundToByteBy in forms that the vectoriser takes (it balks at the truncated float that
// RoundReal subtracts). Half away from zero: the greatest number below 1/2 is added, for 1/2 itself
// would carry its neighbour over to 1, and the sum cut off. Floor and ceiling: the nearest integer,
// put right where it lies on the wrong side. |v| <= 32768 behind the clamp.
template <RealRounding kRounding>
[[gnu::always_inline]] inline int32_t RoundTo(float v, int32_t zero, int32_t lo, int32_t hi) {
  if (v != v) return zero < lo ? lo : zero > hi ? hi : zero;
  const float low = static_cast<float>(lo - zero), high = static_cast<float>(hi - zero);
  if (v < low) v = low;
  if (v > high) v = high;
  if constexpr (kRounding == RealRounding::kAway) {
    v = v + __builtin_copysignf(0.49999997f, v);
  } else if constexpr (kRounding != RealRounding::kTruncate) {
    const float nearest = numerics::RoundHalfEven(v);
    const bool wrong = kRounding == RealRounding::kFloor ? v < nearest : v > nearest;
    const float step = kRounding == RealRounding::kFloor ? -1.0f : 1.0f;
    v = kRounding != RealRounding::kEven && wrong ? nearest + step : nearest;
  }
  return static_cast<int32_t>(v) + zero;
}

// numerics::QuantizeValueBy, QuantizeByReciprocal.
template <RealRounding kRounding, bool kReciprocal>
[[gnu::always_inline]] inline void QuantizeLoop(const QuantizeArgs& args, int64_t begin,
                                                int64_t end) {
  const float* x = args.x;
  uint8_t* y = args.y;
  const QuantizeArgs p = args;
  const float inverse = 1.0f / p.scale;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float v = kReciprocal ? x[i] * inverse : x[i] / p.scale;
    y[i] = static_cast<uint8_t>(RoundTo<kRounding>(v, p.zero, p.lo, p.hi));
  }
}

template <bool kReciprocal>
[[gnu::always_inline]] inline void QuantizeInt16Loop(const QuantizeInt16Args& args, int64_t begin,
                                                     int64_t end) {
  const QuantizeInt16Args p = args;
  const float inverse = 1.0f / p.scale;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float v = kReciprocal ? p.x[i] * inverse : p.x[i] / p.scale;
    p.y[i] = static_cast<int16_t>(RoundTo<RealRounding::kEven>(v, 0, -32768, 32767));
  }
}

[[gnu::always_inline]] inline void DequantizeInt16Loop(const DequantizeInt16Args& args,
                                                       int64_t begin, int64_t end) {
  const DequantizeInt16Args p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) p.y[i] = numerics::DequantizeValue(p.x[i], p.scale, 0);
}

[[gnu::always_inline]] inline void DequantizeLoop(const DequantizeArgs& args, int64_t begin,
                                                  int64_t end) {
  const DequantizeArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) p.y[i] = numerics::DequantizeValue(At(p.x, i), p.scale, 0);
}

[[gnu::always_inline]] inline void AddRealLoop(const AddRealArgs& args, int64_t begin,
                                               int64_t end) {
  const AddRealArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) p.y[i] += numerics::DequantizeValue(At(p.x, i), p.scale, 0);
}

[[gnu::always_inline]] inline void AverageRealLoop(const AverageRealArgs& args, int64_t begin,
                                                   int64_t end) {
  const AverageRealArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    p.y[i] = static_cast<uint8_t>(numerics::AverageDequantized(p.total[i], p.taps, p.scale_y,
                                                               p.zero_y, p.shift_y, p.lo, p.hi));
  }
}

[[gnu::always_inline]] inline void AverageLoop(const AverageArgs& args, int64_t begin,
                                               int64_t end) {
  const AverageArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    p.y[i] = static_cast<uint8_t>(
        numerics::AveragePool(p.sum[i] + p.pads, p.taps, p.scale, p.offset, p.lo, p.hi));
  }
}

// numerics::AverageInteger by one division in binary64, cut off towards zero: |sum| + taps / 2 is
// below 2^32, so a quotient that is no integer is further from the next than its rounding error.
[[gnu::always_inline]] inline void AverageIntegerLoop(const AverageArgs& args, int64_t begin,
                                                      int64_t end) {
  const AverageArgs p = args;
  const auto taps = static_cast<double>(p.inside), half = static_cast<double>(p.inside / 2);
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const auto sum = static_cast<double>(p.sum[i]);
    const auto mean = static_cast<int32_t>((p.sum[i] > 0 ? sum + half : sum - half) / taps);
    p.y[i] = static_cast<uint8_t>(mean < p.lo ? p.lo : mean > p.hi ? p.hi : mean);
  }
}

// numerics::AverageScaleAway.
[[gnu::always_inline]] inline void AverageScaleAwayLoop(const AverageArgs& args, int64_t begin,
                                                        int64_t end) {
  const AverageArgs p = args;
  const float factor = p.scale / static_cast<float>(p.taps);
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float v = static_cast<float>(p.sum[i] - p.inside * p.zero_x) * factor;
    p.y[i] = static_cast<uint8_t>(RoundTo<RealRounding::kAway>(v, p.zero_y, p.lo, p.hi));
  }
}

// A loop as a function for one instruction set: kLoop is inlined into it.
#define RSHIFT_TARGET(name, ...)                                                         \
  struct name {                                                                          \
    template <typename Args, void (*kLoop)(const Args&, int64_t, int64_t)>               \
    __VA_ARGS__ static void Run(const Args& args, int64_t begin, int64_t end) noexcept { \
      kLoop(args, begin, end);                                                           \
    }                                                                                    \
    template <typename Args, void (*kLoop)(const Args&, int64_t, int64_t)>               \
    __VA_ARGS__ static void Rows(const Args& args, const RowBlock& rows) noexcept {      \
      Args row = args;                                                                   \
      for (int64_t r = 0; r < rows.rows; ++r) {                                          \
        kLoop(row, 0, rows.count);                                                       \
        row.a.bytes += rows.pitch_a;                                                     \
        row.b.bytes += rows.pitch_b;                                                     \
        row.y += rows.pitch_y;                                                           \
      }                                                                                  \
    }                                                                                    \
  }

RSHIFT_FOR_TARGETS(RSHIFT_TARGET);

#if defined(__x86_64__)
void AddOnAvx512(const AddArgs& args, const RowBlock& rows) noexcept {
  if (!AddAvx512(args, rows)) Avx512::Rows<AddArgs, AddLoop>(args, rows);
}
#endif

template <typename T>
constexpr ElementwiseTable kTable = {
    .add = T::template Rows<AddArgs, AddLoop>,
    .add_away = T::template Rows<AddArgs, AddAwayLoop>,
    .add_float = T::template Rows<AddFloatArgs, AddFloatLoop>,
    .add_fma = T::template Rows<AddFmaArgs, AddFmaLoop>,
    .mul_float = T::template Rows<MulFloatArgs, MulFloatLoop>,
    .product = T::template Run<ProductArgs, ProductLoop>,
    .quantize =
        {
#define RSHIFT_REAL_ROUNDING(id, name, ...) \
  T::template Run<QuantizeArgs, QuantizeLoop<RealRounding::k##name, false>>,
#include "isa/functions.def"
        },
    .quantize_reciprocal =
        {
#define RSHIFT_REAL_ROUNDING(id, name, ...) \
  T::template Run<QuantizeArgs, QuantizeLoop<RealRounding::k##name, true>>,
#include "isa/functions.def"
        },
    .dequantize = T::template Run<DequantizeArgs, DequantizeLoop>,
    .quantize_int16 = T::template Run<QuantizeInt16Args, QuantizeInt16Loop<false>>,
    .quantize_int16_reciprocal = T::template Run<QuantizeInt16Args, QuantizeInt16Loop<true>>,
    .dequantize_int16 = T::template Run<DequantizeInt16Args, DequantizeInt16Loop>,
    .add_real = T::template Run<AddRealArgs, AddRealLoop>,
    .average_real = T::template Run<AverageRealArgs, AverageRealLoop>,
    .average = T::template Run<AverageArgs, AverageLoop>,
    .average_integer = T::template Run<AverageArgs, AverageIntegerLoop>,
    .average_scale_away = T::template Run<AverageArgs, AverageScaleAwayLoop>};

#if defined(__x86_64__)
// With what was written by hand.
constexpr ElementwiseTable Improved(ElementwiseTable table) {
  constexpr auto kEven = static_cast<size_t>(RealRounding::kEven);
  table.add = AddOnAvx512;
  table.add_float_near = AddFloatNearAvx512;
  table.quantize[kEven] = QuantizeEvenAvx512;
  table.quantize_reciprocal[kEven] = QuantizeEvenByReciprocalAvx512;
  return table;
}
constexpr ElementwiseTable kAvx512Table = Improved(kTable<Avx512>);
#endif

}  // namespace

const ElementwiseTable& ElementwiseFor(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::kScalar:
    case Isa::kNeonDot:
      return kTable<Scalar>;
    case Isa::kAvx2:
    case Isa::kAvxVnni:
      return kTable<Avx2>;
    case Isa::kAvx512Vnni:
      return kAvx512Table;
  }
#endif
  (void)isa;
  return kTable<Scalar>;
}

}  // namespace rshift
