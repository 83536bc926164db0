// Little-endian reading and writing with bounds. Not for use outside codegen/container and its
// tests.
#ifndef RSHIFT_CODEGEN_CONTAINER_BYTES_H_
#define RSHIFT_CODEGEN_CONTAINER_BYTES_H_

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace rshift {

class ByteWriter {
 public:
  template <std::integral T>
  void Put(T value) {
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  }
  void PutFloat(float value) { Put(std::bit_cast<uint32_t>(value)); }
  void PutText(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  void PutBytes(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void Reserve(uint64_t size) { bytes_.reserve(size); }
  void PadTo(uint64_t size) { bytes_.resize(size); }
  uint64_t size() const { return bytes_.size(); }
  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// Reads one section; every failure is kCorrupt and names file, section and offset within it.
class ByteReader {
 public:
  ByteReader(std::span<const uint8_t> bytes, std::string where)
      : bytes_(bytes), where_(std::move(where)) {}

  template <std::integral T>
  T Get(const char* what) {
    const std::span<const uint8_t> raw = GetBytes(sizeof(T), what);
    std::make_unsigned_t<T> bits = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&bits, raw.data(), sizeof bits);
      return static_cast<T>(bits);
    }
    for (size_t i = 0; i < sizeof(T); ++i) {
      bits |= static_cast<std::make_unsigned_t<T>>(static_cast<std::make_unsigned_t<T>>(raw[i])
                                                   << (8 * i));
    }
    return static_cast<T>(bits);
  }
  float GetFloat(const char* what) { return std::bit_cast<float>(Get<uint32_t>(what)); }
  std::string GetText(uint64_t size, const char* what) {
    const std::span<const uint8_t> raw = GetBytes(size, what);
    return {raw.begin(), raw.end()};
  }
  std::span<const uint8_t> GetBytes(uint64_t size, const char* what) {
    if (size > remaining()) {
      Bad(what, " needs ", size, " bytes, but the section has ", remaining(), " left");
    }
    const std::span<const uint8_t> result = bytes_.subspan(next_, size);
    next_ += size;
    return result;
  }
  // A count of records of at least `record_size` bytes each, bounded by what is left of the
  // section.
  uint32_t GetCount(uint64_t record_size, const char* what) {
    const auto count = Get<uint32_t>(what);
    if (count > remaining() / record_size) {
      Bad(what, " is ", count, ", but the section has room for ", remaining() / record_size);
    }
    return count;
  }
  void ExpectZero(uint64_t size, const char* what) {
    for (const uint8_t byte : GetBytes(size, what)) {
      if (byte != 0) Bad(what, " must be zero");
    }
  }
  void ExpectEnd() {
    if (remaining() != 0) Bad(remaining(), " bytes after the last entry");
  }
  template <typename... Args>
  [[noreturn]] void Bad(const Args&... args) const {
    Fail(ErrorCode::kCorrupt, where_, ", offset ", next_, ": ", args...);
  }
  uint64_t remaining() const { return bytes_.size() - next_; }

 private:
  std::span<const uint8_t> bytes_;
  std::string where_;
  uint64_t next_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_BYTES_H_
