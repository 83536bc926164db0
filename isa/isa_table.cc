// The instruction table: what the structs of isa/ops say of themselves.
#include <algorithm>
#include <array>
#include <cstddef>

#include "isa/isa.h"
#include "isa/ops/all.h"

namespace rshift {
namespace {

template <typename... Commands>
constexpr std::array<OpSpec, sizeof...(Commands)> TableOf(isa::CommandList<Commands...>) {
  return {isa::SpecOf<Commands>()...};
}

constexpr auto kOps = TableOf(isa::AllCommands());

constexpr bool Ascending() {
  for (size_t i = 1; i < kOps.size(); ++i) {
    if (kOps[i - 1].opcode >= kOps[i].opcode) return false;
  }
  return true;
}
static_assert(Ascending(), "FindOp and ISA.md rely on ascending opcodes");

constexpr bool StateTheirCost() {
  return std::all_of(kOps.begin(), kOps.end(), [](const OpSpec& op) {
    const OpTraits& traits = op.traits;
    return traits.element_ns > 0 && (traits.macs != MacForm::kNone) == (traits.mac_ns > 0) &&
           (traits.buffers == BufferForm::kUnstated) == traits.broadcasts_constant;
  });
}
static_assert(StateTheirCost(), "a command of isa/ops states no .buffers, .element_ns or .mac_ns");

}  // namespace

std::span<const OpSpec> IsaTable() { return kOps; }

}  // namespace rshift
