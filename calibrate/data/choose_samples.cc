#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "calibrate/data/dataset.h"

namespace rshift {
namespace {

// splitmix64 (Steele, Lea, Flood 2014): the same sequence on every platform.
uint64_t Next(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Uniform in [0, bound): values from the incomplete last stretch are drawn again.
uint64_t Below(uint64_t bound, uint64_t& state) {
  const uint64_t limit = ~uint64_t{0} - ~uint64_t{0} % bound;
  uint64_t value = Next(state);
  while (value >= limit) value = Next(state);
  return value % bound;
}

}  // namespace

std::vector<int64_t> ChooseSamples(int64_t size, int64_t count, uint64_t seed) {
  RSHIFT_REQUIRE(size >= 0 && count >= 0, ErrorCode::kInternal, "choosing ", count, " of ", size,
                 " samples");
  std::vector<int64_t> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  if (count == 0 || count >= size) return all;
  uint64_t state = seed;
  for (int64_t i = 0; i < count; ++i) {  // Fisher-Yates, as far as needed
    const uint64_t other = static_cast<uint64_t>(i) + Below(static_cast<uint64_t>(size - i), state);
    std::swap(all[static_cast<size_t>(i)], all[other]);
  }
  all.resize(static_cast<size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace rshift
