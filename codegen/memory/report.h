// How full a program's arena is, read from its tensors and commands alone.
#ifndef RSHIFT_CODEGEN_MEMORY_REPORT_H_
#define RSHIFT_CODEGEN_MEMORY_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/container/image.h"
#include "codegen/memory/planner.h"

namespace rshift {

// One stretch of the arena for one stretch of the program; views of the same bytes are one block.
struct ArenaBlock {
  std::string name;  // of its first tensor
  uint64_t offset = 0;
  Buffer buffer;  // size in bytes, life in commands
};

struct MemoryReport {
  std::vector<ArenaBlock> blocks;    // by first command, then offset
  uint64_t arena = 0;                // bytes up to the end of the last tensor
  uint64_t slack = 0;                // readable bytes behind it: both are the program's arena_size
  uint64_t lower_bound = 0;          // no placement of these blocks needs less
  uint64_t constants = 0;            // bytes, in memory
  uint64_t constants_of_4_bits = 0;  // of them: half as many in the file
};

MemoryReport AnalyzeMemory(const ProgramImage& image);

// Text: the numbers, a map (addresses upwards, commands to the right) and the list of blocks.
std::string MemoryMap(const MemoryReport& report, int columns = 72, int rows = 24);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_MEMORY_REPORT_H_
