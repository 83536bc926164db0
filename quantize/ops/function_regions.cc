#include "quantize/ops/function_regions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/error.h"
#include "quantize/ops/function_links.h"

namespace rshift {
namespace {

// One operator of one or two activations (a link reads `a` alone), element by element.
struct Step {
  ValueId a, b;
  std::function<double(double, double)> f;
  bool is_pair() const { return b.valid(); }
};

std::optional<Step> PairOf(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<Binary>(&node.op);
  if (op == nullptr || kResultIsBool[static_cast<size_t>(op->op)]) return {};
  const Value& y = graph.value(node.outputs[0]);
  for (const ValueId id : node.inputs) {
    const Value& operand = graph.value(id);
    if (operand.is_constant() || operand.dtype != DType::kF32 || operand.shape != y.shape)
      return {};
  }
  return Step{node.inputs[0], node.inputs[1], PairFunction(*op)};
}

std::optional<Step> StepOf(const Graph& graph, const Node& node) {
  if (std::optional<FunctionLink> link = LinkOf(graph, node)) {
    if (!link->input_exponents.empty() || !link->output_exponents.empty()) return {};
    return Step{link->x, ValueId(), [f = std::move(link->f)](double v, double) { return f(v); }};
  }
  return PairOf(graph, node);
}

bool HoldsPair(const Graph& graph, const std::vector<size_t>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](size_t n) { return PairOf(graph, graph.nodes()[n]).has_value(); });
}

// Grows backwards. The operand that is made last is taken in first: where one operand is left, it
// is the only way in.
class Region {
 public:
  explicit Region(const GraphEdges& edges) : edges_(edges) {}

  bool Take(size_t n) {
    const std::optional<Step> step = StepOf(edges_.graph, edges_.graph.nodes()[n]);
    if (!step) return false;
    nodes_.insert(n);
    Read(step->a);
    if (step->is_pair()) Read(step->b);
    holds_pair_ = holds_pair_ || step->is_pair();
    return true;
  }
  bool is_function_of_one() const { return holds_pair_ && operands_.size() == 1; }
  // The operand whose maker is last in the graph, with that; nothing where the model's inputs are
  // all that is left.
  std::optional<std::pair<ValueId, size_t>> Last() const {
    const auto& [made, id] = *operands_.rbegin();
    if (made < 0) return {};
    return std::pair{id, static_cast<size_t>(made)};
  }
  void Remove(ValueId id) { operands_.erase({MakerOf(id), id}); }
  bool ReadsAlone(ValueId id) const {
    const auto& readers = edges_.consumers[id.index()];
    return std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return nodes_.contains(static_cast<size_t>(reader.index()));
    });
  }
  size_t size() const { return nodes_.size(); }
  // Those taken first, in the graph's order: each was behind the ones taken after it.
  std::vector<size_t> LastNodes(size_t count) const {
    return {std::prev(nodes_.end(), static_cast<std::ptrdiff_t>(count)), nodes_.end()};
  }

 private:
  struct ById {
    bool operator()(const std::pair<int64_t, ValueId>& a,
                    const std::pair<int64_t, ValueId>& b) const {
      return std::pair(a.first, a.second.index()) < std::pair(b.first, b.second.index());
    }
  };

  int64_t MakerOf(ValueId id) const {
    const NodeId maker = edges_.producers[id.index()];
    return maker.valid() ? maker.index() : -1;
  }
  void Read(ValueId id) { operands_.insert({MakerOf(id), id}); }

  const GraphEdges& edges_;
  std::set<size_t> nodes_;
  bool holds_pair_ = false;
  std::set<std::pair<int64_t, ValueId>, ById> operands_;  // by the node that makes them
};

}  // namespace

GraphEdges::GraphEdges(const Graph& of)
    : graph(of), producers(of.Producers()), consumers(of.Consumers()) {
  for (const Node& node : graph.nodes()) {
    bool behind = PairOf(graph, node).has_value();
    for (const ValueId id : node.inputs) {
      if (behind || !id.valid()) continue;
      const NodeId maker = producers[id.index()];
      behind = maker.valid() && behind_pairs[maker.index()] && LinkOf(graph, node).has_value();
    }
    behind_pairs.push_back(behind);
  }
}

std::vector<size_t> FindFunctionRegion(const GraphEdges& edges, size_t last,
                                       const std::function<bool(size_t)>& may_change,
                                       const std::function<bool(ValueId)>& may_vanish) {
  Region region(edges);
  if (!edges.behind_pairs[last] || !may_change(last) || !region.Take(last)) return {};
  size_t found = 0;
  while (const auto next = region.Last()) {
    const auto [value, maker] = *next;
    if (!may_vanish(value) || !region.ReadsAlone(value) || !may_change(maker)) break;
    region.Remove(value);
    if (!region.Take(maker)) break;
    if (region.is_function_of_one()) found = region.size();
  }
  return region.LastNodes(found);
}

bool IsFunctionRegion(const Graph& graph, const std::vector<size_t>& nodes) {
  return HoldsPair(graph, nodes);
}

ValueFunction FunctionOfRegion(const Graph& graph, const std::vector<size_t>& nodes) {
  struct Numbered {  // a, b: 0 for x, 1 for what the first step makes, ...
    std::function<double(double, double)> f;
    size_t a = 0, b = 0;
  };
  std::vector<ValueId> values = {ValueId()};
  std::vector<Numbered> steps;
  for (const size_t n : nodes) {
    std::optional<Step> step = StepOf(graph, graph.nodes()[n]);
    RSHIFT_REQUIRE(step, ErrorCode::kInternal, "node '", graph.nodes()[n].name,
                   "' is no function of numbers");
    const auto number = [&](ValueId id) {
      const auto found = std::find(values.begin() + 1, values.end(), id);
      if (found != values.end()) return static_cast<size_t>(found - values.begin());
      values[0] = id;
      return size_t{0};
    };
    const size_t a = number(step->a), b = step->is_pair() ? number(step->b) : 0;
    steps.push_back({std::move(step->f), a, b});
    values.push_back(graph.nodes()[n].outputs[0]);
  }
  return {values[0], [steps = std::move(steps)](double x) {
            std::vector<double> made = {x};
            for (const Numbered& step : steps) made.push_back(step.f(made[step.a], made[step.b]));
            return made.back();
          }};
}

}  // namespace rshift
