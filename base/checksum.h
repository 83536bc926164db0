// CRC32C (Castagnoli) for file sections, SHA-256 to tie a table to its model. Neither is
// authentication.
#ifndef RSHIFT_BASE_CHECKSUM_H_
#define RSHIFT_BASE_CHECKSUM_H_

#include <cstdint>
#include <span>
#include <string>

namespace rshift {

// CRC32C("123456789") == 0xe3069283. Uses SSE4.2 where the CPU has it.
uint32_t Crc32c(std::span<const uint8_t> bytes);
// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::span<const uint8_t> bytes);

}  // namespace rshift

#endif  // RSHIFT_BASE_CHECKSUM_H_
