// The same program on views of wider tensors: what a Concat without copies makes of it.
#ifndef RSHIFT_TESTS_RUNTIME_VIEW_PROGRAM_H_
#define RSHIFT_TESTS_RUNTIME_VIEW_PROGRAM_H_

#include <vector>

#include "codegen/container/strided_bytes.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {

struct ViewProgram {
  ProgramBuilder builder;
  // One for each wide tensor, in the order of the outputs behind the program's own.
  struct Wide {
    Bytes before;       // what it holds before the program runs, over and over
    StridedBytes view;  // of its bytes: all others must stay
  };
  std::vector<Wide> wide;
};

// Every tensor that only view-capable fields name becomes a view of a tensor of its own with a few
// more columns on both sides; inputs and outputs are copied. None becomes one in a program whose
// tensors share bytes.
ViewProgram AsViews(const ProgramBuilder& program);

// Runs it; the outputs of the program itself. Fails the test when bytes beside a view changed.
Bytes RunViews(const ViewProgram& views, const Program& built, const std::vector<Bytes>& inputs,
               const RunOptions& options);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_VIEW_PROGRAM_H_
