// The constant region: bytes that are equal are stored once.
#ifndef RSHIFT_CODEGEN_LOWERING_CONSTANT_POOL_H_
#define RSHIFT_CODEGEN_LOWERING_CONSTANT_POOL_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace rshift {

class ConstantPool {
 public:
  // Room for constants of this size in all: growing by doubling would hold a large model's weights
  // twice.
  void Reserve(uint64_t bytes) { bytes_.reserve(bytes); }
  // Offset of these bytes in the region, a multiple of 64.
  uint64_t Add(std::span<const uint8_t> bytes);
  // The region, with 64 bytes of slack behind the last constant.
  std::vector<uint8_t> Take();

 private:
  std::vector<uint8_t> bytes_;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<uint64_t>> offsets_;  // by size and CRC32C
};

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_LOWERING_CONSTANT_POOL_H_
