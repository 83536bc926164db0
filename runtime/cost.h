// How long a command takes, roughly: what decides how many threads are worth waking for it. Taken
// from the program alone (its tensors and the constants of a machine it carries), so that every
// session begins with the same division of the work.
#ifndef RSHIFT_RUNTIME_COST_H_
#define RSHIFT_RUNTIME_COST_H_

#include <cstdint>
#include <vector>

#include "base/cost_model.h"
#include "codegen/container/image.h"

namespace rshift {

// What of a command takes time. Of a fused command (Field::kFuseWithPrevious): without the bytes
// that the command before it has in the nearest cache, those it works on in place.
struct Work {
  int64_t macs = 0;          // multiply-accumulates; 0 where there are none
  uint64_t constants = 0;    // bytes read of the program: weights, tables
  uint64_t bytes = 0;        // bytes of tensors in the arena read and written, each once
  int64_t requants = 0;      // accumulators that become bytes
  int64_t f32_elements = 0;  // F32 elements computed without a product

  uint64_t moved() const { return constants + bytes; }
};
Work WorkOf(const ProgramImage& image, const Command& command);

// Multiply-accumulates of a convolution or matrix product, saturating; 0 for other commands.
int64_t MacCount(const ProgramImage& image, const Command& command);
// Bytes of all constant tensors: which cache holds the weights from one run to the next.
uint64_t ConstantBytes(const ProgramImage& image);

// The constants recorded in the program; the defaults when there are none. Throws kCorrupt.
CostModel CostModelOf(const ProgramImage& image, const std::string& where);

// Nanoseconds of every command on one thread:
//   command + max(macs / rate of the kind, constants / speed(constants of the program) +
//                 bytes / speed(bytes)) + requants * requant + f32_elements * f32_element
// where speed(size) is that of the nearest of L2, L3 and memory that holds `size` bytes; without
// `command` for a fused command, whose pass has begun.
std::vector<double> EstimateNanoseconds(const ProgramImage& image, const CostModel& model);
// Of a command that takes `nanoseconds` on one thread, divided among `threads`.
double DividedNanoseconds(const CostModel& model, double nanoseconds, int threads);
// As many of `threads` as get at least `share_ns` of work each, at least 1; all of them when it is
// 0.
int WorthwhileThreads(double nanoseconds, int threads, double share_ns);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_COST_H_
