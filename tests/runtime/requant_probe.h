// The vector requantizers of the kernel units behind plain functions: they are compiled with flags
// of their own (requant_probe_*.cc), as the units are.
#ifndef RSHIFT_TESTS_RUNTIME_REQUANT_PROBE_H_
#define RSHIFT_TESTS_RUNTIME_REQUANT_PROBE_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift::testing {

inline constexpr int64_t kProbeChannels = 64;

// Accumulators of channels [0, 64) -> bytes, by the requantizer that WithRequantizer takes and its
// SaturatingPack.
void RequantAvx2(const RequantArgs& q, const int32_t* acc, uint8_t* y);
void RequantAvx512(const RequantArgs& q, const int32_t* acc, uint8_t* y);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_REQUANT_PROBE_H_
