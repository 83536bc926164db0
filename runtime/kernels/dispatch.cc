#include "runtime/kernels/dispatch.h"

namespace rshift {
namespace {

KernelTable FillFrom(KernelTable table, const KernelTable& simpler) {
  if (table.conv == nullptr) {
    table.conv = simpler.conv;
    table.conv_scratch = simpler.conv_scratch;
  }
  if (table.depthwise == nullptr) {
    table.depthwise = simpler.depthwise;
    table.depthwise_scratch = simpler.depthwise_scratch;
  }
  if (table.max_pool == nullptr) table.max_pool = simpler.max_pool;
  if (table.sum_pool == nullptr) table.sum_pool = simpler.sum_pool;
  if (table.requantize == nullptr) table.requantize = simpler.requantize;
  if (table.conv_s16 == nullptr) table.conv_s16 = simpler.conv_s16;
  if (table.depthwise_s16 == nullptr) table.depthwise_s16 = simpler.depthwise_s16;
  return table;
}

}  // namespace

const KernelTable& KernelsFor(Isa isa) {
#if defined(__x86_64__)
  static const KernelTable avx2 = FillFrom(kAvx2Kernels, kScalarKernels);
  static const KernelTable avxvnni = FillFrom(kAvxVnniKernels, avx2);
  static const KernelTable avx512vnni = FillFrom(kAvx512VnniKernels, avx2);
  switch (isa) {
    case Isa::kScalar:
      return kScalarKernels;
    case Isa::kAvx2:
      return avx2;
    case Isa::kAvxVnni:
      return avxvnni;
    case Isa::kAvx512Vnni:
      return avx512vnni;
    case Isa::kNeonDot:
      break;
  }
#elif defined(__aarch64__)
  static const KernelTable neondot = FillFrom(kNeonDotKernels, kScalarKernels);
  if (isa == Isa::kNeonDot) return neondot;
#endif
  (void)isa;
  return kScalarKernels;
}

}  // namespace rshift
