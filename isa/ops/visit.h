// From a command to its struct, decoded once, by its opcode.
#ifndef RSHIFT_ISA_OPS_VISIT_H_
#define RSHIFT_ISA_OPS_VISIT_H_

#include "isa/ops/all.h"

namespace rshift::isa {

template <typename F, typename... Commands>
void VisitAmong(CommandList<Commands...>, const Command& command, const F& f) {
  static_cast<void>(
      ((command.opcode == Commands::kOpcode && (f(Read<Commands>(command)), true)) || ...));
}

// Calls f with the struct of the command: f takes every one of AllCommands, or the program does not
// compile. Does nothing for an opcode that does not exist.
template <typename F>
void Visit(const Command& command, const F& f) {
  VisitAmong(AllCommands(), command, f);
}

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_VISIT_H_
