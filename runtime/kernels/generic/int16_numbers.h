// What the loops of 16-bit commands share, written for the vectoriser. Arithmetic shifts of 64
// bits, which AVX2 has not, are logical ones of what is made non-negative first.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_NUMBERS_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_NUMBERS_H_

#include <cstdint>

#include "runtime/kernels/int16.h"

namespace rshift {

inline constexpr int64_t kRaise = int64_t{1} << 62;

// floor(v / 2^shift), shift <= 62, for -2^62 <= v <= 2^62 + 2^61.
[[gnu::always_inline]] inline int64_t FloorShift(int64_t v, int64_t shift) {
  return static_cast<int64_t>(
      ((static_cast<uint64_t>(v) + static_cast<uint64_t>(kRaise)) >> shift) -
      (static_cast<uint64_t>(kRaise) >> shift));
}

[[gnu::always_inline]] inline int64_t Rounded(int64_t v, int64_t shift) {
  return FloorShift(v + ((int64_t{1} << shift) >> 1), shift);
}

// The bounds without the zero point: numbers are compared before it is added.
struct Held {
  int64_t lo, hi;
  int32_t zero;
  [[gnu::always_inline]] explicit Held(const S16Bounds& b)
      : lo(int64_t{b.lo} - b.zero), hi(int64_t{b.hi} - b.zero), zero(b.zero) {}
  [[gnu::always_inline]] int32_t operator()(int64_t v) const {
    return static_cast<int32_t>(v < lo ? lo : v > hi ? hi : v) + zero;
  }
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_NUMBERS_H_
