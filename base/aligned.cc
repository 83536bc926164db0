#include "base/aligned.h"

#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace rshift {

AlignedBuffer::AlignedBuffer(size_t size) : size_(size) {
  // aligned_alloc wants a multiple of the alignment.
  std::optional<uint64_t> total = CheckedAdd<uint64_t>(size, kBufferSlack);
  if (total) total = CheckedRoundUp<uint64_t>(*total, kBufferAlignment);
  if (total) data_.reset(static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, *total)));
  Require(data_ != nullptr, ErrorCode::kIo, "cannot allocate ", size,
          " bytes of memory: free some, or use a smaller model or batch");
  std::memset(data_.get(), 0, *total);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

}  // namespace rshift
