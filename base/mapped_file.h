// A read-only file in memory: mmap, or a private copy. A mapped file that someone truncates while
// it is in use raises SIGBUS: whoever cannot rule that out asks for a copy. However it came into
// memory, the data is 64-byte aligned and followed by 64 readable bytes.
#ifndef RSHIFT_BASE_MAPPED_FILE_H_
#define RSHIFT_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/aligned.h"

namespace rshift {

class MappedFile {
 public:
  MappedFile() = default;
  // Throws kIo. An empty file gives an empty span. What cannot be mapped (a pipe) is read into a
  // copy.
  static MappedFile Map(const std::string& path);
  static MappedFile Copy(const std::string& path);
  // Takes bytes that are already in memory; the data is kept 64-byte aligned with 64 bytes of
  // slack.
  static MappedFile FromBytes(std::span<const uint8_t> bytes);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  void* mapping_ = nullptr;  // munmap when set
  size_t mapping_size_ = 0;
  AlignedBuffer owned_;
};

}  // namespace rshift

#endif  // RSHIFT_BASE_MAPPED_FILE_H_
