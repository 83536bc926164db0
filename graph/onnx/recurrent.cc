#include "graph/onnx/recurrent.h"

#include <algorithm>

namespace rshift {
namespace {

enum Input { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

// What all directions share.
struct Layer {
  OnnxNode& node;
  const RecurrentKind& kind;
  Expr x;                       // [steps, batch, size]
  std::optional<Expr> lengths;  // [batch, 1], s64: steps that count
  int64_t hidden, directions;
  bool batch_first;
};

Expr Row(const Expr& x, int64_t i) {
  Shape shape = x.shape();
  shape.erase(shape.begin());
  return Reshaped(At(x, 0, i), shape);
}

std::optional<Expr> OptionalRow(const Layer& layer, int i, int64_t row, const Shape& expected) {
  if (!layer.node.HasInput(i)) return std::nullopt;
  const Expr rows = FloatIn(layer.node, i);
  layer.node.Check(rows.rank() >= 1 && rows.dim(0) == layer.directions, "input ",
                   Quoted(rows.value().name), " has the shape ", ToString(rows.shape()),
                   ", expected ", layer.directions, " as the first dimension (directions)");
  const Expr own = Row(rows, row);
  layer.node.Check(own.shape() == expected, "input ", Quoted(rows.value().name), " has the shape ",
                   ToString(rows.shape()), ", expected ", layer.directions, " times ",
                   ToString(expected));
  return own;
}

// The first state: [directions, batch, hidden], or [batch, directions, hidden] with layout 1.
std::optional<Expr> InitialState(const Layer& layer, int i, int64_t direction) {
  if (!layer.node.HasInput(i)) return std::nullopt;
  const int64_t batch = layer.x.dim(1);
  if (!layer.batch_first) return OptionalRow(layer, i, direction, {batch, layer.hidden});
  const Expr all = FloatIn(layer.node, i);
  layer.node.Check(all.shape() == Shape{batch, layer.directions, layer.hidden}, "input ",
                   Quoted(all.value().name), " has the shape ", ToString(all.shape()));
  return Reshaped(At(all, 1, direction), {batch, layer.hidden});
}

bool IsQuantized(const Layer& layer) { return layer.node.Int(kQuantizesState, 0) != 0; }

// x * W^T.
Expr InputProduct(const Layer& layer, int64_t direction) {
  const Expr w = Swapped(Row(FloatIn(layer.node, kW), direction));
  if (!IsQuantized(layer)) return Product(layer.x, w);
  const auto bytes = ReadDynamicFactor(layer.node, kInputBytes, direction);
  return bytes ? DynamicProduct(layer.x, *bytes) : Product(QuantizedDynamically(layer.x), w);
}

// The bias [input's, recurrence's], each gates * hidden; and the input's part of all gates.
Expr GateInputs(const Layer& layer, int64_t direction, Direction& own) {
  const int64_t width = layer.kind.gates * layer.hidden;
  const Expr product = InputProduct(layer, direction);
  const auto bias = OptionalRow(layer, kBias, direction, {2 * width});
  if (!bias) return product;
  const Expr input = Part(*bias, 0, 0, width), recurrence = Part(*bias, 0, width, 2 * width);
  if (layer.kind.merges_bias) return product + (input + recurrence);
  own.recurrence_bias = recurrence;
  return product + input;
}

Direction ReadDirection(const Layer& layer, int64_t direction) {
  const int64_t width = layer.kind.gates * layer.hidden;
  const auto r = OptionalRow(layer, kR, direction, {width, layer.hidden});
  layer.node.Check(r.has_value(), "input 2 (R) is missing");
  Direction own{layer.hidden, Swapped(*r), std::nullopt, std::nullopt, {}, std::nullopt};
  if (IsQuantized(layer)) own.bytes = ReadDynamicFactor(layer.node, kStateBytes, direction);
  if (layer.kind.has_cell) {
    own.peepholes = OptionalRow(layer, kPeepholes, direction, {3 * layer.hidden});
  }
  std::vector<std::string> names;
  for (int64_t d = 0; d < layer.directions; ++d) {
    names.insert(names.end(), layer.kind.functions.begin(), layer.kind.functions.end());
  }
  const std::vector<GateFunction> all = ReadGateFunctions(layer.node, names);
  const auto first = all.begin() + static_cast<int64_t>(direction * layer.kind.functions.size());
  own.functions.assign(first, first + static_cast<int64_t>(layer.kind.functions.size()));
  return own;
}

struct Run {
  std::vector<Expr> outputs;  // of each step, [batch, hidden]
  RecurrentState last;
};

// `fresh` where the step counts, else what was before (zeros without it).
Expr Kept(const std::optional<Expr>& counts, const Expr& fresh, const std::optional<Expr>& old) {
  if (!counts) return fresh;
  return Select(*counts, fresh, old ? *old : Number(fresh.node(), 0.0));
}

Run RunDirection(const Layer& layer, int64_t direction, bool backward) {
  Direction own = ReadDirection(layer, direction);
  const Expr gates = GateInputs(layer, direction, own);
  const int64_t steps = layer.x.dim(0);
  Run run{{}, {InitialState(layer, kInitialH, direction), std::nullopt}};
  if (layer.kind.has_cell) run.last.c = InitialState(layer, kInitialC, direction);
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = backward ? steps - 1 - i : i;
    const RecurrentState next = layer.kind.step(own, Row(gates, at), run.last);
    std::optional<Expr> counts;
    if (layer.lengths) {
      counts = Less(Number(layer.node, static_cast<double>(at), DType::kS64), *layer.lengths);
    }
    run.outputs.push_back(Kept(counts, *next.h, std::nullopt));
    run.last.h = Kept(counts, *next.h, run.last.h);
    if (next.c) run.last.c = Kept(counts, *next.c, run.last.c);
  }
  if (backward) std::reverse(run.outputs.begin(), run.outputs.end());
  return run;
}

void GiveOutputs(const Layer& layer, const std::vector<Run>& runs) {
  OnnxNode& node = layer.node;
  std::vector<Expr> steps, h, c;
  for (const Run& run : runs) {
    steps.push_back(Stacked(run.outputs, layer.batch_first ? 1 : 0));
    h.push_back(*run.last.h);
    if (layer.kind.has_cell) c.push_back(*run.last.c);
  }
  // [steps, directions, batch, hidden], or [batch, steps, directions, hidden]
  if (node.OutputUsed(0)) Give(Stacked(steps, layer.batch_first ? 2 : 1), 0);
  const int64_t axis = layer.batch_first ? 1 : 0;
  if (node.OutputUsed(1)) Give(Stacked(h, axis), 1);
  if (layer.kind.has_cell && node.OutputUsed(2)) Give(Stacked(c, axis), 2);
}

// Lengths that are the number of steps for all say nothing.
std::optional<Expr> ReadLengths(OnnxNode& node, const Expr& x) {
  if (!node.HasInput(kLengths)) return std::nullopt;
  const Expr lengths = In(node, kLengths);
  node.Check(lengths.shape() == Shape{x.dim(1)}, "input ", Quoted(lengths.value().name),
             " has the shape ", ToString(lengths.shape()), ", expected one length for each of ",
             x.dim(1), " sequences");
  if (lengths.is_constant()) {
    const auto known = IntElements(lengths.value());
    for (int64_t length : known) {
      node.Check(length >= 0 && length <= x.dim(0), "a sequence has the length ", length,
                 ", expected 0 to ", x.dim(0));
    }
    if (std::count(known.begin(), known.end(), x.dim(0)) == static_cast<int64_t>(known.size())) {
      return std::nullopt;
    }
  }
  return CastTo(Reshaped(lengths, {x.dim(1), 1}), DType::kS64);
}

}  // namespace

void ImportRecurrent(OnnxNode& node, const RecurrentKind& kind) {
  const bool batch_first = node.Int("layout", 0) != 0;
  Expr x = FloatIn(node, kX);
  node.Check(x.rank() == 3, "input has the shape ", ToString(x.shape()),
             ", expected three dimensions: steps, batch and size");
  if (batch_first) x = Transposed(x, {1, 0, 2});
  const std::string direction = node.String("direction", "forward");
  node.Check(direction == "forward" || direction == "reverse" || direction == "bidirectional",
             "attribute 'direction' is ", Quoted(direction),
             ", expected forward, reverse or bidirectional");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  node.CheckSupported(x.dim(0) >= 1 && x.dim(0) <= kMostSteps, "has ", x.dim(0),
                      " steps, which are unrolled; expected 1 to ", kMostSteps,
                      ": run the model on shorter pieces and carry the state");
  const Expr w = FloatIn(node, kW), r = FloatIn(node, kR);
  node.Check(r.rank() == 3 && w.rank() == 3 && w.dim(0) == directions && w.dim(2) == x.dim(2),
             "weights have the shapes ", ToString(w.shape()), " and ", ToString(r.shape()),
             ", expected [", directions, ",gates * hidden,", x.dim(2), "] and [", directions,
             ",gates * hidden,hidden]");
  const int64_t hidden = r.dim(2);
  node.Check(w.dim(1) == kind.gates * hidden && hidden >= 1, "the weight has ", w.dim(1),
             " rows, expected ", kind.gates, " times the hidden size ", hidden);
  const int64_t said = node.Int("hidden_size", hidden);
  node.Check(said == hidden, "attribute 'hidden_size' is ", said, ", the weights have ", hidden);
  const Layer layer{node, kind, x, ReadLengths(node, x), hidden, directions, batch_first};
  std::vector<Run> runs;
  for (int64_t d = 0; d < directions; ++d) {
    runs.push_back(RunDirection(layer, d, d == 1 || direction == "reverse"));
  }
  GiveOutputs(layer, runs);
}

}  // namespace rshift
