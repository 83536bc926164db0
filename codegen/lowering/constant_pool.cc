#include "codegen/lowering/constant_pool.h"

#include <algorithm>

#include "base/aligned.h"
#include "base/checksum.h"

namespace rshift {

uint64_t ConstantPool::Add(std::span<const uint8_t> bytes) {
  std::vector<uint64_t>& same = offsets_[{bytes.size(), Crc32c(bytes)}];
  for (const uint64_t offset : same) {
    if (std::equal(bytes.begin(), bytes.end(), bytes_.begin() + offset)) return offset;
  }
  const uint64_t offset =
      (bytes_.size() + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  bytes_.resize(offset);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  same.push_back(offset);
  return offset;
}

std::vector<uint8_t> ConstantPool::Take() {
  bytes_.resize(bytes_.size() + kBufferSlack);
  return std::move(bytes_);
}

}  // namespace rshift
