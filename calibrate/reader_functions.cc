#include "calibrate/reader_functions.h"

#include <algorithm>
#include <optional>

namespace rshift {
namespace {

bool Same(const Unary& a, const Unary& b) {
  return a.op == b.op && a.alpha == b.alpha && a.beta == b.beta;
}

bool Moves(const Op& op) {
  const Movement movement = MovementOf(op);
  return movement == Movement::kPermutes || movement == Movement::kCopies;
}

}  // namespace

TensorFunctions ReaderFunctions(const Graph& graph) {
  // By value, backwards: nothing where something else than functions reads it.
  std::vector<std::optional<std::vector<Unary>>> of(static_cast<size_t>(graph.value_count()),
                                                    std::vector<Unary>());
  for (const ValueId output : graph.outputs) of[output.index()] = std::nullopt;
  const auto add = [&](ValueId id, const std::optional<std::vector<Unary>>& more) {
    std::optional<std::vector<Unary>>& all = of[id.index()];
    if (!more) all.reset();
    if (!all) return;
    for (const Unary& one : *more) {
      if (std::none_of(all->begin(), all->end(), [&](const Unary& two) { return Same(one, two); }))
        all->push_back(one);
    }
  };
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    std::optional<std::vector<Unary>> functions;
    const auto* unary = std::get_if<Unary>(&node->op);
    if (unary != nullptr && !unary->scales_channels())
      functions = {*unary};
    else if (Moves(node->op))
      functions = of[node->outputs[0].index()];
    for (const ValueId input : node->inputs) {
      if (input.valid()) add(input, functions);
    }
  }
  TensorFunctions found;
  for (int i = 0; i < graph.value_count(); ++i) {
    const auto& functions = of[static_cast<size_t>(i)];
    if (functions && !functions->empty()) found[graph.value(ValueId(i)).name] = *functions;
  }
  return found;
}

}  // namespace rshift
