// Compiled with -msse4.2: called only after the CPU has been asked.
#if defined(__x86_64__)

#include <nmmintrin.h>

#include <cstring>

#include "base/crc32c.h"

namespace rshift::crc32c {
namespace {

constexpr size_t kLong = 8192;  // bytes per stream, so long that joining the streams costs nothing
constexpr size_t kShort = 256;  // and for what the long streams leave over
constexpr ZerosOperator kLongZeros = MakeZerosOperator(kLong);
constexpr ZerosOperator kShortZeros = MakeZerosOperator(kShort);

uint32_t AppendZeros(const ZerosOperator& zeros, uint64_t state) {
  return zeros[0][state & 0xff] ^ zeros[1][(state >> 8) & 0xff] ^ zeros[2][(state >> 16) & 0xff] ^
         zeros[3][(state >> 24) & 0xff];
}

uint64_t Step8(uint64_t state, const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return _mm_crc32_u64(state, word);
}

// Three streams of `length` bytes side by side; returns the register after all of them.
//   next |--- a ---|--- b ---|--- c ---|
uint64_t ThreeStreams(uint64_t a, const uint8_t* next, size_t length, const ZerosOperator& zeros) {
  uint64_t b = 0;
  uint64_t c = 0;
  for (size_t at = 0; at < length; at += 8) {
    a = Step8(a, next + at);
    b = Step8(b, next + length + at);
    c = Step8(c, next + 2 * length + at);
  }
  const uint64_t ab = AppendZeros(zeros, a) ^ b;
  return AppendZeros(zeros, ab) ^ c;
}

}  // namespace

uint32_t UpdateSse42(uint32_t state, std::span<const uint8_t> bytes) {
  const uint8_t* next = bytes.data();
  size_t left = bytes.size();
  uint64_t a = state;
  for (; left >= 3 * kLong; left -= 3 * kLong, next += 3 * kLong) {
    a = ThreeStreams(a, next, kLong, kLongZeros);
  }
  for (; left >= 3 * kShort; left -= 3 * kShort, next += 3 * kShort) {
    a = ThreeStreams(a, next, kShort, kShortZeros);
  }
  for (; left >= 8; left -= 8, next += 8) a = Step8(a, next);
  auto result = static_cast<uint32_t>(a);
  for (; left > 0; --left, ++next) result = _mm_crc32_u8(result, *next);
  return result;
}

}  // namespace rshift::crc32c

#endif  // defined(__x86_64__)
