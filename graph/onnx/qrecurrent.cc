// com.microsoft:DynamicQuantizeLSTM: an LSTM on weights of 8 bits whose input and state are
// quantized while it runs. NUMERICS.md section 21.
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
  lstm.set_input(0, NameOf(QuantizedDynamically(FloatIn(node, 0))));
  lstm.set_input(1, NameOf(Weights(node, 1, 8, 9)));
  lstm.set_input(2, NameOf(Weights(node, 2, 10, 11)));
  *lstm.add_attribute() = IntAttribute(kQuantizesState, 1);
  ImportOneNode(lstm, node.state());
}

constexpr ImportEntry kImports[] = {
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

std::span<const ImportEntry> QuantizedRecurrentImports() { return kImports; }

}  // namespace rshift
