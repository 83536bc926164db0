// Compiled with -msse4.2: called only after the CPU has been asked.
#if defined(__x86_64__)

#include <nmmintrin.h>

#include <cstring>

#include "base/crc32c.h"

namespace rshift::crc32c {
namespace {

// Appending a fixed number of zero bytes is a linear map of the 32-bit register; held as one table
// per register byte, applying it is four look-ups. (Method: M. Adler, crc32c.c, 2013.)
struct ZerosOperator {
  uint32_t table[4][256];
};

// A linear map: the images of the 32 unit vectors.
struct BitMatrix {
  uint32_t column[32];
};

constexpr uint32_t Apply(const BitMatrix& matrix, uint32_t vector) {
  uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit) {
    if ((vector >> bit) & 1) result ^= matrix.column[bit];
  }
  return result;
}

constexpr BitMatrix Square(const BitMatrix& matrix) {
  BitMatrix result{};
  for (int bit = 0; bit < 32; ++bit) result.column[bit] = Apply(matrix, matrix.column[bit]);
  return result;
}

// For `count` zero bytes, a power of two.
constexpr ZerosOperator MakeZerosOperator(size_t count) {
  BitMatrix matrix{};
  for (int bit = 0; bit < 32; ++bit) matrix.column[bit] = TimesX(uint32_t{1} << bit);
  for (size_t bits = 1; bits < 8 * count; bits *= 2) matrix = Square(matrix);
  ZerosOperator result{};
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      result.table[byte][value] = Apply(matrix, value << (8 * byte));
    }
  }
  return result;
}

constexpr size_t kLong = 8192;  // bytes per stream, so long that joining the streams costs nothing
constexpr size_t kShort = 256;  // and for what the long streams leave over
constexpr ZerosOperator kLongZeros = MakeZerosOperator(kLong);
constexpr ZerosOperator kShortZeros = MakeZerosOperator(kShort);

uint32_t AppendZeros(const ZerosOperator& zeros, uint64_t state) {
  return zeros.table[0][state & 0xff] ^ zeros.table[1][(state >> 8) & 0xff] ^
         zeros.table[2][(state >> 16) & 0xff] ^ zeros.table[3][(state >> 24) & 0xff];
}

uint64_t Step8(uint64_t state, const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return _mm_crc32_u64(state, word);
}

// Three streams of `length` bytes side by side; returns the register after all of them.
//   bytes |--- a ---|--- b ---|--- c ---|
uint64_t ThreeStreams(uint64_t a, const uint8_t* bytes, size_t length, const ZerosOperator& zeros) {
  uint64_t b = 0;
  uint64_t c = 0;
  for (size_t at = 0; at < length; at += 8) {
    a = Step8(a, bytes + at);
    b = Step8(b, bytes + length + at);
    c = Step8(c, bytes + 2 * length + at);
  }
  const uint64_t ab = AppendZeros(zeros, a) ^ b;
  return AppendZeros(zeros, ab) ^ c;
}

}  // namespace

uint32_t UpdateSse42(uint32_t state, const uint8_t* bytes, size_t count) {
  uint64_t a = state;
  for (; count >= 3 * kLong; count -= 3 * kLong, bytes += 3 * kLong) {
    a = ThreeStreams(a, bytes, kLong, kLongZeros);
  }
  for (; count >= 3 * kShort; count -= 3 * kShort, bytes += 3 * kShort) {
    a = ThreeStreams(a, bytes, kShort, kShortZeros);
  }
  for (; count >= 8; count -= 8, bytes += 8) a = Step8(a, bytes);
  auto result = static_cast<uint32_t>(a);
  for (; count > 0; --count, ++bytes) result = _mm_crc32_u8(result, *bytes);
  return result;
}

}  // namespace rshift::crc32c

#endif  // defined(__x86_64__)
