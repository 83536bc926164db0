// What someone who wants to deceive the reader does: numbers changed in the bytes of a file, and
// all checksums made to fit.
#ifndef RSHIFT_TESTS_CODEGEN_CONTAINER_FORGE_H_
#define RSHIFT_TESTS_CODEGEN_CONTAINER_FORGE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "codegen/container/layout.h"

namespace rshift {

template <typename T>
T LoadNumber(const std::vector<uint8_t>& file, uint64_t at) {
  T value{};
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

template <typename T>
void StoreNumber(std::vector<uint8_t>& file, uint64_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(T));
}

inline void FixChecksums(std::vector<uint8_t>& file) {
  using namespace file_layout;  // NOLINT
  const uint64_t count = std::min<uint64_t>(LoadNumber<uint32_t>(file, 0x14), kSections.size());
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t entry = kHeaderSize + i * kSectionEntrySize;
    const auto offset = LoadNumber<uint64_t>(file, entry + 8);
    const auto size = LoadNumber<uint64_t>(file, entry + 16);
    if (offset > file.size() || size > file.size() - offset) continue;
    StoreNumber(file, entry + 24, Crc32c(std::span(file).subspan(offset, size)));
  }
  StoreNumber(file, kTableCrcAt,
              Crc32c(std::span(file).subspan(kHeaderSize, count * kSectionEntrySize)));
  StoreNumber(file, kHeaderCrcAt, Crc32c(std::span(file).first(kHeaderCrcAt)));
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_CODEGEN_CONTAINER_FORGE_H_
