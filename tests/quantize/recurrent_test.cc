// LSTM and GRU cells: which graphs become cells, and how far their integers are from the float
// graph.
#include "quantize/ops/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

struct Size {
  int64_t steps = 4, batch = 2, inputs = 5, hidden = 6;
};

// Float graphs as graph/onnx/recurrent.cc unrolls them.
struct Builder {
  LittleGraph little;
  Size size;
  int names = 0;

  Builder(uint32_t seed, const Size& s) : little(seed), size(s) {}
  std::string Name() { return "v" + std::to_string(names++); }
  Shape State() const { return {size.batch, size.hidden}; }
  ValueId Apply(Op op, std::vector<ValueId> in, Shape shape) {
    return little.Add(Name(), std::move(op), std::move(in), std::move(shape));
  }
  ValueId Binary2(BinaryOp op, ValueId a, ValueId b) {
    return Apply(Binary{op, {}}, {a, b}, State());
  }
  ValueId Times(ValueId a, ValueId b) { return Binary2(BinaryOp::kMul, a, b); }
  ValueId Plus(ValueId a, ValueId b) { return Binary2(BinaryOp::kAdd, a, b); }
  ValueId Sigmoid(ValueId a) { return Apply(Unary{UnaryOp::kSigmoid, 0, 0}, {a}, State()); }
  ValueId Tanh(ValueId a) { return Apply(Unary{UnaryOp::kTanh, 0, 0}, {a}, State()); }
  ValueId Weights(int64_t k, int64_t n) {
    return little.RandomConstant(Name(), {k, n}, -0.7f, 0.7f);
  }
  ValueId Columns(ValueId x, int64_t from, int64_t count) {
    return Apply(Slice{{0, from}, {1, 1}}, {x}, {size.batch, count});
  }
  ValueId Gate(ValueId x, int64_t i) { return Columns(x, i * size.hidden, size.hidden); }
  // Rows of all steps' products, [steps, batch, n].
  ValueId Step(ValueId all, int64_t at, int64_t n) {
    const ValueId one = Apply(Slice{{at, 0, 0}, {1, 1, 1}}, {all}, {1, size.batch, n});
    return Apply(Reshape{}, {one}, {size.batch, n});
  }
  ValueId AllInputs(ValueId x, int64_t gates) {
    const int64_t n = gates * size.hidden;
    const ValueId bias = little.RandomConstant(Name(), {n}, -0.5f, 0.5f);
    return Apply(MatMul{}, {x, Weights(size.inputs, n), bias}, {size.steps, size.batch, n});
  }
  void GiveOutputs(const std::vector<ValueId>& h) {
    std::vector<ValueId> rows;
    for (const ValueId id : h) rows.push_back(Apply(Reshape{}, {id}, {1, size.batch, size.hidden}));
    little.Output(little.Add("y", Concat{0}, rows, {size.steps, size.batch, size.hidden}));
  }
};

Builder Lstm(uint32_t seed, const Size& size, bool with_state) {
  Builder b(seed, size);
  const ValueId x = b.little.Input("x", {size.steps, size.batch, size.inputs}, -2, 2);
  const ValueId all = b.AllInputs(x, 4), r = b.Weights(size.hidden, 4 * size.hidden);
  ValueId h, c;
  if (with_state) {
    h = b.little.Input("h0", b.State());
    c = b.little.Input("c0", b.State(), -2, 2);
  }
  std::vector<ValueId> outputs;
  for (int64_t i = 0; i < size.steps; ++i) {
    const Shape wide = {size.batch, 4 * size.hidden};
    ValueId gates = b.Step(all, i, 4 * size.hidden);
    if (h.valid())
      gates = b.Apply(Binary{BinaryOp::kAdd, {}}, {gates, b.Apply(MatMul{}, {h, r}, wide)}, wide);
    const ValueId fresh = b.Times(b.Sigmoid(b.Gate(gates, 0)), b.Tanh(b.Gate(gates, 3)));
    const ValueId kept = c.valid() ? b.Times(b.Sigmoid(b.Gate(gates, 2)), c) : c;
    c = kept.valid() ? b.Plus(fresh, kept) : fresh;
    h = b.Times(b.Sigmoid(b.Gate(gates, 1)), b.Tanh(c));
    outputs.push_back(h);
  }
  b.GiveOutputs(outputs);
  b.little.Output(b.little.Add("c", Reshape{}, {c}, {1, size.batch, size.hidden}));
  return b;
}

// linear: the reset gate multiplies the product of the state, not the state.
Builder Gru(uint32_t seed, const Size& size, bool linear, bool with_state) {
  Builder b(seed, size);
  const ValueId x = b.little.Input("x", {size.steps, size.batch, size.inputs}, -2, 2);
  const ValueId all = b.AllInputs(x, 3), r = b.Weights(size.hidden, 2 * size.hidden);
  const ValueId rn = b.Weights(size.hidden, size.hidden);
  const ValueId bias = b.little.RandomConstant(b.Name(), {size.hidden}, -0.5f, 0.5f);
  const ValueId one = b.little.Constant(b.Name(), {}, {1.0f});
  ValueId h;
  if (with_state) h = b.little.Input("h0", b.State());
  std::vector<ValueId> outputs;
  for (int64_t i = 0; i < size.steps; ++i) {
    const Shape wide = {size.batch, 2 * size.hidden};
    const ValueId gates = b.Step(all, i, 3 * size.hidden);
    ValueId both = b.Columns(gates, 0, 2 * size.hidden);
    if (h.valid())
      both = b.Apply(Binary{BinaryOp::kAdd, {}}, {both, b.Apply(MatMul{}, {h, r}, wide)}, wide);
    const ValueId z = b.Sigmoid(b.Gate(both, 0)), reset = b.Sigmoid(b.Gate(both, 1));
    ValueId memory = b.Gate(gates, 2);
    if (linear && h.valid()) {
      memory = b.Plus(memory, b.Times(reset, b.Apply(MatMul{}, {h, rn, bias}, b.State())));
    } else if (linear) {
      memory = b.Plus(memory, b.Times(reset, bias));
    } else if (h.valid()) {
      memory = b.Plus(memory, b.Apply(MatMul{}, {b.Times(reset, h), rn, bias}, b.State()));
    }
    const ValueId fresh = b.Times(b.Binary2(BinaryOp::kSub, one, z), b.Tanh(memory));
    h = h.valid() ? b.Plus(fresh, b.Times(z, h)) : fresh;
    outputs.push_back(h);
  }
  b.GiveOutputs(outputs);
  return b;
}

// Decibels of an output over the samples of the calibration.
double Sqnr(const LittleGraph& little, const QuantizeResult& result, const std::string& name) {
  double signal = 0, noise = 0;
  const Value& y = result.graph.value(result.graph.FindValue(name));
  for (const Tensors& sample : little.samples()) {
    const Tensor exact = Execute(little.graph(), sample).at(name);
    const Tensor own = Execute(result.graph, sample).at(name);
    for (size_t i = 0; i < exact.data.size(); ++i) {
      const double real =
          y.quant ? static_cast<double>(y.quant->scale) * (own.data[i] - y.quant->zero_point)
                  : own.data[i];
      signal += exact.data[i] * exact.data[i];
      noise += (exact.data[i] - real) * (exact.data[i] - real);
    }
  }
  return 10 * std::log10(signal / noise);
}

TEST(RecurrentTest, AnLstmIsAProductACellAndAnOutputForEachStep) {
  uint32_t seed = 1;
  for (const QuantMode mode : kModes) {
    for (const bool with_state : {false, true}) {
      SCOPED_TRACE(seed);
      const Size size{5, seed % 2 == 0 ? 1 : 3, 7, 12};
      Builder b = Lstm(seed++, size, with_state);
      const QuantizeResult result =
          QuantizeGraph(b.little.graph(), b.little.Calibrate(), Mode(mode));
      EXPECT_EQ(Count<QLstmCell>(result.graph), 5);
      EXPECT_EQ(Count<QGatedOutput>(result.graph), 5);
      EXPECT_EQ(Count<DynamicMatMul>(result.graph), with_state ? 6 : 5);
      EXPECT_EQ(Count<Requantize>(result.graph), 0);
      EXPECT_EQ(Count<QTable>(result.graph), 0);
      EXPECT_GE(Sqnr(b.little, result, "y"), 33);
      EXPECT_GE(Sqnr(b.little, result, "c"), 35);
    }
  }
}

TEST(RecurrentTest, AGruKeepsItsStateIn16Bits) {
  uint32_t seed = 20;
  for (const QuantMode mode : kModes) {
    for (const bool linear : {false, true}) {
      for (const bool with_state : {false, true}) {
        SCOPED_TRACE(seed);
        Builder b = Gru(seed++, {6, 2, 7, 12}, linear, with_state);
        const QuantizeResult result =
            QuantizeGraph(b.little.graph(), b.little.Calibrate(), Mode(mode));
        EXPECT_EQ(Count<QGruCell>(result.graph), 6);
        EXPECT_EQ(Count<QTable>(result.graph), 0);
        EXPECT_EQ(Count<isa::Mul>(result.graph), 0);
        EXPECT_GE(Sqnr(b.little, result, "y"), 35);
      }
    }
  }
}

QuantizeOptions Wide(QuantMode mode) {
  QuantizeOptions options = Mode(mode);
  options.activation_bits = 16;
  return options;
}

// What goes in and out has 16 bits: weights of 8 are what is lost.
TEST(RecurrentTest, CellsReadAndMakeSixteenBits) {
  uint32_t seed = 40;
  for (const QuantMode mode : kModes) {
    for (const bool with_state : {false, true}) {
      for (const int kind : {0, 1, 2}) {
        SCOPED_TRACE(seed);
        const Size size{5, 2, 7, 12};
        Builder b =
            kind == 0 ? Lstm(seed++, size, with_state) : Gru(seed++, size, kind == 1, with_state);
        const QuantizeResult result =
            QuantizeGraph(b.little.graph(), b.little.Calibrate(), Wide(mode));
        EXPECT_EQ(Count<QLstmCell>(result.graph) + Count<QGruCell>(result.graph), 5);
        EXPECT_EQ(Count<DynamicMatMul>(result.graph), 0);
        EXPECT_GE(Count<QMatMulS16>(result.graph), with_state ? 6 : 5);
        EXPECT_EQ(Count<isa::RequantizeS16>(result.graph), 0);
        // A GRU's outputs are its states, which leave in f32.
        EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).dtype,
                  kind == 0 ? DType::kS16 : DType::kF32);
        EXPECT_GE(Sqnr(b.little, result, "y"), 41);
      }
    }
  }
}

// 700 rows of the largest weights are beyond 32 bits of s16.
TEST(RecurrentTest, WeightsOfWideSumsGetLargerScales) {
  const Size size{3, 1, 700, 6};
  Builder b = Lstm(60, size, false);
  Graph graph = b.little.graph();
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<MatMul>(node.op) || graph.value(node.inputs[1]).shape[0] != 700)
      continue;
    Value& w = graph.value(node.inputs[1]);
    const std::vector<float> numbers(static_cast<size_t>(NumElements(w.shape)), 0.01f);
    w.constant = MakeConstant(std::span<const float>(numbers));
  }
  const QuantizeResult result =
      QuantizeGraph(graph, b.little.Calibrate(), Wide(QuantMode::kSymmetric));
  for (const Node& node : result.graph.nodes()) {
    if (!std::holds_alternative<QMatMulS16>(node.op)) continue;
    const Value& w = result.graph.value(node.inputs[1]);
    const auto bytes = w.constant->As<int8_t>();
    for (int64_t column = 0; column < w.shape[1]; ++column) {
      int64_t sum = 0;
      for (int64_t k = 0; k < w.shape[0]; ++k)
        sum += std::abs(bytes[static_cast<size_t>(k * w.shape[1] + column)]);
      EXPECT_LE(sum, 65535);
      if (w.shape[0] == 700) {
        EXPECT_GT(sum, 30000);
      }
    }
  }
}

// Another reader of a gate, a clamp, a state that is no state: the nodes stay what they are.
TEST(RecurrentTest, NearMissesAreNoCells) {
  const auto cells = [](const LittleGraph& little) {
    QuantizationPlan plan;
    plan.forms.assign(little.graph().nodes().size(), NodeForm::kInteger);
    return FindRecurrentCells(little.graph(), plan, Mode(QuantMode::kSymmetric)).cells.size();
  };
  Builder b = Lstm(50, {}, true);
  EXPECT_EQ(cells(b.little), 4u);
  Graph graph = b.little.graph();
  QuantizationPlan plan;
  plan.forms.assign(graph.nodes().size(), NodeForm::kInteger);
  const auto count = [&](const Graph& g) {
    return FindRecurrentCells(g, plan, Mode(QuantMode::kSymmetric)).cells.size();
  };
  for (size_t n = 0; n < graph.nodes().size(); ++n) {  // the output of the second step clamped
    Graph clamped = graph;
    auto* binary = std::get_if<Binary>(&clamped.nodes()[n].op);
    if (binary == nullptr || binary->op != BinaryOp::kAdd) continue;
    if (clamped.value(clamped.nodes()[n].outputs[0]).shape.back() != 6) continue;
    binary->clamp.hi = 0.5f;
    EXPECT_EQ(count(clamped), 3u);
  }
  for (size_t n = 0; n < graph.nodes().size(); ++n) {  // a node in F32
    if (!std::holds_alternative<Unary>(graph.nodes()[n].op)) continue;
    plan.forms[n] = NodeForm::kFloat;
    EXPECT_EQ(count(graph), 3u) << n;
    plan.forms[n] = NodeForm::kInteger;
  }
  QuantizeOptions other = Mode(QuantMode::kSymmetric);
  other.profile.id = ProfileId::kOnnxRuntime;
  EXPECT_EQ(FindRecurrentCells(graph, plan, other).cells.size(), 0u);
}

// The state of a longer run in pieces is that of the run: what leaves comes back as it was.
TEST(RecurrentTest, CarriedStatesAreNotRoundedAgain) {
  Builder b = Lstm(70, {1, 2, 5, 6}, true);
  const CalibrationTable table = b.little.Calibrate();
  const QuantizeResult result =
      QuantizeGraph(b.little.graph(), table, Mode(QuantMode::kAsymmetric));
  Tensors sample = b.little.samples()[0];
  const Tensor c = Execute(result.graph, sample).at("c");
  sample["c0"] = {sample["c0"].shape, c.data};
  const Tensors again = Execute(result.graph, sample);
  const Value& state = result.graph.value(result.graph.FindValue("c0__s16"));
  for (size_t i = 0; i < c.data.size(); ++i) {
    const double units = again.at("c0__s16").data[i];
    EXPECT_EQ(units * static_cast<double>(state.quant->scale), c.data[i]);
  }
}

}  // namespace
}  // namespace rshift::test
