// The vector forms of requantization behind plain functions: they are compiled with flags of their
// own (requant_probe_*.cc), as the kernel units that use them are.
#ifndef RSHIFT_TESTS_RUNTIME_REQUANT_PROBE_H_
#define RSHIFT_TESTS_RUNTIME_REQUANT_PROBE_H_

#include <cstdint>

#include "runtime/kernels/kernels.h"

namespace rshift::testing {

inline constexpr int64_t kProbeChannels = 64;

// Accumulators of channels [0, 64) -> clamped values by the form that WithRequant takes.
void Requant256(const RequantArgs& q, const int32_t* acc, int32_t* y);
void Requant512(const RequantArgs& q, const int32_t* acc, int32_t* y);
// The same as bytes, 16 or 64 at a time.
void Narrow256(const RequantArgs& q, const int32_t* acc, uint8_t* y);
void Narrow512(const RequantArgs& q, const int32_t* acc, uint8_t* y);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_REQUANT_PROBE_H_
