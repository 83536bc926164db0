#include "runtime/kernels/avx512/add.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace rshift {
namespace {

#define RSHIFT_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]

// The clamp: what packing saturates to, or any other.
enum class Bounds { kU8, kS8, kOther };

Bounds BoundsOf(const AddArgs& p) {
  if (p.lo == 0 && p.hi == 255) return Bounds::kU8;
  return p.lo == -128 && p.hi == 127 ? Bounds::kS8 : Bounds::kOther;
}

// AddLoop 64 elements at a time: bytes of a and b side by side as pairs of s16, one multiply-add
// for each pair. The zero points and the rounding term are one constant of the sum, modulo 2^32.
template <Bounds kBounds>
struct AddPairs {
  __m512i multipliers;  // a and b as pairs
  __m512i constant, lo, hi, flip_a, flip_b, flip_y;
  __m128i rshift;
};

// The rounded quotient plus zero_y is the quotient of a sum with zero_y * 2^rshift in it; |sum| is
// less than 2^25.
bool FitsPairs(const AddArgs& p) {
  const auto fits = [](int32_t m) { return m >= INT16_MIN && m <= INT16_MAX; };
  return fits(p.multiplier_a) && fits(p.multiplier_b) && p.rshift <= 20;
}

template <Bounds kBounds>
RSHIFT_AVX512 inline AddPairs<kBounds> LoadPairsAvx512(const AddArgs& p) {
  // As in avx512vnni/requant.h, u8 results that are clamped are 128 lower until the end.
  const int32_t bias = kBounds == Bounds::kOther && p.hi > 127 ? 128 : 0;
  const int32_t half = p.rshift == 0 ? 0 : 1 << (p.rshift - 1);
  const auto byte = [](int32_t v) { return static_cast<char>(v); };
  const auto pair = static_cast<uint32_t>(p.multiplier_b) << 16 |
                    (static_cast<uint32_t>(p.multiplier_a) & 0xffff);
  const int32_t constant = (p.zero_y - bias) * (1 << p.rshift) + half - p.a.zero * p.multiplier_a -
                           p.b.zero * p.multiplier_b;
  return {_mm512_set1_epi32(static_cast<int32_t>(pair)),
          _mm512_set1_epi32(constant),
          _mm512_set1_epi8(byte(p.lo - bias)),
          _mm512_set1_epi8(byte(p.hi - bias)),
          _mm512_set1_epi8(byte(p.a.flip)),
          _mm512_set1_epi8(byte(p.b.flip)),
          _mm512_set1_epi8(byte(bias)),
          _mm_cvtsi32_si128(p.rshift)};
}

template <Bounds kBounds>
RSHIFT_AVX512 inline __m512i AddFourAvx512(const AddPairs<kBounds>& p, __m512i pairs) {
  return _mm512_sra_epi32(_mm512_dpwssd_epi32(p.constant, pairs, p.multipliers), p.rshift);
}

// Eight bytes of a and of b in each lane, alternating -> eight words of results.
template <Bounds kBounds>
RSHIFT_AVX512 inline __m512i AddEightAvx512(const AddPairs<kBounds>& p, __m512i bytes) {
  const __m512i none = _mm512_setzero_si512();
  return _mm512_packs_epi32(AddFourAvx512(p, _mm512_unpacklo_epi8(bytes, none)),
                            AddFourAvx512(p, _mm512_unpackhi_epi8(bytes, none)));
}

template <Bounds kBounds>
RSHIFT_AVX512 inline __m512i AddBytesAvx512(const AddPairs<kBounds>& p, __m512i a, __m512i b) {
  a = _mm512_xor_si512(a, p.flip_a);
  b = _mm512_xor_si512(b, p.flip_b);
  const __m512i low = AddEightAvx512(p, _mm512_unpacklo_epi8(a, b));
  const __m512i high = AddEightAvx512(p, _mm512_unpackhi_epi8(a, b));
  if constexpr (kBounds == Bounds::kU8) return _mm512_packus_epi16(low, high);
  const __m512i y = _mm512_packs_epi16(low, high);
  if constexpr (kBounds == Bounds::kS8) return y;
  return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(y, p.lo), p.hi), p.flip_y);
}

// The same in 16 bits, which hold every sum of 8-bit multipliers (NUMERICS.md 5.1): bytes as s8, so
// that a multiply-add of u8 multipliers does not saturate. Constants are modulo 2^16.
struct AddWords {
  __m512i multipliers;  // a and b as pairs
  __m512i constant, zero, lo, hi, flip_a, flip_b, flip_y;
  __m128i rshift;
};

// The sum is q_a multiplier_a + q_b multiplier_b + constant with q = u - 128, an s8, for each byte
// u of ByteOperand; the constant makes good the 128, the zero points and the rounding term.
struct WordSum {
  int32_t multipliers, constant;

  explicit WordSum(const AddArgs& p)
      : multipliers(p.multiplier_a + p.multiplier_b),
        constant((128 - p.a.zero) * p.multiplier_a + (128 - p.b.zero) * p.multiplier_b +
                 (p.rshift == 0 ? 0 : 1 << (p.rshift - 1))) {}
};

bool FitsWords(const AddArgs& p) {
  const auto is_byte = [](int32_t m) { return m >= 0 && m <= 255; };
  if (!is_byte(p.multiplier_a) || !is_byte(p.multiplier_b) || p.rshift > 15) return false;
  const WordSum sum(p);
  return sum.multipliers <= 255 && sum.constant + 127 * sum.multipliers <= INT16_MAX &&
         sum.constant - 128 * sum.multipliers >= INT16_MIN;
}

RSHIFT_AVX512 inline AddWords LoadWordsAvx512(const AddArgs& p) {
  const int32_t bias = p.hi > 127 ? 128 : 0;
  const auto byte = [](int32_t v) { return static_cast<char>(v); };
  const auto word = [](int32_t v) { return static_cast<int16_t>(v); };
  return {_mm512_set1_epi16(word(p.multiplier_b << 8 | p.multiplier_a)),
          _mm512_set1_epi16(word(WordSum(p).constant)),
          _mm512_set1_epi16(word(p.zero_y - bias)),
          _mm512_set1_epi8(byte(p.lo - bias)),
          _mm512_set1_epi8(byte(p.hi - bias)),
          _mm512_set1_epi8(byte(p.a.flip ^ 0x80)),
          _mm512_set1_epi8(byte(p.b.flip ^ 0x80)),
          _mm512_set1_epi8(byte(bias)),
          _mm_cvtsi32_si128(p.rshift)};
}

RSHIFT_AVX512 inline __m512i AddWordsAvx512(const AddWords& p, __m512i pairs) {
  const __m512i sum = _mm512_add_epi16(_mm512_maddubs_epi16(p.multipliers, pairs), p.constant);
  return _mm512_adds_epi16(_mm512_sra_epi16(sum, p.rshift), p.zero);
}

RSHIFT_AVX512 inline __m512i AddBytesAvx512(const AddWords& p, __m512i a, __m512i b) {
  a = _mm512_xor_si512(a, p.flip_a);
  b = _mm512_xor_si512(b, p.flip_b);
  const __m512i y = _mm512_packs_epi16(AddWordsAvx512(p, _mm512_unpacklo_epi8(a, b)),
                                       AddWordsAvx512(p, _mm512_unpackhi_epi8(a, b)));
  return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(y, p.lo), p.hi), p.flip_y);
}

template <typename Args, typename Constants>
RSHIFT_AVX512 void AddRowsAvx512(const Args& args, const Constants& p,
                                 const RowBlock& rows) noexcept {
  const uint8_t *a = args.a.bytes, *b = args.b.bytes;
  uint8_t* y = args.y;
  const __mmask64 rest = (__mmask64{1} << (rows.count % 64)) - 1;
  for (int64_t r = 0; r < rows.rows; ++r) {
    int64_t i = 0;
    for (; i + 64 <= rows.count; i += 64) {
      _mm512_storeu_si512(y + i,
                          AddBytesAvx512(p, _mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i)));
    }
    if (rest != 0) {
      _mm512_mask_storeu_epi8(y + i, rest,
                              AddBytesAvx512(p, _mm512_maskz_loadu_epi8(rest, a + i),
                                             _mm512_maskz_loadu_epi8(rest, b + i)));
    }
    a += rows.pitch_a, b += rows.pitch_b, y += rows.pitch_y;
  }
}

// AddFloatLoop with the quotient from the reciprocal, corrected once by what is left of the
// dividend: nearly always the rounded quotient.
struct AddReals {
  __m512 base_a, base_b, scale_a, scale_b, scale_y, inverse;
  __m512i zero, lo, hi, flip_a, flip_b, flip_y;
};

// A byte u behind these upper bits is the float 2^23 + u.
constexpr int16_t kByteAsFloat = 0x4B00;

RSHIFT_AVX512 inline AddReals LoadRealsAvx512(const AddFloatArgs& p) {
  const int32_t bias = p.hi > 127 ? 128 : 0;
  const auto byte = [](int32_t v) { return static_cast<char>(v); };
  return {_mm512_set1_ps(8388608.0f + static_cast<float>(p.a.zero)),
          _mm512_set1_ps(8388608.0f + static_cast<float>(p.b.zero)),
          _mm512_set1_ps(p.scale_a),
          _mm512_set1_ps(p.scale_b),
          _mm512_set1_ps(p.scale_y),
          _mm512_set1_ps(1.0f / p.scale_y),
          _mm512_set1_epi16(static_cast<int16_t>(p.zero_y - bias)),
          _mm512_set1_epi8(byte(p.lo - bias)),
          _mm512_set1_epi8(byte(p.hi - bias)),
          _mm512_set1_epi8(byte(p.a.flip)),
          _mm512_set1_epi8(byte(p.b.flip)),
          _mm512_set1_epi8(byte(bias))};
}

// Sixteen elements of each, as floats 2^23 + u.
RSHIFT_AVX512 inline __m512i AddRealsAvx512(const AddReals& p, __m512i a, __m512i b) {
  const __m512 va = _mm512_sub_ps(_mm512_castsi512_ps(a), p.base_a);
  const __m512 vb = _mm512_sub_ps(_mm512_castsi512_ps(b), p.base_b);
  const __m512 v = _mm512_add_ps(_mm512_mul_ps(va, p.scale_a), _mm512_mul_ps(vb, p.scale_b));
  const __m512 near = _mm512_mul_ps(v, p.inverse);
  const __m512 left = _mm512_fnmadd_ps(near, p.scale_y, v);
  return _mm512_cvtps_epi32(_mm512_fmadd_ps(left, p.inverse, near));
}

RSHIFT_AVX512 inline __m512i AddWordsAvx512(const AddReals& p, __m512i a, __m512i b,
                                            __m512i upper) {
  const __m512i low =
      AddRealsAvx512(p, _mm512_unpacklo_epi16(a, upper), _mm512_unpacklo_epi16(b, upper));
  const __m512i high =
      AddRealsAvx512(p, _mm512_unpackhi_epi16(a, upper), _mm512_unpackhi_epi16(b, upper));
  return _mm512_adds_epi16(_mm512_packs_epi32(low, high), p.zero);
}

RSHIFT_AVX512 inline __m512i AddBytesAvx512(const AddReals& p, __m512i a, __m512i b) {
  const __m512i none = _mm512_setzero_si512(), upper = _mm512_set1_epi16(kByteAsFloat);
  a = _mm512_xor_si512(a, p.flip_a);
  b = _mm512_xor_si512(b, p.flip_b);
  const __m512i a_low = _mm512_unpacklo_epi8(a, none), a_high = _mm512_unpackhi_epi8(a, none);
  const __m512i b_low = _mm512_unpacklo_epi8(b, none), b_high = _mm512_unpackhi_epi8(b, none);
  const __m512i y = _mm512_packs_epi16(AddWordsAvx512(p, a_low, b_low, upper),
                                       AddWordsAvx512(p, a_high, b_high, upper));
  return _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(y, p.lo), p.hi), p.flip_y);
}

}  // namespace

RSHIFT_AVX512 bool AddAvx512(const AddArgs& args, const RowBlock& rows) noexcept {
  if (FitsWords(args)) {
    AddRowsAvx512(args, LoadWordsAvx512(args), rows);
    return true;
  }
  if (!FitsPairs(args)) return false;
  switch (BoundsOf(args)) {
    case Bounds::kU8:
      AddRowsAvx512(args, LoadPairsAvx512<Bounds::kU8>(args), rows);
      break;
    case Bounds::kS8:
      AddRowsAvx512(args, LoadPairsAvx512<Bounds::kS8>(args), rows);
      break;
    case Bounds::kOther:
      AddRowsAvx512(args, LoadPairsAvx512<Bounds::kOther>(args), rows);
      break;
  }
  return true;
}

RSHIFT_AVX512 void AddFloatNearAvx512(const AddFloatArgs& args, const RowBlock& rows) noexcept {
  AddRowsAvx512(args, LoadRealsAvx512(args), rows);
}

}  // namespace rshift
#endif
