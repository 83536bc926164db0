// Cells of LSTM and GRU.
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

// Steps of a layer have equal constants, which the file holds once.
template <typename C>
void LowerCell(LoweringContext& context, const Node& node, const C& op,
               const GateNumbers& numbers) {
  C command = Bound(context, node, op);
  if (!numbers.gate_factors.empty()) {
    command.factors = context.AddNumbers(node.name + ".factors", DType::kS32, numbers.gate_factors);
    command.offsets = context.AddNumbers(node.name + ".offsets", DType::kS64, numbers.gate_offsets);
  }
  if (!numbers.tanh.empty())
    command.table = context.AddNumbers(node.name + ".tanh", DType::kBytes, numbers.tanh);
  context.Emit(node, command);
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const QLstmCell& op) {
  LowerCell<isa::LstmCell>(context, node, op, op.numbers);
}

void Lower(LoweringContext& context, const Node& node, const QGruCell& op) {
  LowerCell<isa::GruCell>(context, node, op, op.numbers);
}

void Lower(LoweringContext& context, const Node& node, const QGatedOutput& op) {
  LowerCell<isa::GatedOutput>(context, node, op, op.numbers);
}

}  // namespace rshift::lowering
