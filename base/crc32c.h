// The steps behind Crc32c(), apart so that tests can compare them. All take and return the raw
// shift register (start with ~0, complement at the end). Not for use outside base/ and its tests.
//
// Included by units with their own -m flags: nothing here may become an inline function of the
// program (plain arrays, constants computed at compile time).
#ifndef RSHIFT_BASE_CRC32C_H_
#define RSHIFT_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace rshift::crc32c {

inline constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bit-reversed

using UpdateFn = uint32_t (*)(uint32_t state, const uint8_t* bytes, size_t count);

// Slicing-by-8: eight table look-ups per eight bytes.
uint32_t UpdatePortable(uint32_t state, const uint8_t* bytes, size_t count);
#if defined(__x86_64__)
// Needs SSE4.2: three independent streams hide the instruction's latency of three cycles.
uint32_t UpdateSse42(uint32_t state, const uint8_t* bytes, size_t count);
// Needs AVX-512F, VPCLMULQDQ and SSE4.2: folds 256 bytes a step by carry-less products.
uint32_t UpdateVpclmul(uint32_t state, const uint8_t* bytes, size_t count);
bool CpuHasSse42();
bool CpuHasVpclmul();
#endif

// The register after one zero bit more; bit 31 is x^0.
constexpr uint32_t TimesX(uint32_t state) {
  return (state >> 1) ^ ((state & 1) != 0 ? kPolynomial : 0);
}

}  // namespace rshift::crc32c

#endif  // RSHIFT_BASE_CRC32C_H_
