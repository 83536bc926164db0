#include "base/aligned.h"

#include <sys/mman.h>

#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace rshift {
namespace {

// Bytes. A buffer of a few thousand small pages costs a program 1 to 2 % of its time in page walks.
constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

AlignedBuffer::AlignedBuffer(size_t size) : size_(size) {
  // aligned_alloc wants a multiple of the alignment.
  const size_t alignment = size < kLargePage ? kBufferAlignment : kLargePage;
  std::optional<uint64_t> total = CheckedAdd<uint64_t>(size, kBufferSlack);
  if (total) total = CheckedRoundUp<uint64_t>(*total, alignment);
  if (total) data_.reset(static_cast<uint8_t*>(std::aligned_alloc(alignment, *total)));
  RSHIFT_REQUIRE(data_ != nullptr, ErrorCode::kIo, "cannot allocate ", size,
                 " bytes of memory: free some, or use a smaller model or batch");
  // Whole large pages only: what is behind them would be mostly waste. Where the system has none,
  // nothing is lost.
#ifdef MADV_HUGEPAGE
  if (size >= kLargePage) madvise(data_.get(), size / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  std::memset(data_.get(), 0, size + kBufferSlack);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

}  // namespace rshift
