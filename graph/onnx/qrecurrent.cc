// com.microsoft:DynamicQuantizeLSTM: an LSTM on weights of 8 bits whose input and state are
// quantized while it runs. NUMERICS.md section 21.
#include <cmath>

#include "graph/onnx/body.h"
#include "graph/onnx/qdynamic.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Weights [directions, inputs, gates] of bytes as f32 [directions, gates, inputs]. Scale and zero
// point: one a direction, or one a direction and gate.
Expr Weights(OnnxNode& node, int weights, int scale, int zero) {
  const Expr q = In(node, weights);
  node.CheckSupported(q.is_constant(), "weights ", Quoted(q.value().name),
                      " are computed from the model's input, expected a constant");
  node.Check(q.rank() == 3, "weights ", Quoted(q.value().name), " have the shape ",
             ToString(q.shape()), ", expected 3 dimensions");
  const auto along = [&](int i) {
    const Expr parameter = CastTo(In(node, i), DType::kF32);
    const Shape own = parameter.shape();
    const bool each = own == Shape{q.dim(0), q.dim(2)};
    node.Check(each || own == Shape{q.dim(0)}, "input ", Quoted(parameter.value().name),
               " has the shape ", ToString(own), ", expected ", q.dim(0), " or ", q.dim(0), "x",
               q.dim(2));
    return Reshaped(parameter, {q.dim(0), 1, each ? q.dim(2) : 1});
  };
  return Transposed((CastTo(q, DType::kF32) - along(zero)) * along(scale), {0, 2, 1});
}

// Under the value's own name.
std::string NameOf(const Expr& x) {
  std::string name = x.value().name;
  x.node().state().values[name] = x.id();
  ++x.node().state().uses[name];
  return name;
}

void ImportDynamicQuantizeLstm(OnnxNode& node) {
  constexpr int kLstmInputs = 8;  // behind them scales and zero points
  onnx::NodeProto lstm = node.proto();
  lstm.clear_domain();
  lstm.set_op_type("LSTM");
  while (lstm.input_size() > kLstmInputs) lstm.mutable_input()->RemoveLast();
  const Expr w = Weights(node, 1, 8, 9), r = Weights(node, 2, 10, 11);
  for (const int i : {1, 8, 9, 2, 10, 11}) lstm.add_input(NameOf(In(node, i)));
  lstm.set_input(1, NameOf(w));
  lstm.set_input(2, NameOf(r));
  *lstm.add_attribute() = IntAttribute(kQuantizesState, 1);
  ImportOneNode(lstm, node.state());
}

constexpr ImportEntry kQuantizedRecurrentImports[] = {
    {"com.microsoft:DynamicQuantizeLSTM", ImportDynamicQuantizeLstm},
};

}  // namespace

Expr QuantizedDynamically(const Expr& x) {
  OnnxNode& node = x.node();
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.rank(); ++d) axes.push_back(static_cast<int64_t>(d));
  const Expr none = Number(node, 0.0), top = Number(node, 255.0);
  const Expr max = Max(Reduced(ReduceOp::kMax, x, axes), none);
  const Expr min = Min(Reduced(ReduceOp::kMin, x, axes), none);
  const Expr scale = Select(Equal(max, min), Number(node, 1.0), (max - min) / top);
  const Expr zero = Apply(UnaryOp::kRound, Clipped(none - min / scale, 0.0f, 255.0f));
  const Expr units = Apply(UnaryOp::kRound, x / scale);
  return (Clipped(units + zero, 0.0f, 255.0f) - zero) * scale;
}

std::optional<DynamicFactor> ReadDynamicFactor(OnnxNode& node, int input, int64_t direction) {
  const auto row = [&](int i) {
    const Expr all = In(node, i);
    const Shape shape = all.shape();
    return Reshaped(At(all, 0, direction), Shape(shape.begin() + 1, shape.end()));
  };
  const Expr bytes = row(input), scale = row(input + 1);
  if (bytes.rank() != 2 || !scale.is_constant()) return std::nullopt;
  const auto weights = ReadDynamicWeights(node, bytes.id(), row(input + 2).id(), 1);
  if (!weights) return std::nullopt;
  const auto own = scale.value().constant->As<float>();
  std::vector<float> scales(own.begin(), own.end());
  if (scales.size() == 1) scales.resize(static_cast<size_t>(bytes.dim(1)), scales[0]);
  for (const float s : scales) {
    if (!std::isfinite(s) || std::signbit(s)) return std::nullopt;
  }
  return DynamicFactor{*weights, std::move(scales)};
}

Expr DynamicProduct(const Expr& x, const DynamicFactor& w) {
  OnnxNode& node = x.node();
  const ValueId record = node.Emit(DynamicRange{}, {x.id()}, DType::kF32, {2});
  const ValueId q = node.Emit(DynamicQuantize{}, {x.id(), record}, DType::kU8, x.shape());
  DynamicMatMul op;
  op.scales = w.scales;
  op.zero_w = w.weights.zero_w;
  Shape shape = x.shape();
  shape.back() = static_cast<int64_t>(w.scales.size());
  return {node, node.Emit(op, {q, w.weights.bytes, record}, DType::kF32, shape)};
}

std::span<const ImportEntry> QuantizedRecurrentImports() { return kQuantizedRecurrentImports; }

}  // namespace rshift
