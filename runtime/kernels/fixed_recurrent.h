// Cells of an LSTM in 16-bit fixed point, by blocks of columns: quantize/numerics/fixed_lstm.h has
// the arithmetic. One body for all instruction sets, as recurrent.h; the same values everywhere.
#ifndef RSHIFT_RUNTIME_KERNELS_FIXED_RECURRENT_H_
#define RSHIFT_RUNTIME_KERNELS_FIXED_RECURRENT_H_

#include <cstdint>

#include "isa/attributes.h"
#include "runtime/kernels/normalize.h"
#include "runtime/runtime.h"

namespace rshift {

struct FixedCellArgs;

// Over at most kFixedCellBlock columns; t is aligned to 64 bytes and holds a block, whose numbers
// behind the columns may change.
inline constexpr int64_t kFixedCellBlock = 64;
struct FixedCellLoops {
  // numerics::FixedGate of both products, columns [at, at + n) of a gate.
  void (*gate)(const FixedCellArgs& args, int64_t gate, int64_t at, int64_t n, int32_t* t) noexcept;
  // numerics::fixed16::Logistic and Tanh of t, in place.
  void (*logistic)(int64_t n, int32_t* t) noexcept;
  void (*tanh)(int64_t n, int32_t integer_bits, int32_t* t) noexcept;
};
const FixedCellLoops& FixedCellLoopsFor(Isa isa);

// One row of a cell. Columns of gate g begin at g * hidden; gates: 4, or 3 without an input gate.
struct FixedCellArgs {
  const FixedCellLoops* loops = nullptr;
  const int32_t* a = nullptr;  // the products of the gates
  const int32_t* b = nullptr;  // null: there is no second one
  const int32_t* biases = nullptr;
  const int32_t* gate_words = nullptr;  // numerics::kWordsOfFixedGate of each gate
  const int16_t* state = nullptr;       // null: zeros
  int64_t hidden = 0, gates = 0;
  int32_t state_bits = 0;
  int16_t* next = nullptr;  // RunFixedLstmCell
  // RunFixedGatedOutput.
  RequantWords words;
  uint8_t* y = nullptr;
  OutputBounds bounds;  // of the next state, too
};

// Columns [begin, end) of the row, at most kFixedCellBlock.
using FixedCellFn = void (*)(const FixedCellArgs& args, int64_t begin, int64_t end) noexcept;
void RunFixedLstmCell(const FixedCellArgs& args, int64_t begin, int64_t end) noexcept;
void RunFixedGatedOutput(const FixedCellArgs& args, int64_t begin, int64_t end) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_FIXED_RECURRENT_H_
