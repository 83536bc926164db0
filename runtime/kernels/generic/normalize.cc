#include "runtime/kernels/normalize.h"

#include "runtime/kernels/generic/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Written for the vectoriser, as elementwise.cc. Arithmetic shifts of 64 bits, which AVX2 has not,
// are logical ones of what is made non-negative first.
namespace rshift {
namespace {

constexpr int64_t kRaise = int64_t{1} << 62;  // above any sum here

// floor(v / 2^shift) for |v| < 2^62.
[[gnu::always_inline]] inline int64_t FloorShift(int64_t v, int64_t shift) {
  return static_cast<int64_t>((static_cast<uint64_t>(v + kRaise) >> shift) -
                              (static_cast<uint64_t>(kRaise) >> shift));
}

[[gnu::always_inline]] inline uint8_t Bounded(int64_t v, int64_t lo, int64_t hi) {
  return static_cast<uint8_t>(v < lo ? lo : v > hi ? hi : v);
}

[[gnu::always_inline]] inline void QuotientsLoop(const int32_t* entries, int64_t count,
                                                 const numerics::SoftmaxQuotientRow& row,
                                                 const OutputBounds& bounds, uint8_t* y) {
  const uint64_t factor = row.factor, half = uint64_t{1} << (row.rshift - 1);
  const int64_t lo = bounds.lo - bounds.zero, hi = bounds.hi - bounds.zero, zero = bounds.zero;
  const int32_t rshift = row.rshift;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t product = static_cast<uint64_t>(static_cast<uint32_t>(entries[i])) * factor;
    const auto q = static_cast<int64_t>((product + half) >> rshift);
    y[i] = static_cast<uint8_t>((q < lo ? lo : q > hi ? hi : q) + zero);
  }
}

[[gnu::always_inline]] inline ByteSums SumsLoop(const uint8_t* x, uint8_t flip, int64_t count) {
  constexpr int64_t kBlock = 32768;  // squares of so many fit 32 bits
  ByteSums result;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t end = at + kBlock < count ? at + kBlock : count;
    uint32_t sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (int64_t i = at; i < end; ++i) {
      const uint32_t v = static_cast<uint8_t>(x[i] ^ flip);
      sum += v;
      squares += v * v;
    }
    result.sum += sum;
    result.squares += squares;
  }
  return result;
}

[[gnu::always_inline]] inline void ChannelSumsLoop(const uint8_t* x, uint8_t flip, int64_t count,
                                                   int32_t* sum, int32_t* squares) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t v = static_cast<uint8_t>(x[i] ^ flip);
    sum[i] += v;
    squares[i] += v * v;
  }
}

[[gnu::always_inline]] inline void RowLoop(const NormalizeArgs& args, int64_t count) {
  const NormalizeArgs p = args;
  uint8_t* y = p.y;
  const int32_t shift = p.by.shift, inverse = p.by.inverse;
  const int64_t half = int64_t{1} << (shift - 1);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t difference = p.n * (p.x[i] ^ p.flip) - p.center;
    const auto normal =
        static_cast<int32_t>(FloorShift(int64_t{difference} * int64_t{inverse} + half, shift));
    const int64_t scaled = int64_t{normal} * int64_t{p.factors[i]} + p.offsets[i];
    y[i] = Bounded(FloorShift(scaled, p.rshift), p.lo, p.hi);
  }
}

[[gnu::always_inline]] inline void ChannelsLoop(const NormalizeArgs& args, int64_t count) {
  const NormalizeArgs p = args;
  uint8_t* y = p.y;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int32_t difference = p.n * (p.x[i] ^ p.flip) - p.centers[i];
    const int64_t shift = p.shifts[i];
    const int64_t half = int64_t{1} << (shift - 1);
    const auto normal = static_cast<int32_t>(
        FloorShift(int64_t{difference} * int64_t{p.inverses[i]} + half, shift));
    const int64_t scaled = int64_t{normal} * int64_t{p.factors[i]} + p.offsets[i];
    y[i] = Bounded(FloorShift(scaled, p.rshift), p.lo, p.hi);
  }
}

#define RSHIFT_TARGET(name, ...)                                                               \
  struct name {                                                                                \
    __VA_ARGS__ static void Quotients(const int32_t* entries, int64_t count,                   \
                                      const numerics::SoftmaxQuotientRow& row,                 \
                                      const OutputBounds& bounds, uint8_t* y) noexcept {       \
      QuotientsLoop(entries, count, row, bounds, y);                                           \
    }                                                                                          \
    __VA_ARGS__ static ByteSums Sums(const uint8_t* x, uint8_t flip, int64_t count) noexcept { \
      return SumsLoop(x, flip, count);                                                         \
    }                                                                                          \
    __VA_ARGS__ static void ChannelSums(const uint8_t* x, uint8_t flip, int64_t count,         \
                                        int32_t* sum, int32_t* squares) noexcept {             \
      ChannelSumsLoop(x, flip, count, sum, squares);                                           \
    }                                                                                          \
    __VA_ARGS__ static void Row(const NormalizeArgs& args, int64_t count) noexcept {           \
      RowLoop(args, count);                                                                    \
    }                                                                                          \
    __VA_ARGS__ static void Channels(const NormalizeArgs& args, int64_t count) noexcept {      \
      ChannelsLoop(args, count);                                                               \
    }                                                                                          \
  }

RSHIFT_FOR_TARGETS(RSHIFT_TARGET);

#if defined(__x86_64__)
// By hand: g++ 12 multiplies 64 bits by 64 where 32 by 32 are enough.
RSHIFT_TARGET_AVX512 void QuotientsAvx512(const int32_t* entries, int64_t count,
                                          const numerics::SoftmaxQuotientRow& row,
                                          const OutputBounds& bounds, uint8_t* y) noexcept {
  const __m512i factor = _mm512_set1_epi64(row.factor);
  const __m512i half = _mm512_set1_epi64(int64_t{1} << (row.rshift - 1));
  const __m128i rshift = _mm_cvtsi32_si128(row.rshift);
  const __m512i most = _mm512_set1_epi64(1023);  // above every bound
  const __m256i lo = _mm256_set1_epi32(bounds.lo), hi = _mm256_set1_epi32(bounds.hi);
  const __m256i zero = _mm256_set1_epi32(bounds.zero);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m512i entry =
        _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(entries + i)));
    const __m512i sum = _mm512_add_epi64(_mm512_mul_epu32(entry, factor), half);
    const __m512i quotient = _mm512_min_epu64(_mm512_srl_epi64(sum, rshift), most);
    const __m256i byte = _mm256_add_epi32(_mm512_cvtepi64_epi32(quotient), zero);
    const __m256i held = _mm256_max_epi32(_mm256_min_epi32(byte, hi), lo);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(y + i), _mm256_cvtepi32_epi8(held));
  }
  Avx512::Quotients(entries + i, count - i, row, bounds, y + i);
}

// Of at most 2^15 elements, whose squares fit 32 bits in each of 16 sums.
RSHIFT_TARGET_AVX512 ByteSums BlockSumsAvx512(const uint8_t* x, uint8_t flip,
                                              int64_t count) noexcept {
  __m512i sum = _mm512_setzero_si512(), squares = _mm512_setzero_si512();
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  for (int64_t i = 0; i < count; i += 64) {
    const __mmask64 mask = count - i >= 64 ? ~__mmask64{0} : (__mmask64{1} << (count - i)) - 1;
    const __m512i v =
        _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, x + i), _mm512_maskz_mov_epi8(mask, flips));
    const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(v));
    const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(v, 1));
    sum = _mm512_add_epi64(sum, _mm512_sad_epu8(v, _mm512_setzero_si512()));
    squares = _mm512_add_epi32(
        squares, _mm512_add_epi32(_mm512_madd_epi16(low, low), _mm512_madd_epi16(high, high)));
  }
  return {_mm512_reduce_add_epi64(sum), static_cast<uint32_t>(_mm512_reduce_add_epi32(squares))};
}

RSHIFT_TARGET_AVX512 ByteSums SumsAvx512(const uint8_t* x, uint8_t flip, int64_t count) noexcept {
  constexpr int64_t kBlock = 32768;
  ByteSums result;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t size = count - at < kBlock ? count - at : kBlock;
    const ByteSums block = BlockSumsAvx512(x + at, flip, size);
    result.sum += block.sum;
    result.squares += block.squares;
  }
  return result;
}

// The lower halves of `even` and of `odd`, in turn.
RSHIFT_TARGET_AVX512 inline __m512i InTurn(__m512i even, __m512i odd) {
  return _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
}

RSHIFT_TARGET_AVX512 void RowAvx512(const NormalizeArgs& args, int64_t count) noexcept {
  const __m512i n = _mm512_set1_epi32(args.n), center = _mm512_set1_epi32(args.center);
  const __m512i inverse = _mm512_set1_epi64(args.by.inverse);
  const __m512i half = _mm512_set1_epi64(int64_t{1} << (args.by.shift - 1));
  const __m128i shift = _mm_cvtsi32_si128(args.by.shift);
  const __m128i rshift = _mm_cvtsi32_si128(args.rshift);
  const __m512i lo = _mm512_set1_epi64(args.lo), hi = _mm512_set1_epi64(args.hi);
  const __m512i evens = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odds = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  const __m128i flip = _mm_set1_epi8(static_cast<char>(args.flip));
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes =
        _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(args.x + i)), flip);
    const __m512i difference =
        _mm512_sub_epi32(_mm512_mullo_epi32(_mm512_cvtepu8_epi32(bytes), n), center);
    const __m512i odd = _mm512_srli_epi64(difference, 32);
    __m512i even_normal = _mm512_add_epi64(_mm512_mul_epi32(difference, inverse), half);
    __m512i odd_normal = _mm512_add_epi64(_mm512_mul_epi32(odd, inverse), half);
    even_normal = _mm512_sra_epi64(even_normal, shift);
    odd_normal = _mm512_sra_epi64(odd_normal, shift);
    const __m512i factors = _mm512_loadu_si512(args.factors + i);
    const __m512i first = _mm512_loadu_si512(args.offsets + i);
    const __m512i second = _mm512_loadu_si512(args.offsets + i + 8);
    __m512i even_y = _mm512_add_epi64(_mm512_mul_epi32(even_normal, factors),
                                      _mm512_permutex2var_epi64(first, evens, second));
    __m512i odd_y = _mm512_add_epi64(_mm512_mul_epi32(odd_normal, _mm512_srli_epi64(factors, 32)),
                                     _mm512_permutex2var_epi64(first, odds, second));
    even_y = _mm512_max_epi64(_mm512_min_epi64(_mm512_sra_epi64(even_y, rshift), hi), lo);
    odd_y = _mm512_max_epi64(_mm512_min_epi64(_mm512_sra_epi64(odd_y, rshift), hi), lo);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(args.y + i),
                     _mm512_cvtepi32_epi8(InTurn(even_y, odd_y)));
  }
  NormalizeArgs rest = args;
  rest.x += i, rest.y += i, rest.factors += i, rest.offsets += i;
  Avx512::Row(rest, count - i);
}
#endif

template <typename T>
constexpr NormalizeTable kTable = {
    .sums = T::Sums, .channel_sums = T::ChannelSums, .row = T::Row, .channels = T::Channels};

#if defined(__x86_64__)
constexpr NormalizeTable WithRowsByHand(NormalizeTable table) {
  table.sums = SumsAvx512;
  table.row = RowAvx512;
  return table;
}
constexpr NormalizeTable kAvx512Table = WithRowsByHand(kTable<Avx512>);
#endif

}  // namespace

SoftmaxQuotientsFn SoftmaxQuotientsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return Avx2::Quotients;
  if (isa == Isa::kAvx512Vnni) return QuotientsAvx512;
#endif
  (void)isa;
  return Scalar::Quotients;
}

const NormalizeTable& NormalizeFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kTable<Avx2>;
  if (isa == Isa::kAvx512Vnni) return kAvx512Table;
#endif
  (void)isa;
  return kTable<Scalar>;
}

}  // namespace rshift
