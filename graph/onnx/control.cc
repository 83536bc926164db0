// If, Loop and Scan: what they do is known at import, so they are unrolled.
#include <algorithm>
#include <optional>

#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr const char* kFreeze =
    "is computed from the model's input, expected a constant; freeze it with --bind, or export "
    "the model without the ";

// The one element of a constant condition; nothing when it is computed.
std::optional<bool> ConstantCondition(const OnnxNode& node, const Expr& condition) {
  node.Check(condition.type() == DType::kBool && NumElements(condition.shape()) == 1,
             "its condition is ", Name(condition.type()), " ", ToString(condition.shape()),
             ", expected one bool");
  if (!condition.is_constant()) return std::nullopt;
  return IntElements(condition.value())[0] != 0;
}

const char* BranchName(bool taken) { return taken ? "then" : "else"; }

std::vector<Expr> ImportBranch(OnnxNode& node, bool taken) {
  return ImportBody(node, node.Body(taken ? "then_branch" : "else_branch"), BranchName(taken), {});
}

// Both branches of a condition that is computed must fit the shapes, though a run takes one of
// them.
std::vector<Expr> UndecidedBranch(OnnxNode& node, bool taken) {
  try {
    return ImportBranch(node, taken);
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.find("--bind") != std::string::npos) throw;
    Fail(error.code(), text, "; this is in the ", BranchName(taken), "-branch of ", node.where(),
         ", whose condition is computed from the model's input: where it is the same for all data, "
         "freeze the input that decides it with --bind");
  }
}

void ImportIf(OnnxNode& node) {
  const Expr condition = In(node, 0);
  const std::optional<bool> known = ConstantCondition(node, condition);
  const std::vector<Expr> first = known ? ImportBranch(node, *known) : UndecidedBranch(node, true);
  std::vector<Expr> results = first;
  if (!known) {  // both are computed, one is chosen
    const std::vector<Expr> second = UndecidedBranch(node, false);
    node.Check(first.size() == second.size(), "its branches have ", first.size(), " and ",
               second.size(), " outputs, expected equal counts");
    for (size_t i = 0; i < first.size(); ++i) {
      node.CheckSupported(
          first[i].shape() == second[i].shape() && first[i].type() == second[i].type(),
          "its condition ", kFreeze, "branch: the branches give ", ToString(first[i].shape()),
          " and ", ToString(second[i].shape()));
      results[i] = Select(Reshaped(condition, {}), first[i], second[i]);
    }
  }
  node.Check(static_cast<int>(results.size()) >= node.OutputCount(), "its branches have ",
             results.size(), " outputs, expected ", node.OutputCount());
  for (int i = 0; i < node.OutputCount(); ++i) Give(results[i], i);
}

// One value of each iteration, as rows of a new dimension `axis`.
void GiveStacked(OnnxNode& node, std::vector<Expr> rows, int64_t axis, bool backward, int i) {
  if (!node.OutputUsed(i)) return;
  node.CheckSupported(!rows.empty(), "output ", i,
                      " of a loop without iterations is empty; export the model without the loop");
  if (backward) std::reverse(rows.begin(), rows.end());
  for (const Expr& row : rows) {
    node.CheckSupported(row.shape() == rows.front().shape() || &row == &rows.front(),
                        "an output changes its shape from one iteration to the next");
  }
  Give(Stacked(rows, axis), i);
}

// How often the loop runs at most: -1 without a count.
int64_t ReadTrips(OnnxNode& node) {
  if (!node.HasInput(0)) return -1;
  const Expr count = In(node, 0);
  node.CheckSupported(count.is_constant(), "its trip count ", kFreeze, "loop");
  node.Check(NumElements(count.shape()) == 1 && count.type() == DType::kS64,
             "its trip count is no int64 number");
  return std::max<int64_t>(IntElements(count.value())[0], 0);
}

bool GoesOn(OnnxNode& node, const std::optional<Expr>& condition) {
  if (!condition) return true;
  const std::optional<bool> known = ConstantCondition(node, *condition);
  node.CheckSupported(known.has_value(), "its condition ", kFreeze, "loop");
  return *known;
}

// Inputs of the body: the iteration, the condition, what is carried. Outputs: the condition, what
// is carried, what is collected.
void ImportLoop(OnnxNode& node) {
  const onnx::GraphProto& body = node.Body("body");
  const int64_t trips = ReadTrips(node);
  std::optional<Expr> condition;
  if (node.HasInput(1)) condition = In(node, 1);
  std::vector<Expr> carried;
  for (int i = 2; i < node.InputCount(); ++i) carried.push_back(In(node, i));
  const int collected = body.output_size() - 1 - static_cast<int>(carried.size());
  node.Check(collected >= 0, "its body has ", body.output_size(), " outputs, expected at least ",
             carried.size() + 1);
  std::vector<std::vector<Expr>> rows(collected);
  for (int64_t t = 0; (trips < 0 || t < trips) && GoesOn(node, condition); ++t) {
    node.CheckSupported(t < kMostIterations, "has more than ", kMostIterations,
                        " iterations, which would be unrolled; export the model with fewer");
    std::vector<Expr> inputs{Number(node, static_cast<double>(t), DType::kS64),
                             Bools(node, {}, {true})};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Expr> outputs = ImportBody(node, body, std::to_string(t), inputs);
    condition = outputs[0];
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = outputs[1 + i];
    for (int i = 0; i < collected; ++i) rows[i].push_back(outputs[1 + carried.size() + i]);
  }
  const int first = static_cast<int>(carried.size());
  for (int i = 0; i < node.OutputCount(); ++i) {
    node.Check(i < first + collected, "has ", node.OutputCount(), " outputs, but its body makes ",
               first + collected);
    if (i < first) {
      Give(carried[i], i);
    } else {
      GiveStacked(node, rows[i - first], 0, false, i);
    }
  }
}

// Entry i of an attribute with one for each scanned value; 0 where it is missing.
int64_t EntryOf(OnnxNode& node, const char* name, int i) {
  const auto list = node.Ints(name);
  return i < static_cast<int>(list.size()) ? list[i] : 0;
}

// Opset 8: every input and output has a batch in front, and sequences run along dimension 1.
void ImportBatchedScan(OnnxNode& node) {
  const onnx::GraphProto& body = node.Body("body");
  const int64_t scanned = node.Int("num_scan_inputs", 0);
  node.Check(scanned >= 1 && scanned < node.InputCount(), "attribute 'num_scan_inputs' is ",
             scanned, ", expected 1 to ", node.InputCount() - 1);
  node.CheckSupported(!node.HasInput(0), "has sequence_lens, which opset 9 has no longer");
  const int states = node.InputCount() - 1 - static_cast<int>(scanned);
  node.Check(body.output_size() >= states, "its body has ", body.output_size(),
             " outputs, expected at least ", states);
  const int64_t batch = In(node, 1).dim(0), steps = In(node, 1 + states).dim(1);
  node.CheckSupported(steps * batch <= kMostIterations && steps >= 1 && batch >= 1, "has ",
                      steps * batch, " steps, which would be unrolled; expected 1 to ",
                      kMostIterations);
  const auto without = [](const Expr& x, int64_t count) {
    const Shape shape = x.shape();
    return Reshaped(x, Shape(shape.begin() + count, shape.end()));
  };
  std::vector<std::vector<Expr>> made(body.output_size());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Expr> carried;
    std::vector<std::vector<Expr>> rows(body.output_size() - states);
    for (int i = 1; i <= states; ++i) carried.push_back(without(At(In(node, i), 0, b), 1));
    for (int64_t t = 0; t < steps; ++t) {
      std::vector<Expr> inputs = carried;
      for (int i = 0; i < static_cast<int>(scanned); ++i) {
        const Expr source = In(node, 1 + states + i);
        node.Check(source.dim(1) == steps && source.dim(0) == batch, "scans [", batch, ",", steps,
                   "] and ", ToString(source.shape()), " at once, expected equal counts");
        const bool backward = EntryOf(node, "directions", i) != 0;
        const Expr row = At(At(source, 0, b), 1, backward ? steps - 1 - t : t);
        inputs.push_back(without(row, 2));
      }
      const std::string part = std::to_string(b) + "." + std::to_string(t);
      const std::vector<Expr> outputs = ImportBody(node, body, part, inputs);
      for (int i = 0; i < states; ++i) carried[i] = outputs[i];
      for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(outputs[states + i]);
    }
    for (int i = 0; i < states; ++i) made[i].push_back(carried[i]);
    for (size_t i = 0; i < rows.size(); ++i) made[states + i].push_back(Stacked(rows[i], 0));
  }
  for (int i = 0; i < node.OutputCount() && i < body.output_size(); ++i) {
    Give(Stacked(made[i], 0), i);
  }
}

void ImportScan(OnnxNode& node) {
  if (node.opset() < 9) return ImportBatchedScan(node);
  const onnx::GraphProto& body = node.Body("body");
  const int64_t scanned = node.Int("num_scan_inputs", 0);
  node.Check(scanned >= 1 && scanned <= node.InputCount(), "attribute 'num_scan_inputs' is ",
             scanned, ", expected 1 to ", node.InputCount());
  const int states = node.InputCount() - static_cast<int>(scanned);
  std::vector<Expr> carried, sources;
  for (int i = 0; i < states; ++i) carried.push_back(In(node, i));
  for (int i = states; i < node.InputCount(); ++i) sources.push_back(In(node, i));
  const auto axis_of = [&](int i) {
    return node.Axis(EntryOf(node, "scan_input_axes", i), sources[i].rank());
  };
  const int64_t steps = sources[0].dim(axis_of(0));
  node.CheckSupported(steps <= kMostIterations, "has ", steps,
                      " steps, which would be unrolled; expected at most ", kMostIterations);
  node.Check(body.output_size() >= states, "its body has ", body.output_size(),
             " outputs, expected at least ", states);
  std::vector<std::vector<Expr>> rows(body.output_size() - states);
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<Expr> inputs = carried;
    for (int i = 0; i < static_cast<int>(scanned); ++i) {
      const int64_t axis = axis_of(i);
      node.Check(sources[i].dim(axis) == steps, "scans ", steps, " and ", sources[i].dim(axis),
                 " steps at once, expected equal counts");
      const bool backward = EntryOf(node, "scan_input_directions", i) != 0;
      const Expr row = At(sources[i], axis, backward ? steps - 1 - t : t);
      Shape shape = row.shape();
      shape.erase(shape.begin() + axis);
      inputs.push_back(Reshaped(row, shape));
    }
    const std::vector<Expr> outputs = ImportBody(node, body, std::to_string(t), inputs);
    for (int i = 0; i < states; ++i) carried[i] = outputs[i];
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(outputs[states + i]);
  }
  for (int i = 0; i < node.OutputCount() && i < body.output_size(); ++i) {
    if (i < states) {
      Give(carried[i], i);
      continue;
    }
    const int own = i - states;
    GiveStacked(node, rows[own], EntryOf(node, "scan_output_axes", own),
                EntryOf(node, "scan_output_directions", own) != 0, i);
  }
}

constexpr ImportEntry kControlImports[] = {
    {"If", ImportIf}, {"Loop", ImportLoop}, {"Scan", ImportScan}};

}  // namespace

std::span<const ImportEntry> ControlImports() { return kControlImports; }

}  // namespace rshift
