// Kernels for AArch64 with the dot product extension.
#include "runtime/kernels/kernels.h"

#if defined(__aarch64__)
#include "runtime/kernels/driver/peak.h"
#include "runtime/kernels/neondot/conv.h"
#include "runtime/kernels/neondot/depthwise.h"
#include "runtime/kernels/neondot/pool.h"

namespace rshift {
namespace {

struct Unit : DepthwiseUnit {
  static constexpr int kRows = kTileRows;
  static constexpr int64_t kMacsPerCycle = 32;
  static int64_t TileRows(const ConvArgs&) { return kRows; }
  static uint8_t Flip(const ConvArgs& args) { return FlipOf(args); }
  template <int R>
  static void Tile(const ConvArgs& args, const TileArgs& tile) {
    for (int64_t first = 0; first < tile.real; first += kColumn) DotColumn<R>(args, tile, first);
  }
};

int64_t Peak(int64_t rounds) noexcept {
  constexpr int kDots = 24;
  RunDots<kDots>(rounds, vdupq_n_s32(0x01010101), vdupq_n_s32(0x02020202),
                 [](int32x4_t acc, int32x4_t a, int32x4_t b) {
                   return vdotq_s32(acc, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
                 });
  return rounds * kDots * 16;
}

}  // namespace

const KernelTable kNeonDotKernels = {.conv = DriveConv<Unit>,
                                     .conv_scratch = ConvScratchBytes<Unit>,
                                     .depthwise = DriveDepthwise<Unit>,
                                     .depthwise_scratch = DepthwiseScratchBytes<Unit>,
                                     .max_pool = MaxPool,
                                     .sum_pool = SumPool,
                                     .requantize = RequantizeAll,
                                     .peak = Peak};

}  // namespace rshift
#endif
