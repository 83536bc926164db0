// Outputs of a run as a caller wants them: those whose size depends on the data are cut to what
// counts (codegen/container/output_cuts.h).
#ifndef RSHIFT_RUNTIME_OUTPUTS_H_
#define RSHIFT_RUNTIME_OUTPUTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/shape.h"
#include "runtime/runtime.h"

namespace rshift {

// As the tensor's, in memory order, with one dimension shorter where the output is cut.
Shape OutputShape(const Program& program, const Session& session, int index);
// The bytes of those elements: Session::Output, or a part of it.
std::vector<std::byte> OutputBytes(const Program& program, const Session& session, int index);
// Throws kInvalidInput, naming program and command, when the last run came upon something that has
// no answer (Session::Fault). `sample`: what it ran on, where it is known.
void RequireNoFault(const Program& program, const Session& session, const std::string& sample = {});

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_OUTPUTS_H_
