// The same program on parts of wider tensors: what a Concat without copies makes of it.
#ifndef RSHIFT_TESTS_RUNTIME_PART_PROGRAM_H_
#define RSHIFT_TESTS_RUNTIME_PART_PROGRAM_H_

#include <vector>

#include "codegen/container/strided_bytes.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {

struct PartProgram {
  ProgramBuilder builder;
  // One for each wide tensor, in the order of the outputs behind the program's own.
  struct Wide {
    Bytes before;       // what it holds before the program runs, over and over
    StridedBytes part;  // of its bytes: all others must stay
  };
  std::vector<Wide> wide;
};

// Every tensor that only part-capable fields name becomes a part of a tensor of its own with a few
// more columns on both sides; inputs and outputs are copied. None becomes one in a program whose
// tensors share bytes.
PartProgram AsParts(const ProgramBuilder& program);

// Runs it; the outputs of the program itself. Fails the test when bytes beside a part changed.
Bytes RunParts(const PartProgram& parts, const Program& built, const std::vector<Bytes>& inputs,
               const RunOptions& options);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_PART_PROGRAM_H_
