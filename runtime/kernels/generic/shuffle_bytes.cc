#include "runtime/kernels/shuffle_bytes.h"

#include "runtime/kernels/avx512/vbmi.h"

namespace rshift {

ShuffleBytesFn ShuffleBytesFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni && __builtin_cpu_supports("avx512vbmi")) return ShuffleBytesVbmi;
#endif
  (void)isa;
  return nullptr;
}

}  // namespace rshift
