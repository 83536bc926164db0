// Layers with a state. LSTM and RNN over a sequence begin with zeros in every run and become one
// ONNX node for each direction; SVDF and the single step of RNN keep their state from run to run
// (variables.h).
#include "graph/onnx/recurrent.h"

#include <array>

#include "graph/tflite/integer_lstm.h"
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// --- LSTM. Gates are input, forget, cell, output in the file, input, output, forget, cell in ONNX.

constexpr int kInputGate = 0, kForgetGate = 1;
constexpr std::array<int, 4> kOnnxOrder = {0, 3, 1, 2};

// Where the inputs of one direction are; each has one for each gate behind the other, peepholes
// for input, forget and output.
struct LstmInputs {
  int weights, recurrence, peepholes, bias, projection, state;
  int normalization = -1;  // coefficients, where the operator can have them
};

struct Lstm {
  float cell_clip = 0;
  bool time_major = true;
};

// The gate's own tensor; without an input gate, whose place it takes where there is none, minus
// that of the forget gate: sigmoid(-x) = 1 - sigmoid(x).
template <typename Read>
std::string OfGate(OpWriter& op, int first, int gate, bool coupled, const Read& read) {
  if (gate != kInputGate || !coupled) return read(first + gate, gate);
  return op.Emit("Neg", {read(first + kForgetGate, kForgetGate)});
}

// Of all gates along the first dimension, behind one leading dimension of 1.
template <typename Read>
std::string OfGates(OpWriter& op, int first, bool coupled, const std::vector<int64_t>& shape,
                    const Read& read) {
  Names parts;
  for (const int gate : kOnnxOrder) parts.push_back(OfGate(op, first, gate, coupled, read));
  return op.Reshaped(op.Emit("Concat", parts, {{"axis", int64_t{0}}}), shape);
}

std::string Peepholes(OpWriter& op, const LstmInputs& at, bool coupled, int64_t hidden) {
  if (!op.HasInput(at.peepholes + 1)) return "";
  const auto read = [&](int i, int) { return op.Real(i); };
  Names parts = {OfGate(op, at.peepholes, kInputGate, coupled, read), op.Real(at.peepholes + 2),
                 op.Real(at.peepholes + 1)};
  return op.Reshaped(op.Emit("Concat", parts, {{"axis", int64_t{0}}}), {1, 3 * hidden});
}

void CheckLstm(const OpWriter& op, const LstmInputs& at, ActivationFunctionType function) {
  op.CheckSupported(function == ActivationFunctionType_TANH, "has the activation function ",
                    static_cast<int>(function), "; TANH is supported");
  op.CheckSupported(!op.HasInput(at.projection),
                    "has a projection behind its output, which is not supported; convert a layer "
                    "of its own for it");
  op.CheckSupported(at.normalization < 0 || !op.HasInput(at.normalization + kForgetGate),
                    "normalizes its gates, which is not supported");
  op.CheckSupported(op.In(at.state).is_variable(),
                    "begins with a state that is computed, which is not supported");
  op.Check(op.InRank(0) == 3 && op.InRank(at.weights + kForgetGate) == 2 &&
               op.InRank(at.recurrence + kForgetGate) == 2,
           "input and weights have the shapes ", ToString(op.InShape(0)), ", ",
           ToString(op.InShape(at.weights + kForgetGate)), " and ",
           ToString(op.InShape(at.recurrence + kForgetGate)), ", expected 3, 2 and 2 dimensions");
}

// One direction: [steps, batch, hidden], or [batch, steps, hidden].
std::string EmitLstm(OpWriter& op, const LstmInputs& at, const Lstm& lstm, bool backward) {
  const bool coupled = !op.HasInput(at.weights + kInputGate);
  const Shape x = op.InShape(0), r = op.InShape(at.recurrence + kForgetGate);
  const int64_t hidden = r[0];
  const auto real = [&](int i, int) { return op.Real(i); };
  const auto bias = [&](int i, int gate) { return op.Bias(i, 0, at.weights + gate); };
  const std::string zeros =
      op.Emit("ConstantOfShape", {op.IntList({1, 4 * hidden})});  // the recurrence's bias
  const std::string biases =
      op.Emit("Concat", {OfGates(op, at.bias, coupled, {1, 4 * hidden}, bias), zeros},
              {{"axis", int64_t{1}}});
  const std::string w = OfGates(op, at.weights, coupled, {1, 4 * hidden, x[2]}, real);
  const std::string recurrence = OfGates(op, at.recurrence, coupled, {1, 4 * hidden, r[1]}, real);
  const std::string y = op.EmitMany(
      "LSTM", {op.Real(0), w, recurrence, biases, "", "", "", Peepholes(op, at, coupled, hidden)},
      1,
      {{"hidden_size", hidden},
       {"layout", int64_t{lstm.time_major ? 0 : 1}},
       {"direction", backward ? "reverse" : "forward"},
       {kCellClip, lstm.cell_clip}})[0];
  return op.Reshaped(y, {x[0], x[1], hidden});
}

void TranslateSequenceLstm(OpWriter& op) {
  const auto* options = op.Options<UnidirectionalSequenceLSTMOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  const LstmInputs at{1, 5, 9, 12, 16, 18, 20};
  CheckLstm(op, at, options->fused_activation_function());
  op.CheckSupported(!options->diagonal_recurrent_tensors(),
                    "has diagonal recurrent weights, which are not supported");
  op.BeginWithZeros();
  const Lstm lstm{options->cell_clip(), options->time_major()};
  if (GiveIntegerLstm(op, lstm.cell_clip, lstm.time_major)) return;
  op.GiveReal(EmitLstm(op, at, lstm, false));
}

// Both directions read the input; their results are two, or one behind the other.
template <typename Emit>
void GiveBoth(OpWriter& op, bool merge, const Emit& emit) {
  op.BeginWithZeros();
  const std::string forward = emit(false);
  if (!merge) op.GiveReal(forward, 0);
  const std::string backward = emit(true);
  if (!merge) return op.GiveReal(backward, 1);
  op.GiveReal(op.Emit("Concat", {forward, backward}, {{"axis", int64_t{2}}}));
}

void TranslateBidirectionalLstm(OpWriter& op) {
  const auto* options = op.Options<BidirectionalSequenceLSTMOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  const LstmInputs at[] = {{1, 5, 9, 12, 16, 35}, {18, 22, 26, 29, 33, 37}};
  for (const LstmInputs& one : at) CheckLstm(op, one, options->fused_activation_function());
  op.CheckSupported(!op.HasInput(39), "has an auxiliary input, which is not supported");
  const Lstm lstm{options->cell_clip(), options->time_major()};
  GiveBoth(op, options->merge_outputs(),
           [&](bool backward) { return EmitLstm(op, at[backward ? 1 : 0], lstm, backward); });
}

// --- RNN

// The function as a list of attributes for ONNX's RNN.
OpAttributes RnnAttributes(const OpWriter& op, ActivationFunctionType function) {
  const bool tanh = function == ActivationFunctionType_TANH;
  op.CheckSupported(tanh || function == ActivationFunctionType_RELU, "has the activation function ",
                    static_cast<int>(function), "; TANH and RELU are supported");
  return {{"activations", std::vector<std::string>{tanh ? "Tanh" : "Relu"}}};
}

// Inputs from `first` on: weights, recurrent weights, bias.
std::string EmitRnn(OpWriter& op, int first, bool time_major, ActivationFunctionType function,
                    bool backward) {
  const Shape x = op.InShape(0), w = op.InShape(first);
  op.Check(x.size() == 3 && w.size() == 2, "input and weights have the shapes ", ToString(x),
           " and ", ToString(w), ", expected 3 and 2 dimensions");
  OpAttributes attributes = RnnAttributes(op, function);
  const int64_t hidden = w[0];
  attributes.emplace_back("hidden_size", hidden);
  attributes.emplace_back("layout", int64_t{time_major ? 0 : 1});
  attributes.emplace_back("direction", backward ? "reverse" : "forward");
  const std::string zeros = op.Emit("ConstantOfShape", {op.IntList({1, hidden})});
  const std::string bias = op.Emit("Concat", {op.Reshaped(op.Real(first + 2), {1, hidden}), zeros},
                                   {{"axis", int64_t{1}}});
  const std::string y = op.EmitMany("RNN",
                                    {op.Real(0), op.Reshaped(op.Real(first), {1, hidden, x[2]}),
                                     op.Reshaped(op.Real(first + 1), {1, hidden, hidden}), bias},
                                    1, attributes)[0];
  return op.Reshaped(y, {x[0], x[1], hidden});
}

void TranslateSequenceRnn(OpWriter& op) {
  const auto* options = op.Options<SequenceRNNOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  const std::string y =
      EmitRnn(op, 1, options->time_major(), options->fused_activation_function(), false);
  op.BeginWithZeros();
  op.GiveReal(y);
}

void TranslateBidirectionalRnn(OpWriter& op) {
  const auto* options = op.Options<BidirectionalSequenceRNNOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  op.CheckSupported(!op.HasInput(9), "has an auxiliary input, which is not supported");
  GiveBoth(op, options->merge_outputs(), [&](bool backward) {
    return EmitRnn(op, backward ? 5 : 1, options->time_major(),
                   options->fused_activation_function(), backward);
  });
}

// One step: inputs x, weights, recurrent weights, bias, state. The result is the next state.
void TranslateRnn(OpWriter& op) {
  const auto* options = op.Options<RNNOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  const ActivationFunctionType function = options->fused_activation_function();
  const std::string x =
      op.Emit("Gemm", {op.Real(0), op.Real(1), op.Real(3)}, {{"transB", int64_t{1}}});
  const std::string h = op.Emit("Gemm", {op.State(4), op.Real(2)}, {{"transB", int64_t{1}}});
  const std::string y = op.Activated(op.Emit("Add", {x, h}), function);
  op.GiveState(4, y);
  op.GiveReal(op.Emit("Identity", {y}));
}

// --- SVDF: each filter of the features is remembered for some runs, and weighted over them.

// Inputs: x [batch, size], weights of the features [filters, size], of time [filters, memory], a
// bias [units], the state [batch, filters * memory]; filters = units * rank.
void TranslateSvdf(OpWriter& op) {
  const auto* options = op.Options<SVDFOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  op.Check(op.InRank(0) == 2 && op.InRank(1) == 2 && op.InRank(2) == 2, "inputs have the shapes ",
           ToString(op.InShape(0)), ", ", ToString(op.InShape(1)), " and ", ToString(op.InShape(2)),
           ", expected 2 dimensions each");
  const int64_t batch = op.InShape(0)[0], filters = op.InShape(2)[0], memory = op.InShape(2)[1];
  const int64_t rank = options->rank();
  op.Check(rank > 0 && filters % rank == 0, "has ", filters, " filters of rank ", rank);
  const std::string features = op.Emit("Gemm", {op.Real(0), op.Real(1)}, {{"transB", int64_t{1}}});
  const std::string newest = op.Reshaped(features, {batch, filters, 1});
  const std::string held = op.Reshaped(op.State(4), {batch, filters, memory});
  const std::string older =
      op.Emit("Slice", {held, op.IntList({1}), op.IntList({memory}), op.IntList({2})});
  const std::string all = op.Emit("Concat", {older, newest}, {{"axis", int64_t{2}}});
  op.GiveState(4, op.Reshaped(all, {batch, filters * memory}));
  const std::string weighted = op.Emit("Mul", {all, op.Real(2)});
  const std::string sums = op.Emit(
      "ReduceSum", {op.Reshaped(weighted, {batch, filters / rank, rank * memory}), op.IntList({2})},
      {{"keepdims", int64_t{0}}});
  const std::string y = op.HasInput(3) ? op.Emit("Add", {sums, op.Bias(3, 4, 2)}) : sums;
  op.GiveReal(op.Activated(y, options->fused_activation_function()));
}

constexpr Entry kRecurrentEntries[] = {
    {BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM, TranslateSequenceLstm},
    {BuiltinOperator_BIDIRECTIONAL_SEQUENCE_LSTM, TranslateBidirectionalLstm},
    {BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_RNN, TranslateSequenceRnn},
    {BuiltinOperator_BIDIRECTIONAL_SEQUENCE_RNN, TranslateBidirectionalRnn},
    {BuiltinOperator_RNN, TranslateRnn},
    {BuiltinOperator_SVDF, TranslateSvdf},
};

}  // namespace

std::span<const Entry> RecurrentEntries() { return kRecurrentEntries; }

}  // namespace rshift::tflite
