// When the tensors of a running program have their values.
#ifndef RSHIFT_PIPELINE_COMPLETE_TENSORS_H_
#define RSHIFT_PIPELINE_COMPLETE_TENSORS_H_

#include <cstdint>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

// When the arena tensors of a program are complete.
struct CompleteTensors {
  std::vector<int32_t> at_start;  // views (Reshape) of inputs; not the inputs themselves
  // For each command, those that are complete once it has run: its destination after its last write
  // (a Concat is written by several commands), and the views of those bytes, which no command
  // writes.
  std::vector<std::vector<int32_t>> after;
};
CompleteTensors CompletedTensors(const ProgramImage& image);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_COMPLETE_TENSORS_H_
