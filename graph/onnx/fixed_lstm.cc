// An LSTM of a .tflite file that is integers throughout (graph/tflite/integer_lstm.h): unrolled
// into integer products and cells, which every program computes alike. NUMERICS.md section 31.
#include <algorithm>

#include "graph/onnx/dynamic_product.h"
#include "graph/onnx/expr.h"
#include "graph/onnx/recurrent.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

enum LstmInput { kLstmX, kLstmW, kLstmR, kLstmBias };

// What all steps share.
struct FixedLayer {
  OnnxNode& node;
  int64_t batch = 0, hidden = 0;
  FixedGates gates;
  QFixedLstmCell cell;
  QFixedGatedOutput output;
  QuantParams result;
};

QuantParams ParamsOf(const OnnxNode& node, const char* scale, const char* zero) {
  return {node.Float(scale, 1), static_cast<int32_t>(node.Int(zero, 0))};
}

// s32 products of the rows of x, whose zero point this is, with weights [columns, K].
ValueId StepProduct(OnnxNode& node, const Expr& x, int32_t zero, ValueId weights, int64_t columns) {
  const std::vector<float> numbers = {1.0f, static_cast<float>(zero)};
  Value record;
  record.shape = {2};
  record.constant = MakeConstant(std::span<const float>(numbers));
  Shape shape = x.shape();
  shape.back() = columns;
  return node.Emit(DynamicMatMul{}, {x.id(), weights, node.Add(std::move(record))}, DType::kS32,
                   shape);
}

// Weights [columns, K] as the products read them.
ValueId StepWeights(OnnxNode& node, int input, const Shape& expected) {
  const Expr w = In(node, input);
  node.Check(w.type() == DType::kS8 && w.shape() == expected, "weights have the shape ",
             ToString(w.shape()), ", expected ", ToString(expected));
  const auto made = ReadDynamicWeights(node, Swapped(w).id(), ValueId(), 1);
  node.CheckSupported(made.has_value(), "has weights whose products leave 32 bits");
  return made->bytes;
}

ValueId WithQuant(OnnxNode& node, ValueId id, const QuantParams& params) {
  node.SetQuant(id, params);
  return id;
}

// The bytes of each step, [batch, hidden].
std::vector<Expr> RunSteps(FixedLayer layer, const Expr& x, ValueId w, ValueId r) {
  OnnxNode& node = layer.node;
  const int64_t columns = static_cast<int64_t>(layer.gates.gate_biases.size());
  const ValueId first =
      StepProduct(node, x, ParamsOf(node, "x_scale", "x_zero").zero_point, w, columns);
  const auto state_zero = static_cast<int32_t>(node.Int("state_zero", 0));
  const QuantParams cell_params = {1.0f / static_cast<float>(1 << layer.cell.state_bits), 0};
  const Shape shape = {layer.batch, layer.hidden};
  layer.cell.gates = layer.output.gates = layer.gates;
  std::vector<Expr> outputs;
  ValueId second, c;  // none before the first step: zeros
  for (int64_t step = 0; step < x.dim(0); ++step) {
    layer.cell.row = layer.output.row = step * layer.batch;
    c = WithQuant(node, node.Emit(layer.cell, {first, second, c}, DType::kS16, shape), cell_params);
    const ValueId h = WithQuant(
        node, node.Emit(layer.output, {c, first, second}, DType::kS8, shape), layer.result);
    outputs.emplace_back(node, h);
    if (step + 1 < x.dim(0)) second = StepProduct(node, outputs.back(), state_zero, r, columns);
  }
  return outputs;
}

FixedGates GatesOf(const OnnxNode& node) {
  FixedGates gates{node.Floats("first_scales"), node.Floats("second_scales"), {}};
  for (const int64_t bias : node.ConstantInts(kLstmBias, "biases"))
    gates.gate_biases.push_back(static_cast<int32_t>(bias));
  return gates;
}

void ImportIntegerLstm(OnnxNode& node) {
  Expr x = In(node, kLstmX);
  node.Check(x.rank() == 3 && x.type() == DType::kS8, "input has the shape ", ToString(x.shape()),
             ", expected three dimensions of s8: steps, batch and size");
  const bool batch_first = node.Int("time_major", 0) == 0;
  node.SetQuant(x.id(), ParamsOf(node, "x_scale", "x_zero"));
  if (batch_first) x = Transposed(x, {1, 0, 2});
  node.CheckSupported(x.dim(0) >= 1 && x.dim(0) <= kMostSteps, "has ", x.dim(0),
                      " steps, which are unrolled; expected 1 to ", kMostSteps,
                      ": run the model on shorter pieces");
  FixedLayer layer{node, x.dim(1), In(node, kLstmR).dim(1), GatesOf(node), {}, {}, {}};
  const int64_t columns = static_cast<int64_t>(layer.gates.first_scales.size()) * layer.hidden;
  node.Check(static_cast<int64_t>(layer.gates.gate_biases.size()) == columns, "has ",
             layer.gates.gate_biases.size(), " biases, expected ", columns);
  const ValueId w = StepWeights(node, kLstmW, {columns, x.dim(2)});
  const ValueId r = StepWeights(node, kLstmR, {columns, layer.hidden});
  layer.result = ParamsOf(node, "y_scale", "y_zero");
  layer.cell.state_bits = layer.output.state_bits =
      static_cast<int32_t>(node.Int("state_bits", 15));
  const auto clip = static_cast<int32_t>(node.Int("clip", 0));
  layer.cell.clamp = clip > 0 ? ClampQ{-clip, clip} : ClampQ{-32768, 32767};
  layer.output.clamp = {-128, 127};
  layer.output.output_scale = node.Float("output_scale", 0);
  const QuantParams result = layer.result;
  Give(Stacked(RunSteps(std::move(layer), x, w, r), batch_first ? 1 : 0));
  node.SetOutputQuant(result);
}

constexpr ImportEntry kFixedLstmImports[] = {
    {"tflite:IntegerLstm", ImportIntegerLstm},
};

}  // namespace

std::span<const ImportEntry> FixedLstmImports() { return kFixedLstmImports; }

}  // namespace rshift
