#include "quantize/ops/function_chains.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/error.h"
#include "quantize/ops/function_links.h"
#include "quantize/ops/function_regions.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// e, when the numbers are numbers[0] / 2^e[c]; empty where they are equal.
std::optional<std::vector<int32_t>> PowersApart(std::span<const float> numbers) {
  int first = 0;
  const float mantissa = std::frexp(numbers[0], &first);
  std::vector<int32_t> exponents;
  for (const float number : numbers) {
    int own = 0;
    if (std::frexp(number, &own) != mantissa) return {};
    exponents.push_back(first - own);
  }
  if (std::all_of(exponents.begin(), exponents.end(), [](int32_t e) { return e == 0; }))
    exponents.clear();
  return exponents;
}

// The sum with one number of which equalization has made one for each channel: b / 2^e[c]. Without
// the exponents that x is known to have they are told from the numbers, up to one for all channels.
std::optional<FunctionLink> ScaledSum(const Graph& graph, const Node& node,
                                      const std::vector<int32_t>* known) {
  const auto* op = std::get_if<Binary>(&node.op);
  if (op == nullptr || (op->op != BinaryOp::kAdd && op->op != BinaryOp::kSub) || op->clamp.active())
    return {};
  const int side = graph.value(node.inputs[0]).is_constant() ? 0 : 1;
  const Value& constant = graph.value(node.inputs[side]);
  const ValueId x = node.inputs[1 - side];
  const Shape& shape = graph.value(x).shape;
  const int64_t channels = shape.empty() ? 0 : shape.back();
  if (channels == 0 || shape != graph.value(node.outputs[0]).shape || !constant.is_constant() ||
      constant.dtype != DType::kF32 || constant.shape.empty() ||
      constant.shape.back() != channels || NumElements(constant.shape) != channels)
    return {};
  const std::span<const float> numbers = constant.constant->As<float>();
  std::optional<std::vector<int32_t>> exponents = PowersApart(numbers);
  double b = numbers[0];
  if (known != nullptr) {
    b = std::ldexp(b, (*known)[0]);
    for (size_t c = 0; c < numbers.size(); ++c) {
      if (std::ldexp(numbers[c], (*known)[c]) != b) return {};
    }
    exponents = *known;
  }
  if (!exponents) return {};
  auto f = [b, side, kind = op->op](double v) {
    return side == 0 ? Evaluate(kind, b, v) : Evaluate(kind, v, b);
  };
  return FunctionLink{x, std::move(f), false, *exponents, *exponents};
}

// d, when second = first + d for all channels; empty exponents are zeros.
std::optional<int32_t> Difference(const std::vector<int32_t>& first,
                                  const std::vector<int32_t>& second) {
  const auto at = [](const std::vector<int32_t>& exponents, size_t c) {
    return exponents.empty() ? 0 : exponents[c];
  };
  const size_t channels = std::max(first.size(), second.size());
  const int32_t difference = channels == 0 ? 0 : at(second, 0) - at(first, 0);
  for (size_t c = 0; c < channels; ++c) {
    if (at(second, c) - at(first, c) != difference) return {};
  }
  return difference;
}

// Functions behind each other.
class Chain {
 public:
  // Whether the node is a function that the chain can take up at its end; it is there then.
  bool Append(const Graph& graph, const Node& node) {
    std::optional<FunctionLink> link;
    if (!output_exponents_.empty()) link = ScaledSum(graph, node, &output_exponents_);
    if (!link) link = LinkOf(graph, node);
    if (!link && keeps_scales_) link = ScaledSum(graph, node, nullptr);
    if (!link || !(functions_.empty() || link->x == y_)) return false;
    if (!keeps_scales_ && !link->keeps_scales) {
      // What the chain hands on and what the function reads must be scaled alike.
      const std::optional<int32_t> shift = Difference(output_exponents_, link->input_exponents);
      if (!shift) return false;
      if (*shift != 0)
        Shift(*shift, std::max(output_exponents_.size(), link->input_exponents.size()));
    }
    FunctionLink whole{functions_.empty() ? link->x : x_, {}};
    whole.input_exponents = keeps_scales_ ? link->input_exponents : input_exponents_;
    whole.output_exponents = link->keeps_scales ? output_exponents_ : link->output_exponents;
    if (!FitsTables(whole)) return false;
    x_ = whole.x;
    y_ = node.outputs[0];
    functions_.push_back(std::move(link->f));
    keeps_scales_ = keeps_scales_ && link->keeps_scales;
    input_exponents_ = std::move(whole.input_exponents);
    output_exponents_ = std::move(whole.output_exponents);
    return true;
  }

  ValueFunction Function() && {
    ValueFunction function{x_, {}, std::move(input_exponents_), std::move(output_exponents_)};
    function.f = [functions = std::move(functions_)](double v) {
      for (const auto& f : functions) v = f(v);
      return v;
    };
    return function;
  }

 private:
  // The same function with `d` more in the exponents of all channels at both ends.
  void Shift(int32_t d, size_t channels) {
    const auto scaled_by = [](int32_t octaves) {
      return [octaves](double v) { return std::ldexp(v, octaves); };
    };
    functions_.insert(functions_.begin(), scaled_by(-d));
    functions_.emplace_back(scaled_by(d));
    for (std::vector<int32_t>* exponents : {&input_exponents_, &output_exponents_}) {
      exponents->resize(channels);
      for (int32_t& exponent : *exponents) exponent += d;
    }
  }

  static bool FitsTables(const FunctionLink& link) {
    return CountTables({link.x, {}, link.input_exponents, link.output_exponents}) <= kMostTables;
  }

  ValueId x_, y_;
  std::vector<std::function<double(double)>> functions_;
  bool keeps_scales_ = true;
  std::vector<int32_t> input_exponents_, output_exponents_;
};

class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const QuantizationPlan& plan, const QuantizeOptions& options,
              const std::set<size_t>& others, const std::set<std::string>& given)
      : graph_(graph),
        plan_(plan),
        options_(options),
        others_(others),
        given_(given),
        edges_(graph),
        is_output_(graph.value_count(), false) {
    for (ValueId id : graph.outputs) is_output_[id.index()] = true;
  }

  FunctionChains Run() {
    TakeRegions();
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (chains_.taken.contains(n) || chains_.of.contains(n)) continue;
      std::vector<size_t> chain = From(n);
      if (chain.size() < 2 || !Computes(chain)) continue;
      chains_.taken.insert(chain.begin(), chain.end() - 1);
      const size_t last = chain.back();
      chains_.of[last] = std::move(chain);
    }
    return std::move(chains_);
  }

 private:
  // From the end of the graph on, so that each is as large as it can be.
  void TakeRegions() {
    const auto may_vanish = [&](ValueId id) {
      return !is_output_[id.index()] && !given_.contains(graph_.value(id).name);
    };
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      if (chains_.taken.contains(n)) continue;
      std::vector<size_t> region = FindFunctionRegion(
          edges_, n, [&](size_t node) { return MayChange(node); }, may_vanish);
      if (region.empty()) continue;
      chains_.taken.insert(region.begin(), region.end() - 1);
      chains_.of[n] = std::move(region);
    }
  }

  bool MayChange(size_t n) const {
    if (plan_.forms[n] != NodeForm::kInteger || others_.contains(n)) return false;
    const LayerConfig layer = LayerOf(graph_, graph_.nodes()[n], options_.config);
    return !layer.multiplier_bits && !layer.profile;
  }

  std::vector<size_t> From(size_t n) const {
    Chain chain;
    std::vector<size_t> nodes;
    for (std::optional<size_t> next = n; next && MayChange(*next); next = After(nodes.back())) {
      if (chains_.taken.contains(*next) || chains_.of.contains(*next)) break;
      if (!chain.Append(graph_, graph_.nodes()[*next])) break;
      nodes.push_back(*next);
    }
    return nodes;
  }

  // The only reader of what the node makes, when that need not be a tensor.
  std::optional<size_t> After(size_t n) const {
    const ValueId y = graph_.nodes()[n].outputs[0];
    const auto& readers = edges_.consumers[y.index()];
    if (readers.size() != 1 || is_output_[y.index()] || given_.contains(graph_.value(y).name))
      return {};
    return static_cast<size_t>(readers[0].index());
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
  const GraphEdges edges_;
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
  if (IsFunctionRegion(graph, nodes)) return FunctionOfRegion(graph, nodes);
  Chain chain;
  for (const size_t n : nodes) {
    RSHIFT_REQUIRE(chain.Append(graph, graph.nodes()[n]), ErrorCode::kInternal, "node '",
                   graph.nodes()[n].name, "' is no function of one value");
  }
  return std::move(chain).Function();
}

void EmitFunctionChain(Emitter& emitter, const std::vector<size_t>& nodes) {
  const Graph& old = emitter.old();
  EmitValueFunction(emitter, old.nodes()[nodes.back()], FunctionOfChain(old, nodes));
}

}  // namespace rshift
