// Finds cells of LSTM and GRU by their last operations.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "quantize/ops/ops.h"
#include "quantize/ops/recurrent.h"
#include "quantize/ops/recurrent_gates.h"

namespace rshift {
namespace {

class RecurrentFinder {
 public:
  RecurrentFinder(const Graph& graph, const QuantizationPlan& plan, const QuantizeConfig& config)
      : graph_(graph), gates_(graph, plan, config) {}

  RecurrentCells Run() {
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      const ValueId y = graph_.nodes()[n].outputs[0];
      std::optional<RecurrentCell> cell = ReadLstm(y);
      if (!cell) cell = ReadGru(y);
      if (!cell || !FindSources(&*cell)) continue;
      Add(std::move(*cell));
    }
    for (RecurrentCell& cell : found_.cells) Complete(&cell);
    FindTaken();
    FindMoved();
    return std::move(found_);
  }

 private:
  bool IsOne(ValueId id) const {
    const Value& value = graph_.value(id);
    if (!value.is_constant() || value.dtype != DType::kF32) return false;
    const auto numbers = value.constant->As<float>();
    return !numbers.empty() &&
           std::all_of(numbers.begin(), numbers.end(), [](float v) { return v == 1.0f; });
  }

  bool SetSize(ValueId y, RecurrentCell* cell) const {
    const Value& value = graph_.value(y);
    if (value.shape.empty() || NumElements(value.shape) == 0 || value.layout != Layout::kPlain)
      return false;
    cell->hidden = value.shape.back();
    cell->batch = RowsOf(value.shape);
    return true;
  }

  // --- cells
  // sigmoid(output) * tanh(c), c = sigmoid(forget) * c' + sigmoid(input) * tanh(cell).
  std::optional<RecurrentCell> ReadLstm(ValueId y) const {
    const auto out = gates_.ProductWith(y, UnaryOp::kSigmoid);
    if (!out) return {};
    const ValueId c = gates_.Argument(out->second, UnaryOp::kTanh);
    if (!c.valid()) return {};
    RecurrentCell cell;
    cell.output = y;
    cell.state = c;
    if (!SetSize(c, &cell)) return {};
    ValueId taken = c, kept;
    // A clip is what the threshold of the state does: calibration has seen what is clipped.
    if (const auto sum = gates_.Operands(c, BinaryOp::kAdd, /*may_clip=*/true)) {
      std::tie(taken, kept) = *sum;
      if (!IsFresh(taken)) std::swap(taken, kept);
    }
    if (!IsFresh(taken)) return {};
    const auto fresh = gates_.ProductWith(taken, UnaryOp::kSigmoid);
    const ValueId output = gates_.Argument(out->first, UnaryOp::kSigmoid);
    ValueId forget;
    if (kept.valid()) {
      const auto keep = gates_.ProductWith(kept, UnaryOp::kSigmoid);
      if (!keep) return {};
      forget = gates_.Argument(keep->first, UnaryOp::kSigmoid);
      cell.old_state = keep->second;
    }
    GateSum none;
    none.bias.assign(static_cast<size_t>(cell.hidden), 0.0);
    const ValueId sums[] = {gates_.Argument(fresh->first, UnaryOp::kSigmoid), forget,
                            gates_.Argument(fresh->second, UnaryOp::kTanh), output};
    for (const ValueId sum : sums) {
      const auto gate = sum.valid() ? gates_.ReadGate(cell, sum) : none;
      if (!gate) return {};
      cell.gates.push_back(*gate);
    }
    return cell;
  }

  // A product of a sigmoid and a tanh.
  bool IsFresh(ValueId id) const {
    const auto pair = gates_.ProductWith(id, UnaryOp::kSigmoid);
    return pair && gates_.Argument(pair->second, UnaryOp::kTanh).valid();
  }

  // (1 - z) * n + z * h', z = sigmoid(update), n = tanh(memory).
  std::optional<RecurrentCell> ReadGru(ValueId y) const {
    RecurrentCell cell;
    cell.gru = true;
    cell.output = cell.state = y;
    ValueId fresh = y, kept;
    if (const auto sum = gates_.Operands(y, BinaryOp::kAdd)) {
      std::tie(fresh, kept) = *sum;
      if (gates_.ProductWith(fresh, UnaryOp::kSigmoid)) std::swap(fresh, kept);
    }
    const auto pair = gates_.ProductWith(fresh, UnaryOp::kTanh);
    if (!pair || !SetSize(y, &cell)) return {};
    const auto* rest = gates_.As<Binary>(pair->second);
    if (rest == nullptr || rest->op != BinaryOp::kSub || rest->clamp.active()) return {};
    const Node& difference = *gates_.Producer(pair->second);
    const ValueId z = difference.inputs[1];
    const ValueId update = gates_.Argument(z, UnaryOp::kSigmoid);
    if (!IsOne(difference.inputs[0]) || !update.valid()) return {};
    if (kept.valid()) {
      const auto keep = gates_.Operands(kept, BinaryOp::kMul);
      if (!keep || (keep->first != z && keep->second != z)) return {};
      cell.old_state = keep->first == z ? keep->second : keep->first;
    }
    return ReadMemory(std::move(cell), update, gates_.Argument(pair->first, UnaryOp::kTanh));
  }

  std::optional<RecurrentCell> ReadMemory(RecurrentCell cell, ValueId update,
                                          ValueId memory) const {
    std::optional<ValuePair> reset;
    const auto update_gate = gates_.ReadGate(cell, update),
               memory_gate = gates_.ReadGate(cell, memory, &reset);
    if (!update_gate || !memory_gate) return {};
    GateSum none;
    none.bias.assign(static_cast<size_t>(cell.hidden), 0.0);
    std::optional<GateSum> reset_gate = none, recurrent;
    if (reset) {
      cell.resets_product = true;
      reset_gate = gates_.ReadGate(cell, gates_.Argument(reset->first, UnaryOp::kSigmoid));
      recurrent = gates_.ReadGate(cell, reset->second);
      if (!recurrent) return {};
    } else if (cell.old_state.valid()) {
      for (const GateProduct& product : memory_gate->products) {
        const auto gated = gates_.ProductWith(product.source.x, UnaryOp::kSigmoid);
        if (!gated || gated->second != cell.old_state) continue;
        cell.reset_state = product.source.x;
        reset_gate = gates_.ReadGate(cell, gates_.Argument(gated->first, UnaryOp::kSigmoid));
      }
    }
    if (!reset_gate) return {};
    cell.gates = {*update_gate, *reset_gate, *memory_gate};
    if (recurrent) cell.gates.push_back(*recurrent);
    return cell;
  }

  // --- sources
  // The one or two values that all gates are products of, but for what the reset gate made: at most
  // one product of each in a gate.
  bool FindSources(RecurrentCell* cell) const {
    std::vector<GateSource> sources;
    for (const GateSum& gate : cell->gates) {
      std::vector<GateSource> own;
      for (const GateProduct& product : gate.products) {
        if (std::find(own.begin(), own.end(), product.source) != own.end()) return false;
        own.push_back(product.source);
        if (product.source.x == cell->reset_state) continue;
        if (std::find(sources.begin(), sources.end(), product.source) == sources.end())
          sources.push_back(product.source);
      }
    }
    if (sources.empty() || sources.size() > 2) return false;
    if (IsSecond(*cell, sources[0])) std::swap(sources.front(), sources.back());
    cell->first = sources[0];
    if (sources.size() > 1) cell->second = sources[1];
    return HasOrder(*cell);
  }

  // Whether it has to be the second of both: the state's, that is not part of a longer tensor.
  bool IsSecond(const RecurrentCell& cell, const GateSource& source) const {
    if (cell.resets_product) {
      const auto& reset = cell.gates[3].products;
      return !reset.empty() && reset[0].source == source;
    }
    if (cell.gru && cell.old_state.valid()) return source.x == cell.old_state;
    return source.x == cell.old_state || !IsPartial(cell, source);
  }

  bool IsPartial(const RecurrentCell& cell, const GateSource& source) const {
    return source.row != 0 || RowsOf(graph_.value(source.x).shape) != cell.batch;
  }

  // The second one has the rows of the batch. The new memory is made of the first and of what is
  // reset, that of the second.
  bool HasOrder(const RecurrentCell& cell) const {
    if (cell.second.x.valid() && IsPartial(cell, cell.second)) return false;
    const auto all_of = [](const GateSum& gate, const auto& allowed) {
      return std::all_of(gate.products.begin(), gate.products.end(),
                         [&](const GateProduct& product) { return allowed(product.source); });
    };
    if (cell.resets_product) {
      return all_of(cell.gates[2], [&](const GateSource& s) { return s == cell.first; }) &&
             all_of(cell.gates[3], [&](const GateSource& s) { return s == cell.second; });
    }
    if (!cell.reset_state.valid()) return true;
    return all_of(cell.gates[2], [&](const GateSource& s) {
      return s == cell.first || (s.x == cell.reset_state && s.row == 0);
    });
  }

  // --- what is found
  void Add(RecurrentCell cell) {
    const size_t index = found_.cells.size();
    found_.state_at[gates_.NodeOf(cell.state)] = index;
    if (!cell.gru) found_.output_at[gates_.NodeOf(cell.output)] = index;
    if (cell.reset_state.valid()) found_.reset_at[gates_.NodeOf(cell.reset_state)] = index;
    found_.cells.push_back(std::move(cell));
  }

  // The first step does without the gates of the old state, which folding has removed: with those
  // of another step it reads the same products.
  void Complete(RecurrentCell* cell) const {
    if (cell->old_state.valid()) return;
    for (const RecurrentCell& other : found_.cells) {
      const bool alike = other.gru == cell->gru && other.old_state.valid() &&
                         other.resets_product == cell->resets_product &&
                         other.first.x == cell->first.x && other.hidden == cell->hidden;
      if (!alike) continue;
      for (size_t g = 0; g < cell->gates.size(); ++g) {
        if (!cell->gates[g].products.empty()) continue;
        for (GateProduct product : other.gates[g].products) {
          if (product.source != other.first) continue;
          product.source = cell->first;
          cell->gates[g].products.push_back(product);
        }
      }
      return;
    }
  }

  // What cells read as it is.
  std::set<ValueId> Read() const {
    std::set<ValueId> read;
    for (const RecurrentCell& cell : found_.cells) {
      read.insert(cell.old_state);
      for (const GateSum& gate : cell.gates) {
        for (const GateProduct& product : gate.products) read.insert(product.source.x);
      }
    }
    return read;
  }

  // Nodes whose readers are all in cells.
  void FindTaken() {
    std::set<size_t> cells;
    for (const auto* at : {&found_.state_at, &found_.output_at, &found_.reset_at}) {
      for (const auto& [n, index] : *at) cells.insert(n);
    }
    if (cells.empty()) return;
    const auto consumers = graph_.Consumers();
    const std::set<ValueId> read = Read();
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      const ValueId y = graph_.nodes()[n].outputs[0];
      const auto& readers = consumers[y.index()];
      if (cells.contains(n) || read.contains(y) || graph_.IsOutput(y) || readers.empty()) continue;
      if (std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
            const auto r = static_cast<size_t>(reader.index());
            return cells.contains(r) || found_.taken.contains(r);
          })) {
        found_.taken.insert(n);
      }
    }
  }

  // Movements of states, and of what goes with them, that nothing but outputs of the model reads.
  void FindMoved() {
    std::set<ValueId> states;
    for (const RecurrentCell& cell : found_.cells) states.insert(cell.state);
    if (states.empty()) return;
    for (const Node& node : graph_.nodes()) {  // what holds states
      const Movement movement = MovementOf(node.op);
      if (movement == Movement::kNone || movement == Movement::kPads) continue;
      if (std::any_of(node.inputs.begin(), node.inputs.end(),
                      [&](ValueId id) { return states.contains(id); }))
        states.insert(node.outputs[0]);
    }
    const auto consumers = graph_.Consumers();
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      const ValueId y = graph_.nodes()[n].outputs[0];
      const Movement movement = MovementOf(graph_.nodes()[n].op);
      if (movement == Movement::kNone || !states.contains(y)) continue;
      const auto& readers = consumers[y.index()];
      if (std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
            return found_.moved.contains(static_cast<size_t>(reader.index()));
          }))
        found_.moved.insert(n);
    }
  }

  const Graph& graph_;
  const GateReader gates_;
  RecurrentCells found_;
};

}  // namespace

std::set<size_t> NodesOf(const RecurrentCells& cells) {
  std::set<size_t> nodes = cells.taken;
  nodes.insert(cells.moved.begin(), cells.moved.end());
  for (const auto* written : {&cells.state_at, &cells.output_at, &cells.reset_at}) {
    for (const auto& [node, cell] : *written) nodes.insert(node);
  }
  return nodes;
}

RecurrentCells FindRecurrentCells(const Graph& graph, const QuantizationPlan& plan,
                                  const QuantizeOptions& options) {
  if (options.profile.id != ProfileId::kTpu || HoldsQuantization(graph)) return {};
  return RecurrentFinder(graph, plan, options.config).Run();
}

}  // namespace rshift
