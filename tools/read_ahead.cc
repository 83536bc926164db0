#include "tools/read_ahead.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace rshift {
namespace {

constexpr int64_t kBytesAhead = int64_t{32} << 20;  // per reader
constexpr int64_t kSamplesAhead = 64;               // per reader

}  // namespace

ReadAhead::ReadAhead(const Dataset& dataset, int readers, int64_t sample_bytes)
    : dataset_(dataset), size_(dataset.size()) {
  if (size_ < 2) return;
  const int64_t each =
      std::clamp<int64_t>(kBytesAhead / std::max<int64_t>(sample_bytes, 1), 1, kSamplesAhead);
  slots_.resize(static_cast<size_t>(std::min(size_, each * readers)));
  try {
    for (int i = 0; i < readers; ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
    // Those that were started do it; none: Take() reads.
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  space_.notify_all();
}

void ReadAhead::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    space_.wait(lock, [&] { return stopped_ || next_ == size_ || !SlotOf(next_).busy; });
    if (stopped_ || next_ == size_) return;
    const int64_t index = next_++;
    SlotOf(index).busy = true;
    lock.unlock();
    Slot read{.busy = true, .full = true, .sample = {}, .error = nullptr};
    try {
      read.sample = dataset_.Read(index);
    } catch (...) {
      read.error = std::current_exception();
    }
    lock.lock();
    SlotOf(index) = std::move(read);
    ready_.notify_all();
  }
}

Sample ReadAhead::Take(int64_t index) {
  if (threads_.empty()) return dataset_.Read(index);
  std::unique_lock lock(mutex_);
  // Once somebody has begun to read it, the slot is this sample's and no other's.
  ready_.wait(lock, [&] { return index < next_ && SlotOf(index).full; });
  Slot slot = std::exchange(SlotOf(index), Slot{});
  ++taken_;
  // Readers are woken when half of the slots are free, not for each: a small sample takes no
  // longer to decode than a thread to wake up.
  const int64_t ahead = next_ - taken_;
  const bool wake = ahead <= static_cast<int64_t>(slots_.size()) / 2;
  lock.unlock();
  if (wake) space_.notify_all();
  if (slot.error != nullptr) std::rethrow_exception(slot.error);
  return std::move(slot.sample);
}

}  // namespace rshift
