// Kernels for AVX-VNNI: convolution of its own, the rest is AVX2's.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
#include "runtime/kernels/avx2/depthwise.h"
#include "runtime/kernels/avxvnni/conv.h"
#include "runtime/kernels/driver/peak.h"

namespace rshift {
namespace {

struct Unit : DepthwiseUnit {
  static constexpr int kRows = 6;
  static constexpr int64_t kMacsPerCycle = 32;
  static int64_t TileRows(const ConvArgs&) { return kRows; }
  static uint8_t Flip(const ConvArgs& args) { return FlipOf(args); }
  template <int R>
  static void Tile(const ConvArgs& args, const TileArgs& tile) {
    for (int64_t first = 0; first < tile.real; first += 16) DotColumn<R>(args, tile, first);
  }
};

int64_t Peak(int64_t rounds) noexcept {
  constexpr int kDots = 12;
  RunDots<kDots>(
      rounds, _mm256_set1_epi8(1), _mm256_set1_epi8(2),
      [](__m256i acc, __m256i a, __m256i b) { return _mm256_dpbusd_avx_epi32(acc, a, b); });
  return rounds * kDots * 32;
}

}  // namespace

const KernelTable kAvxVnniKernels = {.conv = DriveConv<Unit>,
                                     .conv_scratch = ConvScratchBytes<Unit>,
                                     .depthwise = DriveDepthwise<Unit>,
                                     .depthwise_scratch = DepthwiseScratchBytes<Unit>,
                                     .peak = Peak};

}  // namespace rshift
#endif
