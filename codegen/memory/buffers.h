// Memory before it has a place: tensors belong to buffers, which the planner lays out.
#ifndef RSHIFT_CODEGEN_MEMORY_BUFFERS_H_
#define RSHIFT_CODEGEN_MEMORY_BUFFERS_H_

#include <cstdint>
#include <vector>

namespace rshift {

struct ArenaBuffer {
  int64_t size = 0;    // bytes
  bool input = false;  // of the program: filled before its first command
  bool output = false;
};

// Until buffers are placed, TensorRecord::offset counts from the start of the tensor's buffer.
struct BufferTable {
  std::vector<int32_t> of;  // per tensor; -1: a constant
  std::vector<ArenaBuffer> buffers;
};

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_MEMORY_BUFFERS_H_
