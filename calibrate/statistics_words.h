// The words of a .stats file: little-endian numbers and texts. Not for use outside
// statistics_file.cc.
#ifndef RSHIFT_CALIBRATE_STATISTICS_WORDS_H_
#define RSHIFT_CALIBRATE_STATISTICS_WORDS_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace rshift {

class StatisticsWriter {
 public:
  // Gives its bytes to `sink` in pieces of some 64 KiB; the last one when Flush is called.
  using Sink = std::function<void(std::span<const uint8_t>)>;
  explicit StatisticsWriter(Sink sink) : sink_(std::move(sink)) {}

  template <std::unsigned_integral T>
  void Put(T value) {
    uint8_t* at = Room(sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
  }
  void PutText(const std::string& text) {
    Put(static_cast<uint32_t>(text.size()));
    for (size_t begin = 0; begin < text.size(); begin += kMostAtOnce) {
      const size_t size = std::min(kMostAtOnce, text.size() - begin);
      std::memcpy(Room(size), text.data() + begin, size);
    }
  }
  void Flush() {
    sink_(std::span(bytes_).first(used_));
    used_ = 0;
  }

 private:
  static constexpr size_t kPiece = 1 << 16, kMostAtOnce = kPiece / 4;

  // For `size` more bytes, which are then taken.
  uint8_t* Room(size_t size) {
    if (size > bytes_.size() - used_) Flush();
    used_ += size;
    return bytes_.data() + used_ - size;
  }

  Sink sink_;
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(kPiece);
  size_t used_ = 0;
};

class StatisticsReader {
 public:
  StatisticsReader(std::span<const uint8_t> bytes, const std::string& where)
      : bytes_(bytes), where_(where) {}

  template <std::unsigned_integral T>
  T Get(const char* what) {
    const std::span<const uint8_t> raw = Take(sizeof(T), what);
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= uint64_t{raw[i]} << (8 * i);
    return static_cast<T>(value);
  }
  std::string GetText(const char* what) {
    const auto raw = Take(Get<uint32_t>(what), what);
    return {raw.begin(), raw.end()};
  }
  // A number of entries of at least `least` bytes each: bounded by what is left.
  uint32_t GetCount(size_t least, const char* what) {
    const auto count = Get<uint32_t>(what);
    if (count > (bytes_.size() - at_) / least)
      Bad("more ", what, " (", count, ") than the file has room for");
    return count;
  }
  bool AtEnd() const { return at_ == bytes_.size(); }
  template <typename... Args>
  [[noreturn]] void Bad(const Args&... args) const {
    Fail(ErrorCode::kCorrupt, where_, ", offset ", at_, ": ", args...,
         "; the statistics file is damaged");
  }

 private:
  std::span<const uint8_t> Take(size_t size, const char* what) {
    if (size > bytes_.size() - at_) Bad("ends within ", what);
    const auto result = bytes_.subspan(at_, size);
    at_ += size;
    return result;
  }

  std::span<const uint8_t> bytes_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_STATISTICS_WORDS_H_
