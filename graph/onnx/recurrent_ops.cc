// The steps of LSTM, GRU and RNN.
#include "graph/onnx/qdynamic.h"
#include "graph/onnx/recurrent.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// a + b where b is zeros when there is none.
Expr Sum(const Expr& a, const std::optional<Expr>& b) { return b ? a + *b : a; }

// h * R^T, without its bias.
std::optional<Expr> Recurrent(const Direction& own, const std::optional<Expr>& h) {
  if (!h) return std::nullopt;
  if (own.bytes) return DynamicProduct(*h, *own.bytes);
  const bool quantizes = h->node().Int(kQuantizesState, 0) != 0;
  return Product(quantizes ? QuantizedDynamically(*h) : *h, own.recurrence);
}

// Gates i, o, f, c; peepholes i, o, f.
RecurrentState LstmStep(const Direction& own, const Expr& inputs, const RecurrentState& old) {
  const Expr gates = Sum(inputs, Recurrent(own, old.h));
  const auto gate = [&](int64_t i) { return Gate(gates, i, own.hidden); };
  const auto peek = [&](int64_t i, const std::optional<Expr>& c) -> std::optional<Expr> {
    if (!own.peepholes || !c) return std::nullopt;
    return Gate(*own.peepholes, i, own.hidden) * *c;
  };
  const GateFunction &f = own.functions[0], &g = own.functions[1];
  GateFunction h = own.functions[2];
  h.clip = 0.0f;  // gates are clipped, the cell is not: so does ONNX Runtime
  OnnxNode& node = inputs.node();
  const Expr input = f(Sum(gate(0), peek(0, old.c)));
  const bool coupled = node.Int("input_forget", 0) != 0;
  std::optional<Expr> kept;
  if (old.c) kept = (coupled ? 1.0 - input : f(Sum(gate(2), peek(2, old.c)))) * *old.c;
  Expr c = Sum(input * g(gate(3)), kept);
  const float bound = node.Float(kCellClip, 0.0f);
  // A first state is a product of a sigmoid and a tanh.
  if (bound > 0 && (kept || bound < 1)) c = Clipped(c, -bound, bound);
  const Expr output = f(Sum(gate(1), peek(1, c)));
  return {output * h(c), c};
}

// Gates z, r, h. The new memory reads r * h, or r * (h * R^T + bias) with linear_before_reset.
RecurrentState GruStep(const Direction& own, const Expr& inputs, const RecurrentState& old) {
  const int64_t n = own.hidden;
  OnnxNode& node = inputs.node();
  const GateFunction &f = own.functions[0], &g = own.functions[1];
  const auto bias = own.recurrence_bias;
  const auto bias_part = [&](int64_t from, int64_t to) -> std::optional<Expr> {
    return bias ? std::optional<Expr>(Part(*bias, 0, from * n, to * n)) : std::nullopt;
  };
  Expr both = Sum(Part(inputs, -1, 0, 2 * n), bias_part(0, 2));
  if (old.h) both = both + Product(*old.h, Part(own.recurrence, 1, 0, 2 * n));
  const Expr z = f(Gate(both, 0, n)), r = f(Gate(both, 1, n));
  const Expr memory = Part(own.recurrence, 1, 2 * n, 3 * n);
  Expr fresh = Gate(inputs, 2, n);
  if (node.Int("linear_before_reset", 0) != 0) {
    std::optional<Expr> linear = bias_part(2, 3);
    if (old.h) linear = Sum(Product(*old.h, memory), linear);
    if (linear) fresh = fresh + r * *linear;
  } else {
    fresh = Sum(fresh, bias_part(2, 3));
    if (old.h) fresh = fresh + Product(r * *old.h, memory);
  }
  const Expr h = (1.0 - z) * g(fresh);
  return {old.h ? h + z * *old.h : h, std::nullopt};
}

RecurrentState RnnStep(const Direction& own, const Expr& inputs, const RecurrentState& old) {
  return {own.functions[0](Sum(inputs, Recurrent(own, old.h))), std::nullopt};
}

void ImportLstm(OnnxNode& node) {
  ImportRecurrent(node, {4, true, true, {"Sigmoid", "Tanh", "Tanh"}, LstmStep});
}

void ImportGru(OnnxNode& node) {
  ImportRecurrent(node, {3, false, false, {"Sigmoid", "Tanh"}, GruStep});
}

void ImportRnn(OnnxNode& node) { ImportRecurrent(node, {1, false, true, {"Tanh"}, RnnStep}); }

constexpr ImportEntry kRecurrentImports[] = {
    {"LSTM", ImportLstm}, {"GRU", ImportGru}, {"RNN", ImportRnn}};

}  // namespace

std::span<const ImportEntry> RecurrentImports() { return kRecurrentImports; }

}  // namespace rshift
