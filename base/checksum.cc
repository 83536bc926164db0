#include "base/checksum.h"

#include "base/crc32c.h"

namespace rshift {
namespace {

crc32c::UpdateFn ChooseUpdate() {
#if defined(__x86_64__)
  if (crc32c::CpuHasVpclmul()) return crc32c::UpdateVpclmul;
  if (crc32c::CpuHasSse42()) return crc32c::UpdateSse42;
#endif
  return crc32c::UpdatePortable;
}

}  // namespace

#if defined(__x86_64__)
// libgcc asks the operating system (XCR0) as well as CPUID.
bool crc32c::CpuHasSse42() { return __builtin_cpu_supports("sse4.2") != 0; }
bool crc32c::CpuHasVpclmul() {
  return CpuHasSse42() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("vpclmulqdq") != 0;
}
#endif

uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t before) {
  static const crc32c::UpdateFn update = ChooseUpdate();
  return ~update(~before, bytes.data(), bytes.size());
}

}  // namespace rshift
