// Kernels for AVX512-VNNI.
#include "runtime/kernels/kernels.h"

#if defined(__x86_64__)
#include "runtime/kernels/avx512vnni/conv.h"
#include "runtime/kernels/avx512vnni/conv_s16.h"
#include "runtime/kernels/avx512vnni/depthwise.h"
#include "runtime/kernels/avx512vnni/depthwise_s16.h"
#include "runtime/kernels/avx512vnni/pool.h"
#include "runtime/kernels/driver/peak.h"

namespace rshift {
namespace {

int64_t Peak(int64_t rounds) noexcept {
  constexpr int kDots = 24;  // as many as the convolution's tile
  RunDots<kDots>(rounds, _mm512_set1_epi8(1), _mm512_set1_epi8(2),
                 [](__m512i acc, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(acc, a, b); });
  return rounds * kDots * 64;
}

}  // namespace

const KernelTable kAvx512VnniKernels = {.conv = DriveAnyConv,
                                        .conv_scratch = ConvScratchBytes<ConvUnit<AnyRequantizer>>,
                                        .depthwise = DriveDepthwiseDot,
                                        .depthwise_scratch = DepthwiseDotScratchBytes,
                                        .max_pool = MaxPool,
                                        .sum_pool = SumPool,
                                        .average_pool = AveragePool,
                                        .requantize = RequantizeAll,
                                        .conv_s16 = ConvS16<S16Vnni>,
                                        .depthwise_s16 = DepthwiseS16<DepthwiseS16Vnni>,
                                        .peak = Peak};

}  // namespace rshift
#endif
