// CRC32C (Castagnoli) for file sections. It is no authentication.
#ifndef RSHIFT_BASE_CHECKSUM_H_
#define RSHIFT_BASE_CHECKSUM_H_

#include <cstdint>
#include <span>

namespace rshift {

// CRC32C("123456789") == 0xe3069283. `before`: the checksum of what precedes `bytes`, for a text in
// pieces. Uses carry-less products (AVX-512) or SSE4.2 where the CPU has them.
uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace rshift

#endif  // RSHIFT_BASE_CHECKSUM_H_
