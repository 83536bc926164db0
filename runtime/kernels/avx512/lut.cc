// Tables of 256 bytes in four registers, 64 bytes at a time.
#include "runtime/kernels/avx512/vbmi.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/kernels/avx512/vbmi_table.h"

namespace rshift {
namespace {

// The negative side, 32 channels as s16. |x * slope| is at most 255 * 128, so that 16 bits hold it;
// a rounded shift is one by rshift - 1, then (v + 1) >> 1. From 16 bits on nothing is left.
struct SlopesVbmi {
  __m512i zero, one, zero_y;
  __m128i shift;
  __mmask32 shifted;  // all or none
};

RSHIFT_VBMI inline SlopesVbmi LoadSlopesVbmi(const PReluArgs& args) {
  const int32_t rshift = args.rshift > 16 ? 16 : args.rshift;
  const auto word = [](int32_t v) { return static_cast<int16_t>(v); };
  return {_mm512_set1_epi16(word(args.zero)), _mm512_set1_epi16(1),
          _mm512_set1_epi16(word(args.zero_y)), _mm_cvtsi32_si128(rshift > 0 ? rshift - 1 : 0),
          rshift > 0 ? ~__mmask32{0} : __mmask32{0}};
}

RSHIFT_VBMI inline __m512i NegativeVbmi(const SlopesVbmi& s, __m256i x, __m256i slopes) {
  __m512i v = _mm512_sub_epi16(_mm512_cvtepu8_epi16(x), s.zero);
  v = _mm512_sra_epi16(_mm512_mullo_epi16(v, _mm512_cvtepi8_epi16(slopes)), s.shift);
  v = _mm512_mask_srai_epi16(v, s.shifted, _mm512_add_epi16(v, s.one), 1);
  return _mm512_adds_epi16(v, s.zero_y);
}

}  // namespace

RSHIFT_VBMI void LutVbmi(const uint8_t* table, const uint8_t* x, uint8_t* y,
                         const RowBlock& rows) noexcept {
  const TableVbmi t = LoadTableVbmi(table);
  const __mmask64 rest = (__mmask64{1} << (rows.count % 64)) - 1;
  for (int64_t r = 0; r < rows.rows; ++r, x += rows.pitch_a, y += rows.pitch_y) {
    int64_t i = 0;
    for (; i + 64 <= rows.count; i += 64)
      _mm512_storeu_si512(y + i, LookUpVbmi(t, _mm512_loadu_si512(x + i)));
    if (rest != 0) {
      _mm512_mask_storeu_epi8(y + i, rest, LookUpVbmi(t, _mm512_maskz_loadu_epi8(rest, x + i)));
    }
  }
}

RSHIFT_VBMI void ChannelLutVbmi(const ChannelLutArgs& args, int64_t first, const uint8_t* x,
                                uint8_t* y, int64_t n) noexcept {
  int64_t group = first / 64, lane = first % 64;
  for (int64_t i = 0; i < n; ++group, lane = 0) {
    const int64_t count = n - i < 64 - lane ? n - i : 64 - lane;
    const __mmask64 lanes = count == 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(lanes, x + i);
    const __mmask64 upper = _mm512_movepi8_mask(bytes);
    __m512i result = _mm512_setzero_si512();
    __mmask64 written = 0;
    for (int32_t u = args.first_use[group]; u < args.first_use[group + 1]; ++u) {
      const __mmask64 positions = (args.uses[u].positions >> lane) & lanes;
      written |= positions;
      const TableVbmi t = LoadTableVbmi(args.tables + args.uses[u].place);
      const __m512i low = _mm512_permutex2var_epi8(t.quarter[0], bytes, t.quarter[1]);
      const __m512i high = _mm512_permutex2var_epi8(t.quarter[2], bytes, t.quarter[3]);
      result = _mm512_mask_mov_epi8(result, positions & ~upper, low);
      result = _mm512_mask_mov_epi8(result, positions & upper, high);
    }
    _mm512_mask_storeu_epi8(y + i, written, result);
    i += count;
  }
}

RSHIFT_VBMI void PReluVbmi(const PReluArgs& args, const uint8_t* x, uint8_t* y,
                           const RowBlock& rows) noexcept {
  const TableVbmi t = LoadTableVbmi(args.positive);
  const SlopesVbmi s = LoadSlopesVbmi(args);
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(args.flip));
  const __m512i zero = _mm512_set1_epi8(static_cast<char>(args.zero));
  const __m512i lo = _mm512_set1_epi16(static_cast<int16_t>(args.lo));
  const __m512i hi = _mm512_set1_epi16(static_cast<int16_t>(args.hi));
  for (int64_t r = 0; r < rows.rows; ++r, x += rows.pitch_a, y += rows.pitch_y) {
    for (int64_t i = 0; i < rows.count; i += 64) {
      const int64_t left = rows.count - i;
      const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
      const __m512i bytes = _mm512_maskz_loadu_epi8(mask, x + i);
      const __m512i slopes = _mm512_maskz_loadu_epi8(mask, args.slopes + i);
      const __m512i flipped = _mm512_xor_si512(bytes, flip);
      __m512i low =
          NegativeVbmi(s, _mm512_castsi512_si256(flipped), _mm512_castsi512_si256(slopes));
      __m512i high = NegativeVbmi(s, _mm512_extracti64x4_epi64(flipped, 1),
                                  _mm512_extracti64x4_epi64(slopes, 1));
      low = _mm512_min_epi16(_mm512_max_epi16(low, lo), hi);
      high = _mm512_min_epi16(_mm512_max_epi16(high, lo), hi);
      const __m512i negative = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(low)),
                                                  _mm512_cvtepi16_epi8(high), 1);
      const __mmask64 below = _mm512_cmplt_epu8_mask(flipped, zero);
      _mm512_mask_storeu_epi8(y + i, mask,
                              _mm512_mask_blend_epi8(below, LookUpVbmi(t, bytes), negative));
    }
  }
}

}  // namespace rshift
#endif
