#include "codegen/container/nibbles.h"

#include "base/error.h"

namespace rshift {
namespace {

uint8_t NibbleOf(std::span<const uint8_t> numbers, size_t i) {
  const auto number = static_cast<int8_t>(numbers[i]);
  RSHIFT_REQUIRE(number >= -8 && number <= 7, ErrorCode::kInternal, "constants of 4 bits: number ",
                 i, " is ", static_cast<int>(number), ", expected -8..7");
  return static_cast<uint8_t>(number & 15);
}

// Of the low half of a byte.
uint8_t NumberOf(int nibble) { return static_cast<uint8_t>(((nibble & 15) ^ 8) - 8); }

}  // namespace

std::vector<uint8_t> PackNibbles(std::span<const uint8_t> numbers) {
  RSHIFT_REQUIRE(numbers.size() % 2 == 0, ErrorCode::kInternal, numbers.size(),
                 " numbers of 4 bits, expected an even count");
  std::vector<uint8_t> packed(numbers.size() / 2);
  for (size_t i = 0; i < packed.size(); ++i) {
    packed[i] =
        static_cast<uint8_t>(NibbleOf(numbers, 2 * i) | (NibbleOf(numbers, 2 * i + 1) << 4));
  }
  return packed;
}

void UnpackNibbles(std::span<const uint8_t> packed, uint8_t* numbers) {
  for (size_t i = 0; i < packed.size(); ++i) {
    numbers[2 * i] = NumberOf(packed[i]);
    numbers[2 * i + 1] = NumberOf(packed[i] >> 4);
  }
}

}  // namespace rshift
