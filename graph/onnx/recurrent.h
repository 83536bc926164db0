// LSTM, GRU and RNN, unrolled over their steps: what they have in common.
#ifndef RSHIFT_GRAPH_ONNX_RECURRENT_H_
#define RSHIFT_GRAPH_ONNX_RECURRENT_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/onnx/expr.h"
#include "graph/onnx/qdynamic.h"

namespace rshift {

// Steps of one node: each becomes some ten graph nodes for each direction.
inline constexpr int64_t kMostSteps = 1024;

// An attribute that ONNX does not have: bounds of an LSTM's cell state, 0 for none. Of a .tflite
// file.
inline constexpr char kCellClip[] = "rshift_cell_clip";

// An activation function of the node, behind its clip.
struct GateFunction {
  Expr (*formula)(const Expr& x, float alpha, float beta);
  float alpha, beta;
  float clip;  // 0: none
  Expr operator()(const Expr& x) const;
};

// Those of all directions: given, or `names`.
std::vector<GateFunction> ReadGateFunctions(OnnxNode& node, std::vector<std::string> names);

// What one direction computes with.
struct Direction {
  int64_t hidden;
  Expr recurrence;                      // R^T, [hidden, gates * hidden]
  std::optional<Expr> recurrence_bias;  // [gates * hidden], where it is not in the input's part
  std::optional<Expr> peepholes;        // [3 * hidden]
  std::vector<GateFunction> functions;
  std::optional<DynamicFactor> bytes;  // of R^T, where the state is quantized
};

// [batch, hidden] each; none: zeros.
struct RecurrentState {
  std::optional<Expr> h, c;
};

// One step: the input's part of the gates [batch, gates * hidden] and the state -> the new state.
using RecurrentStep = RecurrentState (*)(const Direction&, const Expr& gates,
                                         const RecurrentState&);

struct RecurrentKind {
  int64_t gates;
  bool has_cell;
  bool merges_bias;                    // the recurrence's bias is added to the input's
  std::vector<std::string> functions;  // default activations of one direction
  RecurrentStep step;
};

// Part i of gates that lie behind one another.
Expr Gate(const Expr& gates, int64_t i, int64_t hidden);

// Imports the node by running its step over all steps and directions.
void ImportRecurrent(OnnxNode& node, const RecurrentKind& kind);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_RECURRENT_H_
