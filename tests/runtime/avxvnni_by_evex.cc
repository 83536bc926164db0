// The AVX-VNNI unit with the same dot product in AVX512-VNNI's encoding, so that a CPU that has
// only that one tests it too. kAvxVnniKernels is called kAvxVnniByEvexKernels here.
#if defined(__x86_64__)
#include <immintrin.h>

#define _mm256_dpbusd_avx_epi32 _mm256_dpbusd_epi32
#define kAvxVnniKernels kAvxVnniByEvexKernels
#include "runtime/kernels/avxvnni/unit.cc"
#endif
