// What the machine could do: the yardstick that a benchmark measures in its own process.
#ifndef RSHIFT_TOOLS_PEAK_H_
#define RSHIFT_TOOLS_PEAK_H_

#include "runtime/runtime.h"

namespace rshift {

// 2e-9 x integer multiply-accumulates per second of `threads` threads that do nothing but the dot
// products of `isa` on registers: the best of a few windows, about 0.1 s. 0 for an instruction set
// that states no peak (scalar).
double PeakGops(Isa isa, int threads);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PEAK_H_
