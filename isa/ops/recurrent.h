// Cells of LSTM and GRU: quantize/numerics/recurrent.h has the arithmetic, of fixed ones
// quantize/numerics/fixed_lstm.h. Gates are s32 products of the layer's input and of its state,
// columns of one gate behind another; states are s16 of 2^-state_bits.
#ifndef RSHIFT_ISA_OPS_RECURRENT_H_
#define RSHIFT_ISA_OPS_RECURRENT_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

// What makes gates of the two products: s32 factors of the first and of the second, s64 offsets,
// one for each column, and the table of tanh.
constexpr void GateFields(auto& c, auto&& visit) {
  visit(OptionalConst(Field::kList), c.offsets);
  visit(OptionalConst(Field::kList2), c.factors);
  visit(OptionalConst(Field::kTable), c.table);
  visit(Int(Field::kOffset, 0, kMaxDim), c.row);
  visit(Int(Field::kRshift, 0, 32), c.rshift);
  visit(Int(Field::kRshift2, 0, 15), c.state_bits);
}

// c' = sigmoid(forget) c + sigmoid(input) tanh(cell).
struct LstmCell {
  RSHIFT_COMMAND(kLstmCell, "lstm_cell", kInteger,
                 "dst s16 [batch, H]: the next state from src3; gates: rows from offset on of src "
                 "s32 [..., 4 H] and src2 [batch, 4 H], columns input, forget, cell, output",
                 .buffers = BufferForm::kNone, .element_ns = 3)

  int64_t row = 0;
  int32_t rshift = 0, state_bits = 0;
  Tensor dst = 0, src = 0;
  Tensor src2 = kAbsent, src3 = kAbsent;  // without them 0
  Tensor offsets = kAbsent, factors = kAbsent, table = kAbsent;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Optional(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    GateFields(c, visit);
  }
};

// h' = (1 - sigmoid(update)) tanh(memory) + sigmoid(update) h. The product of the state that
// belongs to the memory gate is multiplied by sigmoid(reset) with `resets_product`.
struct GruCell {
  RSHIFT_COMMAND(kGruCell, "gru_cell", kInteger,
                 "dst s16 [batch, H]: the next state from src3; gates: rows from offset on of src "
                 "s32 [..., 3 H] and src2 [batch, 3 H], columns update, reset, memory; flags 1: "
                 "the reset gate multiplies src2's part, with the last H offsets",
                 .buffers = BufferForm::kNone, .element_ns = 3)

  int64_t row = 0;
  int32_t rshift = 0, state_bits = 0;
  bool resets_product = false;
  Tensor dst = 0, src = 0;
  Tensor src2 = kAbsent, src3 = kAbsent;
  Tensor offsets = kAbsent, factors = kAbsent, table = kAbsent;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Optional(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    GateFields(c, visit);
    visit(Flags(1), c.resets_product);
  }
};

// Numbers of a state, of its tanh, each times the sigmoid of a gate where there is one.
struct GatedOutput {
  RSHIFT_COMMAND(kGatedOutput, "gated_output", kInteger,
                 "dst s8/u8/s16 [batch, H]: src s16, flags 1: its tanh, times the sigmoid of gate "
                 "`mode` of src2 and src3 as in lstm_cell, where there is a src2",
                 .buffers = BufferForm::kNone, .element_ns = 2)

  int64_t row = 0;
  int32_t rshift = 0, state_bits = 0;
  int64_t gate = 0;
  bool tanh = false;
  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor src2 = kAbsent, src3 = kAbsent;
  Tensor offsets = kAbsent, factors = kAbsent, table = kAbsent;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Optional(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    GateFields(c, visit);
    visit(Int(Field::kMode, 0, 3), c.gate);
    visit(Flags(1), c.tanh);
    WordFields(Field::kMultiplier3, Field::kRshift3, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
  }
};

// What makes fixed-point gates of the two products: one s32 bias for each column, and for each gate
// the multiplier and rshift of the first product and those of the second.
constexpr void FixedGateFields(auto& c, auto&& visit) {
  visit(Const(Field::kList), c.biases);
  visit(Const(Field::kList2), c.gate_words);
  visit(Int(Field::kOffset, 0, kMaxDim), c.row);
}

// An LSTM's next state with gates in 16-bit fixed point.
struct FixedLstmCell {
  RSHIFT_COMMAND(kFixedLstmCell, "fixed_lstm_cell", kInteger,
                 "dst s16 [batch, H]: as lstm_cell, of gates in Q3.12 with functions in Q0.15; "
                 "columns input, forget, cell, output, or the last three, whose input gate is 1 - "
                 "forget",
                 .buffers = BufferForm::kNone, .element_ns = 6)

  int64_t row = 0;
  int32_t state_bits = 9;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor src2 = kAbsent, src3 = kAbsent;  // without them 0
  Tensor biases = 0, gate_words = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Optional(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    FixedGateFields(c, visit);
    visit(Int(Field::kRshift2, 9, 15), c.state_bits);
    ClampFieldsS16(c.clamp, visit);
  }
};

// The tanh of such a state times the sigmoid of the last gate.
struct FixedGatedOutput {
  RSHIFT_COMMAND(kFixedGatedOutput, "fixed_gated_output", kInteger,
                 "dst s8/u8 [batch, H]: the tanh of src s16 times the sigmoid of the last gate of "
                 "src2 and src3 as in fixed_lstm_cell",
                 .buffers = BufferForm::kNone, .element_ns = 4)

  int64_t row = 0;
  int32_t state_bits = 9;
  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor src3 = kAbsent;
  Tensor biases = 0, gate_words = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    FixedGateFields(c, visit);
    visit(Int(Field::kRshift2, 9, 15), c.state_bits);
    WordFields(Field::kMultiplier3, Field::kRshift3, c.words, visit);
    ClampFields(c.clamp, visit);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_RECURRENT_H_
