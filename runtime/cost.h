// How long a command takes on one thread, roughly: what decides how many threads are worth waking
// for it. Taken from the program alone, so that every run divides the work in the same way.
#ifndef RSHIFT_RUNTIME_COST_H_
#define RSHIFT_RUNTIME_COST_H_

#include <cstdint>

#include "codegen/container/image.h"

namespace rshift {

// Multiply-accumulates of a convolution or matrix product; 0 for other commands.
int64_t MacCount(const ProgramImage& image, const Command& command);
// Bytes a command reads and writes, each tensor once; of a second half (Field::kSamePass) only
// those that the command before it does not.
uint64_t BytesMoved(const ProgramImage& image, const Command& command);
// Nanoseconds on one thread of a recent x86 core; right within a factor of about three.
double EstimateNanoseconds(const ProgramImage& image, const Command& command);
// As many of `threads` as get at least `share_ns` of work each, at least 1; all of them when it is
// 0.
int WorthwhileThreads(double nanoseconds, int threads, double share_ns);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_COST_H_
