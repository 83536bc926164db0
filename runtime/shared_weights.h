// Weights that steps have in another order than the file: those of one constant and one order once
// for all steps and sessions of a program that read them, as the cells of an unrolled layer, or one
// session for each thread. They go with the last step that holds them.
#ifndef RSHIFT_RUNTIME_SHARED_WEIGHTS_H_
#define RSHIFT_RUNTIME_SHARED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/aligned.h"

namespace rshift {

class SharedWeights {
 public:
  // The constant, and the numbers that its order depends on.
  using Key = std::pair<const void*, std::vector<int64_t>>;
  struct Share {
    std::shared_ptr<const AlignedBuffer> buffer;
    bool is_new = false;  // nobody else had them: their memory counts as the caller's
  };

  // `fill`: called with the new buffer, once for all who ask for the same. Thread-safe.
  template <typename Fill>
  Share Get(const Key& key, size_t bytes, const Fill& fill) {
    Share share;
    const std::shared_ptr<Entry> entry = EntryOf(key, &share.is_new);
    std::call_once(entry->filled, [&] {
      AlignedBuffer buffer(bytes);
      fill(buffer);
      entry->buffer = std::move(buffer);
    });
    share.buffer = {entry, &entry->buffer};
    return share;
  }

 private:
  struct Entry {
    std::once_flag filled;
    AlignedBuffer buffer;
  };

  std::shared_ptr<Entry> EntryOf(const Key& key, bool* is_new) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<Entry>& known = entries_[key];
    std::shared_ptr<Entry> entry = known.lock();
    *is_new = entry == nullptr;
    if (entry == nullptr) known = entry = std::make_shared<Entry>();
    return entry;
  }

  std::mutex mutex_;
  std::map<Key, std::weak_ptr<Entry>> entries_;  // guarded by mutex_
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_SHARED_WEIGHTS_H_
