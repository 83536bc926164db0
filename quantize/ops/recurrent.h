// Cells of LSTM and GRU in a float graph, however they came there: unrolled from ONNX's operators
// (graph/onnx/recurrent.cc) or written out by an exporter. Their gates are sums of products with
// constant weights; NUMERICS.md section 28 is what becomes of them.
#ifndef RSHIFT_QUANTIZE_OPS_RECURRENT_H_
#define RSHIFT_QUANTIZE_OPS_RECURRENT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/ops/recurrent.h"
#include "quantize/emitter.h"
#include "quantize/options.h"
#include "quantize/types.h"

namespace rshift {

// Rows of x, all its dimensions but the last one taken together, from `row` on.
struct GateSource {
  ValueId x;
  int64_t row = 0;
  friend bool operator==(const GateSource&, const GateSource&) = default;
};

// Of a product with constant weights [K, N], columns from `column` on.
struct GateProduct {
  GateSource source;
  ValueId weights;
  int64_t column = 0;
};

// What a gate's function is applied to.
struct GateSum {
  std::vector<GateProduct> products;
  std::vector<double> bias;  // one for each column
};

struct RecurrentCell {
  bool gru = false;
  // LSTM: input, forget, cell, output. GRU: update, reset, memory, and, where the reset gate
  // multiplies it, the recurrent part of the memory gate.
  std::vector<GateSum> gates;
  int64_t batch = 0, hidden = 0;
  GateSource first, second;  // of all products; second.x: invalid without
  ValueId old_state;         // invalid: zeros
  ValueId state;             // c of an LSTM, h of a GRU
  ValueId output;            // h
  bool resets_product = false;
  // sigmoid(reset) * h where the memory gate's product reads that instead of the second source;
  // else invalid.
  ValueId reset_state;
};

struct RecurrentCells {
  std::vector<RecurrentCell> cells;
  // Where what is written: by the node that makes the state, the output, the reset state.
  std::map<size_t, size_t> state_at, output_at, reset_at;
  // Nodes that nothing but cells reads.
  std::set<size_t> taken;
  // Nodes that move states to outputs of the model, which is done in f32.
  std::set<size_t> moved;
};

// All nodes of the cells.
std::set<size_t> NodesOf(const RecurrentCells& cells);

// In profile tpu, where all nodes of a cell are integer.
RecurrentCells FindRecurrentCells(const Graph& graph, const QuantizationPlan& plan,
                                  const QuantizeOptions& options);

// Gives the outputs of a layer's steps one range, and what only moves them; where none of them is
// fixed by the configuration.
void ShareRecurrentRanges(const Graph& graph, const RecurrentCells& cells,
                          const std::map<std::string, ValueRange>& fixed, RangeResult* result);

// Writes cells, states and what moves states from inputs and to outputs of the model. Both must
// outlive it.
class RecurrentEmitter {
 public:
  RecurrentEmitter(Emitter& emitter, const RecurrentCells& cells);
  // Whether the node is a cell's; writes what stands there.
  bool Emit(size_t n);
  // Before the emitter's Finish(): outputs of the model that hold states.
  void Finish();

 private:
  // s32 products of a cell's gates, and what makes gates of them.
  struct Products {
    ValueId first, second;  // second: invalid without
    int64_t row = 0;        // of the first
    int32_t rshift = 0;
    GateNumbers numbers;
  };
  // Of gates side by side, [K, gates * hidden].
  struct Weights {
    ValueId bytes;
    std::vector<float> scales;
  };

  void FindBits();
  // Columns of gates that are no product of the source are 0.
  Weights WeightsOf(const RecurrentCell& cell, const GateSource& source,
                    const std::vector<size_t>& gates);
  ValueId Record(int32_t zero_point);
  ValueId ProductOf(const RecurrentCell& cell, ValueId x, const Weights& weights);
  const Products& ProductsOf(size_t index);
  void MakeNumbers(const RecurrentCell& cell, const Weights& first, const Weights& second,
                   const Weights& reset, Products* products);
  ValueId ResetProduct(const RecurrentCell& cell, const Products& products);
  // The input of the model that a value was moved from; else invalid.
  ValueId InputOf(ValueId id) const;
  bool HoldsState(ValueId id) const;
  // The value in f32, moved anew from states and inputs of the model.
  ValueId FloatMoved(ValueId id);
  bool IsCarried(const RecurrentCell& cell, ValueId x) const;
  IntType TypeOf(const RecurrentCell& cell, ValueId x) const;
  ValueId BytesOf(const RecurrentCell& cell, ValueId x);
  // The old state, s16; invalid for zeros.
  ValueId StateOf(size_t index);
  void EmitState(size_t index);
  void EmitOutput(size_t index, ValueId y);

  Emitter& emitter_;
  const RecurrentCells& cells_;
  const std::vector<NodeId> producers_;
  std::vector<int32_t> bits_;                            // by cell
  std::map<size_t, Products> products_;                  // by cell
  std::map<std::vector<int64_t>, Weights> weights_;      // by what they are made of
  std::map<std::pair<ValueId, ValueId>, ValueId> made_;  // products, by x and weights
  std::map<int32_t, ValueId> records_;
  std::map<ValueId, ValueId> bytes_;  // by old value: of what comes from inputs of the model
  std::map<ValueId, ValueId> moved_;  // likewise, f32
  std::vector<int32_t> tanh_;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_RECURRENT_H_
