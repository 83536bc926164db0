// The steps behind Crc32c(), apart so that tests can compare them. All take and return the raw
// shift register (start with ~0, complement at the end). Not for use outside base/ and its tests.
#ifndef RSHIFT_BASE_CRC32C_H_
#define RSHIFT_BASE_CRC32C_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rshift::crc32c {

inline constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bit-reversed

// Slicing-by-8: eight table look-ups per eight bytes.
uint32_t UpdatePortable(uint32_t state, std::span<const uint8_t> bytes);
#if defined(__x86_64__)
// Needs SSE4.2: three independent streams hide the instruction's latency of three cycles.
uint32_t UpdateSse42(uint32_t state, std::span<const uint8_t> bytes);
#endif

// Appending a fixed number of zero bytes is a linear map of the 32-bit register; held as one table
// per register byte, applying it is four look-ups.
using ZerosOperator = std::array<std::array<uint32_t, 256>, 4>;

// A linear map: the images of the 32 unit vectors.
using BitMatrix = std::array<uint32_t, 32>;

constexpr uint32_t Apply(const BitMatrix& matrix, uint32_t vector) {
  uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit) {
    if ((vector >> bit) & 1) result ^= matrix[bit];
  }
  return result;
}

constexpr BitMatrix Square(const BitMatrix& matrix) {
  BitMatrix result{};
  for (int bit = 0; bit < 32; ++bit) result[bit] = Apply(matrix, matrix[bit]);
  return result;
}

// For `count` zero bytes, a power of two. (Method: M. Adler, crc32c.c, 2013.)
constexpr ZerosOperator MakeZerosOperator(size_t count) {
  BitMatrix matrix{};  // one zero bit
  matrix[0] = kPolynomial;
  for (int bit = 1; bit < 32; ++bit) matrix[bit] = uint32_t{1} << (bit - 1);
  for (size_t bits = 1; bits < 8 * count; bits *= 2) matrix = Square(matrix);
  ZerosOperator result{};
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      result[byte][value] = Apply(matrix, value << (8 * byte));
    }
  }
  return result;
}

}  // namespace rshift::crc32c

#endif  // RSHIFT_BASE_CRC32C_H_
