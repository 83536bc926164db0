// When tensors are alive, read from a program's commands.
#ifndef RSHIFT_CODEGEN_MEMORY_LIFETIME_H_
#define RSHIFT_CODEGEN_MEMORY_LIFETIME_H_

#include <cstdint>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

// Inclusive command indices of a tensor's first and last use.
struct Lifetime {
  int64_t first = 0, last = 0;
  bool used = false;        // some command reads or writes it
  bool read_first = false;  // its first use is a read: it is an input, a constant or a view
};

// One per tensor, by the commands alone: inputs and outputs of the program are not prolonged.
std::vector<Lifetime> TensorLifetimes(const ProgramImage& image);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_MEMORY_LIFETIME_H_
