// Cells of LSTM and GRU, by blocks of columns: quantize/numerics/recurrent.h has the arithmetic.
// One body for all instruction sets, as normalize.h; the same values everywhere.
#ifndef RSHIFT_RUNTIME_KERNELS_RECURRENT_H_
#define RSHIFT_RUNTIME_KERNELS_RECURRENT_H_

#include <cstdint>

#include "isa/attributes.h"
#include "runtime/kernels/int16.h"
#include "runtime/kernels/normalize.h"
#include "runtime/runtime.h"

namespace rshift {

struct CellArgs;

// The loops that take the time, over at most kCellBlock columns; t is aligned to 64 bytes and has
// room for a block.
inline constexpr int64_t kCellBlock = 64;
struct CellLoops {
  // numerics::GateSum of columns [at, at + n).
  void (*gate)(const CellArgs& args, int64_t at, int64_t n, int32_t most, int32_t* t) noexcept;
  // numerics::TableTanh of t, in place.
  void (*tanh)(const int32_t* table, int64_t n, int32_t* t) noexcept;
};
const CellLoops& CellLoopsFor(Isa isa);

// One row of a cell. Columns of gate g begin at g * hidden.
struct CellArgs {
  const CellLoops* loops = nullptr;
  const int32_t* a = nullptr;  // the products of the gates
  const int32_t* b = nullptr;  // null: there is no second one
  const int32_t* first_factors = nullptr;
  const int32_t* second_factors = nullptr;
  const int64_t* offsets = nullptr;
  const int32_t* table = nullptr;
  const int16_t* state = nullptr;  // null: zeros
  int64_t hidden = 0;
  int32_t rshift = 0, state_bits = 0;
  bool resets_product = false;  // RunGruCell
  int16_t* next = nullptr;      // RunLstmCell, RunGruCell
  // RunGatedOutput.
  bool gated = false, tanh = false;
  int64_t gate = 0;
  RequantWords words;
  OutputBounds bounds;
  void* y = nullptr;
  NarrowType y_type = NarrowType::kU8;
};

// Columns [begin, end) of the row, at most kCellBlock.
using CellFn = void (*)(const CellArgs& args, int64_t begin, int64_t end) noexcept;
void RunLstmCell(const CellArgs& args, int64_t begin, int64_t end) noexcept;
void RunGruCell(const CellArgs& args, int64_t begin, int64_t end) noexcept;
void RunGatedOutput(const CellArgs& args, int64_t begin, int64_t end) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_RECURRENT_H_
