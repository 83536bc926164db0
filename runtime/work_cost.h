// What a command costs in time, as far as a limit needs it: from its opcode, form and counts alone,
// for any file, also one that no compiler of ours would write. cost.h is for the commands that ours
// writes, and divides them among threads.
#ifndef RSHIFT_RUNTIME_WORK_COST_H_
#define RSHIFT_RUNTIME_WORK_COST_H_

#include <cstdint>

#include "codegen/container/image.h"

namespace rshift {

// Nanoseconds of one thread with the best kernels, of a command with so many multiply-accumulates
// (those of filled tiles: PaddedMacs) and elements (RunWork); saturating.
uint64_t PredictNanoseconds(const ProgramImage& image, const Command& command, uint64_t macs,
                            uint64_t elements);
// Multiply-accumulates of a convolution or matrix product as its kernel computes them: of blocks of
// 4 channels in and 16 out. Those of other commands are `macs`. Saturating.
uint64_t PaddedMacs(const ProgramImage& image, const Command& command, uint64_t macs);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_WORK_COST_H_
