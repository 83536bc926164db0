// Cells of LSTM and GRU.
#include "base/error.h"
#include "codegen/lowering/lowering.h"
#include "quantize/numerics/tflite_multiplier.h"

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

template <typename C>
C FixedCell(LoweringContext& context, const Node& node, const C& op, const FixedGates& gates) {
  C command = Bound(context, node, op);
  RSHIFT_REQUIRE(gates.first_scales.size() == gates.second_scales.size(), ErrorCode::kInternal,
                 node.name, ": its gates have ", gates.first_scales.size(), " and ",
                 gates.second_scales.size(), " scales; this is a bug in Rshift");
  std::vector<int32_t> words;
  for (size_t g = 0; g < gates.first_scales.size(); ++g) {
    for (const float scale : {gates.first_scales[g], gates.second_scales[g]}) {
      const RequantWords pair = numerics::TfLiteMultiplier(static_cast<double>(scale));
      words.insert(words.end(), {pair.multiplier, pair.rshift});
    }
  }
  command.biases = context.AddNumbers(node.name + ".biases", DType::kS32, gates.gate_biases);
  command.gate_words = context.AddNumbers(node.name + ".gate_words", DType::kS32, words);
  return command;
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

void Lower(LoweringContext& context, const Node& node, const QFixedLstmCell& op) {
  context.Emit(node, FixedCell<isa::FixedLstmCell>(context, node, op, op.gates));
}

void Lower(LoweringContext& context, const Node& node, const QFixedGatedOutput& op) {
  auto command = FixedCell<isa::FixedGatedOutput>(context, node, op, op.gates);
  command.words = numerics::TfLiteMultiplier(static_cast<double>(op.output_scale));
  context.Emit(node, command);
}

}  // namespace rshift::lowering
