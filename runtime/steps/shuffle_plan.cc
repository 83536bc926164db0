#include "runtime/steps/shuffle_plan.h"

#include <algorithm>
#include <span>

namespace rshift {
namespace {

// The first window begins at the lowest byte, the next at the lowest one behind it, and so on: no
// other choice needs fewer. False where these do not do.
bool FindWindows(std::span<const int64_t> from, ShuffleBlock* block) {
  int64_t end = INT64_MIN;
  for (block->windows = 0;; ++block->windows) {
    int64_t next = INT64_MAX;
    for (const int64_t at : from) {
      if (at >= end && at < next) next = at;
    }
    if (next == INT64_MAX) return true;
    if (block->windows == kShuffleWindows) return false;
    block->window[block->windows] = next;
    end = next + kShuffleBytes;
  }
}

void PlanBlock(std::span<const int64_t> from, ShuffleBlock* block) {
  for (size_t i = 0; i < from.size(); ++i) {
    block->stored |= uint64_t{1} << i;
    int64_t w = block->windows - 1;
    while (block->window[w] > from[i]) --w;
    const int64_t byte = from[i] - block->window[w];
    block->loaded[w] |= uint64_t{1} << byte;
    block->from[i] = static_cast<uint8_t>(kShuffleBytes * w + byte);
  }
}

}  // namespace

std::vector<ShuffleBlock> PlanShuffle(const std::vector<int64_t>& from) {
  const auto size = static_cast<int64_t>(from.size());
  const int64_t length = std::min(size, kShuffleBytes);
  std::vector<ShuffleBlock> blocks(static_cast<size_t>((size + length - 1) / length));
  for (size_t b = 0; b < blocks.size(); ++b) {
    // The last one may overlap the one before: a whole store is faster than a part.
    blocks[b].dst = std::min(static_cast<int64_t>(b) * length, size - length);
    const std::span<const int64_t> bytes(from.data() + blocks[b].dst, static_cast<size_t>(length));
    if (!FindWindows(bytes, &blocks[b])) return {};
    PlanBlock(bytes, &blocks[b]);
  }
  return blocks;
}

}  // namespace rshift
