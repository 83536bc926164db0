// Memory for tensors and weights: 64-byte aligned, zero-initialised, and followed by 64 zero bytes
// that a kernel may read (never write). In large pages from 2 MB on, where the system gives them.
// Move-only.
#ifndef RSHIFT_BASE_ALIGNED_H_
#define RSHIFT_BASE_ALIGNED_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace rshift {

inline constexpr size_t kBufferAlignment = 64;  // bytes: a cache line, one AVX-512 register
inline constexpr size_t kBufferSlack = 64;      // readable bytes past the end

class AlignedBuffer {
 public:
  // No memory at all: data() is null.
  AlignedBuffer() = default;
  // Throws kIo when the memory cannot be had. A size of 0 has a valid data() and its slack.
  explicit AlignedBuffer(size_t size);

  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;

  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<uint8_t> bytes() { return {data_.get(), size_}; }
  std::span<const uint8_t> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(uint8_t* pointer) const { std::free(pointer); }
  };
  std::unique_ptr<uint8_t[], Free> data_;
  size_t size_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_BASE_ALIGNED_H_
