// Cells of LSTM and GRU in integers. Float ones are formulas: graph/onnx/recurrent.h.
#ifndef RSHIFT_GRAPH_OPS_RECURRENT_H_
#define RSHIFT_GRAPH_OPS_RECURRENT_H_

#include <cstdint>
#include <vector>

#include "isa/ops/recurrent.h"

namespace rshift {

// s32 factors of the columns of the first product, then of the second; s64 offsets; the table of
// tanh. Each empty where there is no need of it.
struct GateNumbers {
  std::vector<int32_t> gate_factors;
  std::vector<int64_t> gate_offsets;
  std::vector<int32_t> tanh;
};

// inputs: product of the layer's input, product of its state (optional), state s16 (optional).
struct QLstmCell : isa::LstmCell {
  GateNumbers numbers;
};
struct QGruCell : isa::GruCell {
  GateNumbers numbers;
};

// inputs: state s16; both products, where there is a gate.
struct QGatedOutput : isa::GatedOutput {
  GateNumbers numbers;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_RECURRENT_H_
