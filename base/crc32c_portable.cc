#include <array>
#include <bit>
#include <cstring>

#include "base/crc32c.h"

namespace rshift::crc32c {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// kTables[k][b]: the register after byte b and k zero bytes.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) state = TimesX(state);
    tables[0][byte] = state;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t state = tables[k - 1][byte];
      tables[k][byte] = (state >> 8) ^ tables[0][state & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

// Unaligned, least significant byte first on every machine.
uint32_t LoadLittleEndian(const uint8_t* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return std::endian::native == std::endian::little ? word : __builtin_bswap32(word);
}

}  // namespace

uint32_t UpdatePortable(uint32_t state, const uint8_t* bytes, size_t count) {
  for (; count >= 8; count -= 8, bytes += 8) {
    const uint32_t low = LoadLittleEndian(bytes) ^ state;
    const uint32_t high = LoadLittleEndian(bytes + 4);
    state = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
            kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^
            kTables[2][(high >> 8) & 0xff] ^ kTables[1][(high >> 16) & 0xff] ^
            kTables[0][high >> 24];
  }
  for (; count > 0; --count, ++bytes) state = (state >> 8) ^ kTables[0][(state ^ *bytes) & 0xff];
  return state;
}

}  // namespace rshift::crc32c
