// Compiled with -mavx512f -mvpclmulqdq -msse4.2: called only after the CPU has been asked.
//
// Folding (V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel,
// 2009): what has been read is held as 128-bit lanes V that stand for the message so far modulo P.
// To move a lane D bits on, its halves are multiplied by constants:
//   V = L * x^64 + H;  V * x^D = L * (x^(D+64) mod P) + H * (x^D mod P)  (mod P), again 128 bits.
// Bit-reversed, the product of two 64-bit halves comes out one bit low: the constants are those of
// D - 1. The last lane goes through the crc32 instruction as if it were message.
#if defined(__x86_64__)

#include <immintrin.h>

#include "base/crc32c.h"

namespace rshift::crc32c {
namespace {

constexpr size_t kVector = 64;         // bytes
constexpr size_t kStep = 4 * kVector;  // four vectors hide the multiplier's latency
constexpr size_t kWorthwhile = 2 * kStep;

// x^n mod P as a bit-reversed 64-bit polynomial of degree < 32.
constexpr uint64_t Power(size_t n) {
  uint32_t state = uint32_t{1} << 31;
  for (size_t i = 0; i < n; ++i) state = TimesX(state);
  return uint64_t{state} << 32;
}

// Constants that move every lane `bytes` on.
template <size_t bytes>
__m512i Distance() {
  constexpr auto kLow = static_cast<int64_t>(Power(8 * bytes + 63));
  constexpr auto kHigh = static_cast<int64_t>(Power(8 * bytes - 1));
  return _mm512_set_epi64(kHigh, kLow, kHigh, kLow, kHigh, kLow, kHigh, kLow);
}

__m512i Load(const uint8_t* bytes) { return _mm512_loadu_si512(bytes); }

// The lanes moved on by the distance, plus what lies there.
__m512i Fold(__m512i lanes, __m512i distance, __m512i there) {
  const __m512i low = _mm512_clmulepi64_epi128(lanes, distance, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lanes, distance, 0x11);
  return _mm512_ternarylogic_epi64(low, high, there, 0x96);  // exclusive or of the three
}

}  // namespace

uint32_t UpdateVpclmul(uint32_t state, const uint8_t* bytes, size_t count) {
  if (count < kWorthwhile) return UpdateSse42(state, bytes, count);
  const __m512i before = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int32_t>(state)));
  __m512i a = _mm512_xor_si512(Load(bytes), before), b = Load(bytes + kVector),
          c = Load(bytes + 2 * kVector), d = Load(bytes + 3 * kVector);
  const __m512i step = Distance<kStep>();
  for (bytes += kStep, count -= kStep; count >= kStep; bytes += kStep, count -= kStep) {
    a = Fold(a, step, Load(bytes));
    b = Fold(b, step, Load(bytes + kVector));
    c = Fold(c, step, Load(bytes + 2 * kVector));
    d = Fold(d, step, Load(bytes + 3 * kVector));
  }
  const __m512i next = Distance<kVector>();
  b = Fold(a, next, b);
  c = Fold(b, next, c);
  d = Fold(c, next, d);
  alignas(64) uint64_t words[8];
  _mm512_store_si512(words, d);
  uint64_t remainder = 0;
  for (const uint64_t word : words) remainder = _mm_crc32_u64(remainder, word);
  return UpdateSse42(static_cast<uint32_t>(remainder), bytes, count);
}

}  // namespace rshift::crc32c

#endif  // defined(__x86_64__)
