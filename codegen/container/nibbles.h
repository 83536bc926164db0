// Numbers of 4 bits, -8..7: two to a byte in the file, the first in the low half.
#ifndef RSHIFT_CODEGEN_CONTAINER_NIBBLES_H_
#define RSHIFT_CODEGEN_CONTAINER_NIBBLES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace rshift {

// `numbers`: s8, an even count. Throws kInternal where one does not fit.
std::vector<uint8_t> PackNibbles(std::span<const uint8_t> numbers);
// Twice as many bytes at `numbers`. Every byte stands for two numbers, so there are no wrong ones.
void UnpackNibbles(std::span<const uint8_t> packed, uint8_t* numbers);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_NIBBLES_H_
