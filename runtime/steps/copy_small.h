// Copies of few bytes without a call for each: in one piece, or an element's first and last bytes,
// which overlap.
#ifndef RSHIFT_RUNTIME_STEPS_COPY_SMALL_H_
#define RSHIFT_RUNTIME_STEPS_COPY_SMALL_H_

#include <array>
#include <cstdint>
#include <cstring>

namespace rshift {

template <typename Piece>
struct OnePiece {
  void operator()(const std::byte* src, std::byte* dst) const {
    std::memcpy(dst, src, sizeof(Piece));
  }
};

// sizeof(Piece) to twice as many bytes. Both ends are read before one is written.
template <typename Piece>
struct TwoEnds {
  int64_t last = 0;  // where the second piece begins
  void operator()(const std::byte* src, std::byte* dst) const {
    Piece a, b;
    std::memcpy(&a, src, sizeof a);
    std::memcpy(&b, src + last, sizeof b);
    std::memcpy(dst, &a, sizeof a);
    std::memcpy(dst + last, &b, sizeof b);
  }
};

struct AnyLength {
  size_t bytes = 0;
  void operator()(const std::byte* src, std::byte* dst) const { std::memcpy(dst, src, bytes); }
};

// Calls loop(copy), in which copy(src, dst) copies `bytes` > 0 bytes.
template <typename Loop>
void WithCopyOf(int64_t bytes, const Loop& loop) {
  const auto ends = [=]<typename Piece>(Piece) {
    return TwoEnds<Piece>{bytes - static_cast<int64_t>(sizeof(Piece))};
  };
  if (bytes == 1) return loop(OnePiece<uint8_t>{});
  if (bytes == 2) return loop(OnePiece<uint16_t>{});
  if (bytes == 4) return loop(OnePiece<uint32_t>{});
  if (bytes == 8) return loop(OnePiece<uint64_t>{});
  if (bytes == 3) return loop(ends(uint16_t{}));
  if (bytes < 8) return loop(ends(uint32_t{}));
  if (bytes < 16) return loop(ends(uint64_t{}));
  if (bytes < 32) return loop(ends(std::array<uint64_t, 2>{}));
  if (bytes <= 64) return loop(ends(std::array<uint64_t, 4>{}));
  loop(AnyLength{static_cast<size_t>(bytes)});
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_COPY_SMALL_H_
