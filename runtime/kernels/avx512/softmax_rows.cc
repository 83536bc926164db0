// Softmax of rows: sums of table entries by bytes, 64 elements at a time; then either the quotients
// of the row's elements (two blocks of 64 at most) or a table of the row's quotients.
#include "runtime/kernels/softmax_rows.h"

#include "runtime/kernels/avx512/vbmi.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "runtime/kernels/avx512/vbmi_table.h"

namespace rshift {
namespace {

// The first min(64, left) bytes.
RSHIFT_VBMI inline __mmask64 FirstOfVbmi(int64_t left) {
  return left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
}

// The bytes of a row's elements as unsigned ones; the others 0.
RSHIFT_VBMI inline __m512i BytesVbmi(const uint8_t* x, int64_t left, __m512i flip) {
  const __mmask64 mask = FirstOfVbmi(left);
  return _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, x), _mm512_maskz_mov_epi8(mask, flip));
}

RSHIFT_VBMI inline __m512i GreatestVbmi(const uint8_t* x, int64_t columns, __m512i flip) {
  __m512i most = BytesVbmi(x, columns, flip);
  for (int64_t i = 64; i < columns; i += 64)
    most = _mm512_max_epu8(most, BytesVbmi(x + i, columns - i, flip));
  __m256i half = _mm256_max_epu8(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1));
  __m128i part = _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  part = _mm_max_epu8(part, _mm_srli_si128(part, 8));
  part = _mm_max_epu8(part, _mm_srli_si128(part, 4));
  part = _mm_max_epu8(part, _mm_srli_si128(part, 2));
  part = _mm_max_epu8(part, _mm_srli_si128(part, 1));
  return _mm512_broadcastb_epi8(part);
}

// The four bytes of 64 entries, and their sums.
struct EntriesVbmi {
  __m512i plane[4];
};

RSHIFT_VBMI inline EntriesVbmi EntriesAtVbmi(const TableVbmi* tables, __m512i difference,
                                             __mmask64 mask) {
  EntriesVbmi e;
  for (int k = 0; k < 4; ++k)
    e.plane[k] = _mm512_maskz_mov_epi8(mask, LookUpVbmi(tables[k], difference));
  return e;
}

RSHIFT_VBMI inline __m512i SumsVbmi(const EntriesVbmi& e) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i low = _mm512_add_epi64(_mm512_sad_epu8(e.plane[0], zero),
                                       _mm512_slli_epi64(_mm512_sad_epu8(e.plane[1], zero), 8));
  const __m512i high = _mm512_add_epi64(_mm512_sad_epu8(e.plane[2], zero),
                                        _mm512_slli_epi64(_mm512_sad_epu8(e.plane[3], zero), 8));
  return _mm512_add_epi64(low, _mm512_slli_epi64(high, 16));
}

struct QuotientsVbmi {
  __m512i factor, half, most, zero, lo, hi;
  __m128i rshift;
};

RSHIFT_VBMI inline QuotientsVbmi MakeQuotientsVbmi(const numerics::SoftmaxQuotientRow& row,
                                                   const OutputBounds& bounds) {
  return {_mm512_set1_epi64(row.factor),  _mm512_set1_epi64(int64_t{1} << (row.rshift - 1)),
          _mm512_set1_epi64(1023),  // above every bound
          _mm512_set1_epi32(bounds.zero), _mm512_set1_epi32(bounds.lo),
          _mm512_set1_epi32(bounds.hi),   _mm_cvtsi32_si128(row.rshift)};
}

// Of 16 entries: what the output holds, as s32.
RSHIFT_VBMI inline __m512i DivideVbmi(const QuotientsVbmi& q, __m512i entries) {
  const __m512i odds = _mm512_srli_epi64(entries, 32);
  __m512i even = _mm512_add_epi64(_mm512_mul_epu32(entries, q.factor), q.half);
  __m512i odd = _mm512_add_epi64(_mm512_mul_epu32(odds, q.factor), q.half);
  even = _mm512_min_epu64(_mm512_srl_epi64(even, q.rshift), q.most);
  odd = _mm512_min_epu64(_mm512_srl_epi64(odd, q.rshift), q.most);
  const __m512i both = _mm512_or_si512(even, _mm512_slli_epi64(odd, 32));
  return _mm512_max_epi32(_mm512_min_epi32(_mm512_add_epi32(both, q.zero), q.hi), q.lo);
}

// 64 bytes of what four DivideVbmi() gave, in turn by lanes as the unpack instructions have them.
RSHIFT_VBMI inline __m512i PackVbmi(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i byte = _mm512_set1_epi16(0xff);
  const __m512i first = _mm512_and_si512(_mm512_packs_epi32(a, b), byte);
  const __m512i second = _mm512_and_si512(_mm512_packs_epi32(c, d), byte);
  return _mm512_packus_epi16(first, second);
}

// The quotients of one block.
RSHIFT_VBMI inline __m512i DivideBlockVbmi(const QuotientsVbmi& q, const EntriesVbmi& e) {
  const __m512i low = _mm512_unpacklo_epi8(e.plane[0], e.plane[1]);
  const __m512i low2 = _mm512_unpackhi_epi8(e.plane[0], e.plane[1]);
  const __m512i high = _mm512_unpacklo_epi8(e.plane[2], e.plane[3]);
  const __m512i high2 = _mm512_unpackhi_epi8(e.plane[2], e.plane[3]);
  return PackVbmi(DivideVbmi(q, _mm512_unpacklo_epi16(low, high)),
                  DivideVbmi(q, _mm512_unpackhi_epi16(low, high)),
                  DivideVbmi(q, _mm512_unpacklo_epi16(low2, high2)),
                  DivideVbmi(q, _mm512_unpackhi_epi16(low2, high2)));
}

RSHIFT_VBMI inline __m128i DivideBytesVbmi(const QuotientsVbmi& q, const uint32_t* entries) {
  return _mm512_cvtepi32_epi8(DivideVbmi(q, _mm512_load_si512(entries)));
}

// A table of quotients by difference: in the places' quarters what they are, elsewhere that of 0.
RSHIFT_VBMI inline TableVbmi DivideTableVbmi(const QuotientsVbmi& q, const SoftmaxRowsArgs& args) {
  const __m512i nothing = DivideVbmi(q, _mm512_setzero_si512());
  TableVbmi t;
  for (int quarter = 0; quarter < 4; ++quarter) {
    if (64 * quarter >= args.places) {
      t.quarter[quarter] = PackVbmi(nothing, nothing, nothing, nothing);
      continue;
    }
    const uint32_t* entries = args.entries.data() + 64 * quarter;
    __m512i part = _mm512_castsi128_si512(DivideBytesVbmi(q, entries));
    part = _mm512_inserti32x4(part, DivideBytesVbmi(q, entries + 16), 1);
    part = _mm512_inserti32x4(part, DivideBytesVbmi(q, entries + 32), 2);
    t.quarter[quarter] = _mm512_inserti32x4(part, DivideBytesVbmi(q, entries + 48), 3);
  }
  return t;
}

}  // namespace

RSHIFT_VBMI void SoftmaxRowsVbmi(const SoftmaxRowsArgs& args, const uint8_t* x, int64_t rows,
                                 int64_t columns, uint8_t* y) noexcept {
  TableVbmi tables[4];
  for (int k = 0; k < 4; ++k) tables[k] = LoadTableVbmi(args.planes[static_cast<size_t>(k)].data());
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(args.flip));
  for (int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    const __m512i greatest = GreatestVbmi(x, columns, flip);
    __m512i sums = _mm512_setzero_si512();
    EntriesVbmi entries[2];
    __m512i difference;
    for (int64_t i = 0; i < columns; i += 64) {
      difference = _mm512_sub_epi8(greatest, BytesVbmi(x + i, columns - i, flip));
      EntriesVbmi& at = entries[i / 64 % 2];
      at = EntriesAtVbmi(tables, difference, FirstOfVbmi(columns - i));
      sums = _mm512_add_epi64(sums, SumsVbmi(at));
    }
    const auto sum = static_cast<uint64_t>(_mm512_reduce_add_epi64(sums));
    const QuotientsVbmi q =
        MakeQuotientsVbmi(numerics::QuotientRow(sum, args.inverse_scale), args.bounds);
    // Two blocks of elements are no more quotients than a table of two quarters.
    if (columns <= 64 || (columns <= 128 && args.places > 64)) {
      for (int64_t i = 0; i < columns; i += 64) {
        _mm512_mask_storeu_epi8(y + i, FirstOfVbmi(columns - i),
                                DivideBlockVbmi(q, entries[i / 64]));
      }
      continue;
    }
    const TableVbmi quotients = DivideTableVbmi(q, args);
    for (int64_t i = 0; i < columns; i += 64) {
      difference = _mm512_sub_epi8(greatest, BytesVbmi(x + i, columns - i, flip));
      _mm512_mask_storeu_epi8(y + i, FirstOfVbmi(columns - i), LookUpVbmi(quotients, difference));
    }
  }
}

}  // namespace rshift
#endif
