// Kernels for AVX2 without VNNI.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
#include "runtime/kernels/avx2/conv.h"
#include "runtime/kernels/avx2/conv_s16.h"
#include "runtime/kernels/avx2/depthwise.h"
#include "runtime/kernels/avx2/depthwise_s16.h"
#include "runtime/kernels/avx2/pool.h"
#include "runtime/kernels/driver/peak.h"

namespace rshift {
namespace {

struct Unit : DepthwiseUnit {
  static constexpr int kRows = 6;
  static constexpr int64_t kMacsPerCycle = 16;
  static int64_t TileRows(const ConvArgs&) { return kRows; }
  static uint8_t Flip(const ConvArgs&) { return 0; }
  template <int R>
  static void Tile(const ConvArgs& args, const TileArgs& tile) {
    for (int64_t first = 0; first < tile.real; first += 16) {
      if (args.src_signed) {
        DotColumn<R, true>(args, tile, first);
      } else {
        DotColumn<R, false>(args, tile, first);
      }
    }
  }
};

// Exact dot products of two: widened operands, multiplied and added in pairs.
int64_t Peak(int64_t rounds) noexcept {
  constexpr int kDots = 12;
  RunDots<kDots>(rounds, _mm256_set1_epi16(1), _mm256_set1_epi16(2),
                 [](__m256i acc, __m256i a, __m256i& b) {
                   Pin(b);  // else the product, the same every time, is computed once
                   return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
                 });
  return rounds * kDots * 16;
}

}  // namespace

const KernelTable kAvx2Kernels = {.conv = DriveConv<Unit>,
                                  .conv_scratch = ConvScratchBytes<Unit>,
                                  .depthwise = DriveDepthwise<Unit>,
                                  .depthwise_scratch = DepthwiseScratchBytes<Unit>,
                                  .max_pool = MaxPool,
                                  .sum_pool = SumPool,
                                  .requantize = RequantizeAll,
                                  .conv_s16 = ConvS16<S16Madd>,
                                  .depthwise_s16 = DepthwiseS16<DepthwiseS16Madd>,
                                  .peak = Peak};

}  // namespace rshift
#endif
