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

// Of a step whose gates are fixed point: what a unit of each product is in units of Q3.12, one
// number for each gate, and s32 biases of the columns in units of the first product.
struct FixedGates {
  std::vector<float> first_scales, second_scales;
  std::vector<int32_t> gate_biases;
};

// inputs as QLstmCell, QGatedOutput. Of a float graph as well: graph/onnx/fixed_lstm.cc.
struct QFixedLstmCell : isa::FixedLstmCell {
  FixedGates gates;
};
// A unit of the product of two numbers of Q0.15 in units of the result.
struct QFixedGatedOutput : isa::FixedGatedOutput {
  FixedGates gates;
  float output_scale = 0;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_RECURRENT_H_
