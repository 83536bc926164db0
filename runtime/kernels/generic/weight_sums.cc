#include "runtime/kernels/weight_sums.h"

#include <cstring>

#include "runtime/runtime.h"

namespace rshift {
namespace {

// Rows whose pairs of bytes, each at most 510, add up in 16 bits.
constexpr int64_t kRows = 128;

}  // namespace

// A word of four weights as two pairs, both bytes of a pair in 16 bits: w + 128 is not negative.
// Written for the vectoriser (-O3, see CMakeLists.txt).
void SumWeightsPortable(const int8_t* quads, int64_t count, int64_t width,
                        uint32_t* sums) noexcept {
  while (count > 0) {
    const int64_t rows = count < kRows ? count : kRows;
    uint32_t pairs[64] = {};
    for (int64_t row = 0; row < rows; ++row, quads += 4 * width) {
      for (int64_t c = 0; c < width; ++c) {
        uint32_t word;
        std::memcpy(&word, quads + 4 * c, sizeof word);
        word ^= 0x80808080;
        pairs[c] += (word & 0x00ff00ff) + ((word >> 8) & 0x00ff00ff);
      }
    }
    for (int64_t c = 0; c < width; ++c) {
      sums[c] += (pairs[c] & 0xffff) + (pairs[c] >> 16) - static_cast<uint32_t>(4 * 128 * rows);
    }
    count -= rows;
  }
}

WeightSumFn WeightSumFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni) return SumWeightsAvx512Vnni;
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return SumWeightsAvx2;
#endif
  (void)isa;
  return SumWeightsPortable;
}

}  // namespace rshift
