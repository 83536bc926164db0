#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "base/error.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

constexpr Isa kAll[] = {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot};

#if defined(__x86_64__)
// By CPUID, not __builtin_cpu_supports: clang 14 does not know these names. The state they need is
// AVX2's.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool HasAvxVnni() {  // leaf 7, subleaf 1
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1u << 4)) != 0;
}
#endif

}  // namespace

const char* Name(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvxVnni:
      return "avxvnni";
    case Isa::kAvx512Vnni:
      return "avx512vnni";
    case Isa::kNeonDot:
      return "neondot";
  }
  return "unknown";
}

Isa ParseIsa(const std::string& name) {
  for (const Isa isa : kAll) {
    if (name == Name(isa)) return isa;
  }
  Fail(ErrorCode::kInvalidInput, "instruction set '", name,
       "' is not known, expected scalar, avx2, avxvnni, avx512vnni or neondot");
}

bool CpuSupports(Isa isa) {
#if defined(__x86_64__)
  // libgcc asks the operating system (XCR0) as well as CPUID.
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c();
  switch (isa) {
    case Isa::kScalar:
      return true;
    case Isa::kAvx2:
      return has_avx2;
    case Isa::kAvxVnni:
      return has_avx2 && HasAvxVnni();
    case Isa::kAvx512Vnni:
      return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512vnni");
    case Isa::kNeonDot:
      return false;
  }
#elif defined(__aarch64__)
  if (isa == Isa::kNeonDot) return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#endif
  return isa == Isa::kScalar;
}

Isa BestIsa() {
  for (const Isa isa : {Isa::kNeonDot, Isa::kAvx512Vnni, Isa::kAvxVnni, Isa::kAvx2}) {
    if (CpuSupports(isa)) return isa;
  }
  return Isa::kScalar;
}

}  // namespace rshift
