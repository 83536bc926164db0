#include "runtime/kernels/recurrent.h"

#include <type_traits>

#include "quantize/numerics/recurrent.h"
#include "runtime/kernels/generic/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A block of columns goes through short loops, each over what the one before left in a buffer; the
// two that take the time, gates and tanh, have a form for each instruction set. numerics::GateSum
// and its like are what they compute.
namespace rshift {
namespace {

namespace nm = numerics;

struct Block {
  alignas(64) int32_t v[kCellBlock];
};

// numerics::GateSum of columns [at, at + n): clamped before the shift, whose low 32 bits are then
// those of an arithmetic one (rshift <= 32).
[[gnu::always_inline]] inline void GateLoop(const CellArgs& args, int64_t at, int64_t n,
                                            int32_t most, int32_t* t) {
  const int32_t* a = args.a + at;
  const int32_t* factors = args.first_factors + at;
  const int64_t* offsets = args.offsets + at;
  const int32_t rshift = args.rshift;
  const int64_t limit = int64_t{most} << rshift, upper = limit + (int64_t{1} << rshift) - 1;
  alignas(64) int64_t sums[kCellBlock];
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sums[i] = int64_t{a[i]} * int64_t{factors[i]} + offsets[i];
  if (args.b != nullptr) {
    const int32_t* b = args.b + at;
    const int32_t* second = args.second_factors + at;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sums[i] += int64_t{b[i]} * int64_t{second[i]};
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int64_t low = sums[i] < -limit ? -limit : sums[i];
    const int64_t held = low > upper ? upper : low;
    t[i] = static_cast<int32_t>(static_cast<uint64_t>(held) >> rshift);
  }
}

[[gnu::always_inline]] inline void TanhLoop(const int32_t* table, int64_t n, int32_t* t) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) t[i] = nm::TableTanh(table, t[i]);
}

struct AnyCpu {
  static void Gate(const CellArgs& args, int64_t at, int64_t n, int32_t most, int32_t* t) noexcept {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t j = at + i;
      const bool both = args.b != nullptr;
      t[i] = nm::GateSum(args.a[j], args.first_factors[j], both ? args.b[j] : 0,
                         both ? args.second_factors[j] : 0, args.offsets[j], args.rshift, most);
    }
  }
  static void Tanh(const int32_t* table, int64_t n, int32_t* t) noexcept {
    for (int64_t i = 0; i < n; ++i) t[i] = nm::TableTanh(table, t[i]);
  }
};

#if defined(__x86_64__)
struct ByAvx2 {
  [[gnu::target("avx2")]] static void Gate(const CellArgs& args, int64_t at, int64_t n,
                                           int32_t most, int32_t* t) noexcept {
    GateLoop(args, at, n, most, t);
  }
  [[gnu::target("avx2")]] static void Tanh(const int32_t* table, int64_t n, int32_t* t) noexcept {
    TanhLoop(table, n, t);
  }
};

// By hand: g++ 12 multiplies 64 bits by 64 where 32 by 32 are enough.
struct ByAvx512 {
  RSHIFT_TARGET_AVX512 static inline __m512i Product(__m256i x, __m256i factor) {
    return _mm512_mul_epi32(_mm512_cvtepi32_epi64(x), _mm512_cvtepi32_epi64(factor));
  }
  RSHIFT_TARGET_AVX512 static inline void Add(const int32_t* x, const int32_t* factors,
                                              __mmask16 mask, __m512i* low, __m512i* high) {
    const __m512i v = _mm512_maskz_loadu_epi32(mask, x);
    const __m512i f = _mm512_maskz_loadu_epi32(mask, factors);
    *low = _mm512_add_epi64(*low, Product(_mm512_castsi512_si256(v), _mm512_castsi512_si256(f)));
    *high = _mm512_add_epi64(
        *high, Product(_mm512_extracti64x4_epi64(v, 1), _mm512_extracti64x4_epi64(f, 1)));
  }
  RSHIFT_TARGET_AVX512 static inline __m256i Held(__m512i sum, __m128i rshift, int32_t most) {
    const __m512i hi = _mm512_set1_epi64(most), lo = _mm512_set1_epi64(-int64_t{most});
    return _mm512_cvtepi64_epi32(
        _mm512_max_epi64(_mm512_min_epi64(_mm512_sra_epi64(sum, rshift), hi), lo));
  }
  RSHIFT_TARGET_AVX512 static void Gate(const CellArgs& args, int64_t at, int64_t n, int32_t most,
                                        int32_t* t) noexcept {
    const __m128i rshift = _mm_cvtsi32_si128(args.rshift);
    for (int64_t i = 0; i < n; i += 16) {
      const __mmask16 mask = n - i >= 16 ? 0xffff : static_cast<__mmask16>((1 << (n - i)) - 1);
      const int64_t j = at + i;
      __m512i low = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), args.offsets + j);
      __m512i high =
          _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask >> 8), args.offsets + j + 8);
      Add(args.a + j, args.first_factors + j, mask, &low, &high);
      if (args.b != nullptr) Add(args.b + j, args.second_factors + j, mask, &low, &high);
      _mm256_store_si256(reinterpret_cast<__m256i*>(t + i), Held(low, rshift, most));
      _mm256_store_si256(reinterpret_cast<__m256i*>(t + i + 8), Held(high, rshift, most));
    }
  }
  RSHIFT_TARGET_AVX512 static void Tanh(const int32_t* table, int64_t n, int32_t* t) noexcept {
    constexpr int kShift = nm::kTanhEntryBits + nm::kTanhStepBits - nm::kFunctionBits;
    const __m512i most = _mm512_set1_epi32(nm::kMostGate);
    const __m512i whole = _mm512_set1_epi32(1 << nm::kTanhStepBits);
    const __m512i half = _mm512_set1_epi32(1 << (kShift - 1));
    for (int64_t i = 0; i < n; i += 16) {
      const __mmask16 mask = n - i >= 16 ? 0xffff : static_cast<__mmask16>((1 << (n - i)) - 1);
      const __m512i v = _mm512_maskz_loadu_epi32(mask, t + i);
      const __m512i u = _mm512_min_epi32(_mm512_abs_epi32(v), most);
      const __m512i step = _mm512_srli_epi32(u, nm::kTanhStepBits);
      const __m512i part = _mm512_and_si512(u, _mm512_sub_epi32(whole, _mm512_set1_epi32(1)));
      const __m512i low = _mm512_i32gather_epi32(step, table, 4);
      const __m512i high = _mm512_i32gather_epi32(step, table + 1, 4);
      const __m512i line = _mm512_add_epi32(_mm512_mullo_epi32(low, _mm512_sub_epi32(whole, part)),
                                            _mm512_mullo_epi32(high, part));
      const __m512i y = _mm512_srli_epi32(_mm512_add_epi32(line, half), kShift);
      _mm512_store_si512(
          t + i, _mm512_mask_sub_epi32(y, _mm512_movepi32_mask(v), _mm512_setzero_si512(), y));
    }
  }
};
#endif

// --- what all instruction sets share ---

void TanhGate(const CellArgs& args, int64_t at, int64_t n, Block* t) noexcept {
  args.loops->gate(args, at, n, nm::kMostGate, t->v);
  args.loops->tanh(args.table, n, t->v);
}

void SigmoidGate(const CellArgs& args, int64_t at, int64_t n, Block* t) noexcept {
  TanhGate(args, at, n, t);
  for (int64_t i = 0; i < n; ++i) t->v[i] = nm::LogisticOfTanh(t->v[i]);
}

void WriteState(const CellArgs& args, int64_t at, int64_t n, const Block& keep, const Block& take,
                const Block& fresh) noexcept {
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = args.state != nullptr;
    args.next[at + i] =
        static_cast<int16_t>(nm::NextState(kept ? keep.v[i] : 0, kept ? args.state[at + i] : 0,
                                           take.v[i], fresh.v[i], args.state_bits));
  }
}

// The memory gate where the reset gate multiplies the recurrent part, whose offsets are the last.
void ResetGate(const CellArgs& args, int64_t begin, int64_t n, Block* fresh) noexcept {
  const int64_t at = 2 * args.hidden + begin;
  Block reset, recurrent;
  SigmoidGate(args, args.hidden + begin, n, &reset);
  CellArgs part = args;
  part.b = nullptr;
  args.loops->gate(part, at, n, nm::kMostGatePart, fresh->v);
  part.offsets = args.offsets + args.hidden;
  if (args.b == nullptr) {
    for (int64_t i = 0; i < n; ++i) {
      recurrent.v[i] =
          nm::GateSum(0, 0, 0, 0, part.offsets[at + i], args.rshift, nm::kMostGatePart);
    }
  } else {
    part.a = args.b;
    part.first_factors = args.second_factors;
    args.loops->gate(part, at, n, nm::kMostGatePart, recurrent.v);
  }
  for (int64_t i = 0; i < n; ++i)
    fresh->v[i] = nm::ResetSum(fresh->v[i], reset.v[i], recurrent.v[i]);
  args.loops->tanh(args.table, n, fresh->v);
}

template <typename T>
constexpr CellLoops kLoops = {.gate = T::Gate, .tanh = T::Tanh};

}  // namespace

void RunLstmCell(const CellArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t n = end - begin;
  Block take, keep, fresh;
  SigmoidGate(args, begin, n, &take);
  if (args.state != nullptr) SigmoidGate(args, args.hidden + begin, n, &keep);
  TanhGate(args, 2 * args.hidden + begin, n, &fresh);
  WriteState(args, begin, n, keep, take, fresh);
}

void RunGruCell(const CellArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t n = end - begin;
  Block keep, take, fresh;
  SigmoidGate(args, begin, n, &keep);
  if (args.resets_product) {
    ResetGate(args, begin, n, &fresh);
  } else {
    TanhGate(args, 2 * args.hidden + begin, n, &fresh);
  }
  for (int64_t i = 0; i < n; ++i) take.v[i] = (1 << nm::kFunctionBits) - keep.v[i];
  WriteState(args, begin, n, keep, take, fresh);
}

void RunGatedOutput(const CellArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t n = end - begin;
  Block value, gate;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t state = args.state[begin + i];
    value.v[i] = args.tanh ? nm::GateOfState(state, args.state_bits) : state;
  }
  if (args.tanh) args.loops->tanh(args.table, n, value.v);
  if (args.gated) {
    SigmoidGate(args, args.gate * args.hidden + begin, n, &gate);
    for (int64_t i = 0; i < n; ++i) value.v[i] *= gate.v[i];
  }
  const OutputBounds& held = args.bounds;
  const auto write = [&](auto* y) {
    for (int64_t i = 0; i < n; ++i) {
      y[begin + i] = static_cast<std::remove_pointer_t<decltype(y)>>(nm::Requantize(
          value.v[i], args.words.multiplier, args.words.rshift, held.zero, held.lo, held.hi));
    }
  };
  if (args.y_type == NarrowType::kS16) return write(static_cast<int16_t*>(args.y));
  write(static_cast<uint8_t*>(args.y));
}

const CellLoops& CellLoopsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kLoops<ByAvx2>;
  if (isa == Isa::kAvx512Vnni) return kLoops<ByAvx512>;
#endif
  (void)isa;
  return kLoops<AnyCpu>;
}

}  // namespace rshift
