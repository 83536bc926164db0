#include "quantize/ops/function_chains.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// What a node makes of the one activation that it reads.
struct Link {
  ValueId x;
  std::function<double(double)> f;
};

std::function<double(double)> Leaky(double alpha) {
  return [alpha](double v) { return v < 0 ? alpha * v : v; };
}

// Nothing for a node that is no function of one value, or of a value that is no float.
std::optional<Link> LinkOf(const Graph& graph, const Node& node) {
  const auto of_first = [&](std::function<double(double)> f) {
    return Link{node.inputs[0], std::move(f)};
  };
  const auto read =
      Overloaded{[&](const Unary& op) -> std::optional<Link> {
                   if (op.op == UnaryOp::kNot) return {};
                   return of_first([function = Unary(op.op, op.alpha, op.beta)](double v) {
                     return Evaluate(function, v);
                   });
                 },
                 [&](const Clip& op) -> std::optional<Link> {
                   const double lo = op.clamp.lo, hi = op.clamp.hi;
                   return of_first([=](double v) { return std::min(std::max(v, lo), hi); });
                 },
                 [&](const LeakyRelu& op) -> std::optional<Link> {
                   return of_first(Leaky(static_cast<double>(op.alpha)));
                 },
                 [&](const PRelu&) -> std::optional<Link> {
                   const Value& slope = graph.value(node.inputs[1]);
                   if (!IsScalarConstant(slope)) return {};
                   return of_first(Leaky(static_cast<double>(slope.constant->As<float>()[0])));
                 },
                 [&](const Binary& op) -> std::optional<Link> {
                   const int scalar = ScalarOperand(graph, node);
                   if (scalar < 0 || kResultIsBool[static_cast<size_t>(op.op)]) return {};
                   return Link{node.inputs[1 - scalar], ScalarFunction(graph, node, op, scalar)};
                 },
                 [](const auto&) -> std::optional<Link> { return {}; }};
  std::optional<Link> link = std::visit(read, node.op);
  const auto is_float = [&](ValueId id) { return graph.value(id).dtype == DType::kF32; };
  if (link && (!is_float(link->x) || !is_float(node.outputs[0]))) return {};
  return link;
}

// Exponents that equalization has given the channels of what the node reads, of what it writes.
bool ScalesInput(const Node& node) {
  const auto* unary = std::get_if<Unary>(&node.op);
  return unary != nullptr && !unary->input_exponents.empty();
}
bool ScalesOutput(const Node& node) {
  const auto* unary = std::get_if<Unary>(&node.op);
  return unary != nullptr && !unary->output_exponents.empty();
}

class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const QuantizationPlan& plan, const QuantizeOptions& options,
              const std::set<size_t>& others, const std::set<std::string>& given)
      : graph_(graph),
        plan_(plan),
        options_(options),
        others_(others),
        given_(given),
        consumers_(graph.Consumers()),
        is_output_(graph.value_count(), false) {
    for (ValueId id : graph.outputs) is_output_[id.index()] = true;
  }

  FunctionChains Run() {
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (chains_.taken.contains(n) || chains_.of.contains(n) || !IsFunction(n)) continue;
      std::vector<size_t> chain = From(n);
      if (chain.size() < 2 || !Computes(chain)) continue;
      chains_.taken.insert(chain.begin(), chain.end() - 1);
      const size_t last = chain.back();
      chains_.of[last] = std::move(chain);
    }
    return std::move(chains_);
  }

 private:
  bool IsFunction(size_t n) const {
    if (plan_.forms[n] != NodeForm::kInteger || others_.contains(n)) return false;
    const Node& node = graph_.nodes()[n];
    const LayerConfig layer = LayerOf(graph_, node, options_.config);
    return !layer.multiplier_bits && !layer.profile && LinkOf(graph_, node).has_value();
  }

  std::vector<size_t> From(size_t n) const {
    std::vector<size_t> chain = {n};
    while (const std::optional<size_t> next = After(chain)) chain.push_back(*next);
    return chain;
  }

  std::optional<size_t> After(const std::vector<size_t>& chain) const {
    const Node& node = graph_.nodes()[chain.back()];
    const ValueId y = node.outputs[0];
    const auto& readers = consumers_[y.index()];
    if (readers.size() != 1 || is_output_[y.index()] || ScalesOutput(node) ||
        given_.contains(graph_.value(y).name))
      return {};
    const auto next = static_cast<size_t>(readers[0].index());
    if (!IsFunction(next) || ScalesInput(graph_.nodes()[next])) return {};
    // Pairs of exponents of both ends could be more than the tables that a byte can number.
    if (ScalesInput(graph_.nodes()[chain.front()]) && ScalesOutput(graph_.nodes()[next])) return {};
    return next;
  }

  // Clips alone are clamps of bytes.
  bool Computes(const std::vector<size_t>& chain) const {
    return std::any_of(chain.begin(), chain.end(), [&](size_t n) {
      return !std::holds_alternative<Clip>(graph_.nodes()[n].op);
    });
  }

  const Graph& graph_;
  const QuantizationPlan& plan_;
  const QuantizeOptions& options_;
  const std::set<size_t>& others_;
  const std::set<std::string>& given_;
  const std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> is_output_;
  FunctionChains chains_;
};

}  // namespace

FunctionChains FindFunctionChains(const Graph& graph, const QuantizationPlan& plan,
                                  const QuantizeOptions& options, const std::set<size_t>& others,
                                  const std::set<std::string>& given) {
  if (options.profile.id != ProfileId::kTpu || HoldsQuantization(graph)) return {};
  return ChainFinder(graph, plan, options, others, given).Run();
}

ValueFunction FunctionOfChain(const Graph& graph, const std::vector<size_t>& nodes) {
  std::vector<std::function<double(double)>> functions;
  functions.reserve(nodes.size());
  for (const size_t n : nodes) functions.push_back(LinkOf(graph, graph.nodes()[n])->f);
  ValueFunction function;
  function.x = LinkOf(graph, graph.nodes()[nodes.front()])->x;
  function.f = [functions = std::move(functions)](double v) {
    for (const auto& f : functions) v = f(v);
    return v;
  };
  const Node &first = graph.nodes()[nodes.front()], &last = graph.nodes()[nodes.back()];
  if (ScalesInput(first)) function.input_exponents = std::get<Unary>(first.op).input_exponents;
  if (ScalesOutput(last)) function.output_exponents = std::get<Unary>(last.op).output_exponents;
  return function;
}

void EmitFunctionChain(Emitter& emitter, const std::vector<size_t>& nodes) {
  const Graph& old = emitter.old();
  EmitValueFunction(emitter, old.nodes()[nodes.back()], FunctionOfChain(old, nodes));
}

}  // namespace rshift
