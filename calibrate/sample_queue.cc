#include "calibrate/sample_queue.h"

#include <system_error>
#include <utility>

namespace rshift {

SampleQueue::SampleQueue(const Dataset& dataset, std::span<const int64_t> samples, size_t ahead,
                         std::function<bool()> interrupted)
    : dataset_(dataset), samples_(samples), ahead_(ahead), interrupted_(std::move(interrupted)) {
  if (samples.size() < 2) return;
  try {
    reader_ = std::jthread([this] { ReadOn(); });
  } catch (const std::system_error&) {
    // Without it the workers read.
  }
}

SampleQueue::~SampleQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool SampleQueue::Claim(size_t& place) {
  if (error_ || was_interrupted_ || next_ == samples_.size()) return false;
  place = next_;
  try {
    was_interrupted_ = interrupted_ && interrupted_();
  } catch (...) {
    Keep(std::current_exception(), place);
    return false;
  }
  if (was_interrupted_) return false;
  ++next_;
  return true;
}

SampleQueue::Read SampleQueue::ReadAt(size_t place) const {
  Read result;
  result.next.place = place;
  result.next.index = samples_[place];
  try {
    result.next.sample = dataset_.Read(result.next.index);
    result.next.sha256 = ContentSha256(result.next.sample);
  } catch (...) {
    result.error = std::current_exception();
  }
  return result;
}

void SampleQueue::ReadOn() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || ready_.size() < ahead_; });
    size_t place = 0;
    if (stopped_ || !Claim(place)) return;
    reading_ = true;
    lock.unlock();
    Read result = ReadAt(place);
    lock.lock();
    reading_ = false;
    ready_.push_back(std::move(result));
    changed_.notify_all();
  }
}

std::optional<NextSample> SampleQueue::Take() {
  std::unique_lock lock(mutex_);
  while (true) {
    std::optional<Read> taken;
    size_t place = 0;
    if (!ready_.empty()) {
      taken = std::move(ready_.front());
      ready_.pop_front();
      changed_.notify_all();
    } else if (Claim(place)) {
      lock.unlock();
      taken = ReadAt(place);
      lock.lock();
    } else if (reading_) {
      changed_.wait(lock);
      continue;
    } else {
      return std::nullopt;
    }
    if (taken->error) {
      Keep(taken->error, taken->next.place);
    } else if (!error_ || taken->next.place < error_place_) {
      return std::move(taken->next);
    }
  }
}

void SampleQueue::Keep(std::exception_ptr error, size_t place) {
  if (error_ && place >= error_place_) return;
  error_ = std::move(error);
  error_place_ = place;
}

void SampleQueue::FailAt(size_t place) {
  const std::lock_guard lock(mutex_);
  Keep(std::current_exception(), place);
}

bool SampleQueue::Finish() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  return !was_interrupted_;
}

}  // namespace rshift
