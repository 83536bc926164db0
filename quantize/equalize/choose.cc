#include "quantize/equalize/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "base/portable_math.h"
#include "base/union_find.h"
#include "quantize/equalize/channel_groups.h"
#include "quantize/equalize/headroom.h"
#include "quantize/equalize/noise.h"
#include "quantize/equalize/product_weights.h"
#include "quantize/equalize/relevance.h"

namespace rshift {
namespace {

// Beyond this a channel adds nothing that 8 bits of another would show.
constexpr double kMostOctaves = 20;
constexpr double kNoNoise = 1e-12;  // 120 dB

bool IsFree(const ChannelGroups& groups, ValueId id) {
  const std::vector<int32_t>& channels = groups.of_value[id.index()];
  return !channels.empty() && groups.free[static_cast<size_t>(channels[0])];
}

// By node; nothing for nodes that are no products.
struct Product {
  ProductWeights weights;
  size_t node = 0;
};
std::vector<Product> AllProducts(const Graph& graph) {
  std::vector<Product> products;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    if (const std::optional<ProductWeights> product = ReadProduct(graph, graph.nodes()[n]))
      products.push_back({*product, n});
  }
  return products;
}

// Free tensors that share groups, directly or through others, and what reads them.
struct Component {
  std::vector<ValueId> values;
  std::vector<size_t> products;    // indices into the list of all products
  std::vector<size_t> functions;   // nodes
  bool touches_functions = false;  // a function reads or makes one of the values
};

class Components {
 public:
  Components(const Graph& graph, const ChannelGroups& groups,
             const std::vector<Product>& products) {
    UnionFind joined(groups.free.size());
    for (const std::vector<int32_t>& channels : groups.of_value) {
      if (channels.empty() || !groups.free[static_cast<size_t>(channels[0])]) continue;
      for (const int32_t group : channels)
        joined.Join(static_cast<size_t>(channels[0]), static_cast<size_t>(group));
    }
    std::vector<int> number(joined.size(), -1);
    const auto component = [&](ValueId id) -> Component& {
      int& n = number[joined.Find(static_cast<size_t>(groups.of_value[id.index()][0]))];
      if (n < 0) {
        n = static_cast<int>(all.size());
        all.emplace_back();
      }
      return all[static_cast<size_t>(n)];
    };
    for (int i = 0; i < graph.value_count(); ++i) {
      if (IsFree(groups, ValueId(i))) component(ValueId(i)).values.push_back(ValueId(i));
    }
    for (size_t p = 0; p < products.size(); ++p) {
      if (IsFree(groups, products[p].weights.x))
        component(products[p].weights.x).products.push_back(p);
    }
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
      const Node& node = graph.nodes()[n];
      if (!std::holds_alternative<Unary>(node.op)) continue;
      if (IsFree(groups, node.outputs[0])) component(node.outputs[0]).touches_functions = true;
      if (!IsFree(groups, node.inputs[0])) continue;
      component(node.inputs[0]).functions.push_back(n);
      component(node.inputs[0]).touches_functions = true;
    }
    std::erase_if(all,
                  [](const Component& c) { return c.products.empty() && c.functions.empty(); });
  }
  std::vector<Component> all;
};

class Chooser {
 public:
  Chooser(const Graph& graph, EqualizeThrough through, const MeasuredChannels& measured)
      : graph_(graph),
        groups_(FindChannelGroups(graph, through)),
        products_(AllProducts(graph)),
        measured_(measured),
        relevance_(ProductRelevance(graph, groups_, measured)),
        headroom_(Headroom(graph, groups_, measured)),
        exponents_(groups_.free.size()),
        tried_(groups_.free.size()) {}

  EqualizationChoice Run() {
    EqualizationChoice choice;
    for (const Component& component : Components(graph_, groups_, products_).all) {
      if (std::optional<EqualizedTensors> gain = Decide(component))
        choice.gains.push_back(std::move(*gain));
    }
    std::stable_sort(choice.gains.begin(), choice.gains.end(),
                     [](const auto& a, const auto& b) { return a.before_db < b.before_db; });
    choice.equalization = Entries(exponents_);
    choice.trial = Entries(tried_);
    return choice;
  }

 private:
  // Of the tensors with other exponents than 0.
  Equalization Entries(const std::vector<int32_t>& exponents) const {
    Equalization entries;
    for (int i = 0; i < graph_.value_count(); ++i) {
      ChannelExponents entry{graph_.value(ValueId(i)).name, {}};
      bool any = false;
      for (const int32_t group : groups_.of_value[i]) {
        entry.exponents.push_back(exponents[static_cast<size_t>(group)]);
        any |= entry.exponents.back() != 0;
      }
      if (any) entries.push_back(std::move(entry));
    }
    return entries;
  }

  using Factors = std::vector<double>;  // log2, by group; 0 outside the component

  const ChannelRanges* Measured(ValueId id) const {
    const auto found = measured_.find(graph_.value(id).name);
    return found == measured_.end() ? nullptr : &found->second;
  }

  std::optional<EqualizedTensors> Decide(const Component& component) {
    for (const ValueId id : component.values) {
      if (Measured(id) == nullptr) return std::nullopt;
    }
    const std::vector<int32_t> none(groups_.free.size(), 0);
    const double before = Signal(component, none);
    const bool functions = component.touches_functions;
    const double limit = functions ? kEqualizeFunctionsBelowDb : kEqualizeBelowDb;
    const double gain_wanted = functions ? kEqualizeFunctionsGainDb : kEqualizeGainDb;
    if (before >= std::max(limit, kTryBelowDb)) return std::nullopt;
    double best = before;
    std::vector<int32_t> chosen;
    std::vector<std::vector<int32_t>> candidates = {DeadChannelsAlone(component)};
    const ChannelShares shares = SharesOf(component);
    for (const double of_weights : {0.0, 0.5, 0.25})
      candidates.push_back(Candidate(component, shares, of_weights));
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (const std::vector<int32_t>& candidate : candidates) {
      if (candidate == none) continue;
      const double after = Signal(component, candidate);
      if (after <= best) continue;
      best = after;
      chosen = candidate;
    }
    const bool sure = before < limit && best >= before + gain_wanted;
    if (!sure && (HasInput(component) || best < before + kTryGainDb)) return std::nullopt;
    EqualizedTensors gain{{}, before, best};
    for (const ValueId id : component.values) {
      gain.tensors.push_back(graph_.value(id).name);
      for (const int32_t group : groups_.of_value[id.index()])
        (sure ? exponents_ : tried_)[static_cast<size_t>(group)] =
            chosen[static_cast<size_t>(group)];
    }
    if (!sure) return std::nullopt;
    return gain;
  }

  bool HasInput(const Component& component) const {
    return std::any_of(component.values.begin(), component.values.end(), [&](ValueId id) {
      return std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end();
    });
  }

  // What the products and functions that read the component add to the noise of the network's
  // outputs, in dB.
  double Signal(const Component& component, const std::vector<int32_t>& exponents) const {
    double noise = 0;
    const auto of_value = [&](ValueId id) {
      std::vector<int32_t> own;
      for (const int32_t group : groups_.of_value[id.index()])
        own.push_back(exponents[static_cast<size_t>(group)]);
      return own;
    };
    for (const size_t p : component.products) {
      const ProductWeights& product = products_[p].weights;
      noise += ProductNoise(graph_, product, *Measured(product.x), of_value(product.x),
                            relevance_[products_[p].node]);
    }
    for (const size_t n : component.functions) {
      const Node& node = graph_.nodes()[n];
      const ValueId x = node.inputs[0];
      const ChannelRanges* output = Measured(node.outputs[0]);
      if (output == nullptr) continue;
      noise += FunctionNoise(std::get<Unary>(node.op), *Measured(x), *output, of_value(x),
                             relevance_[n]);
    }
    return -10 * portable::Log10(std::max(noise, kNoNoise));
  }

  // By group: the range of a channel beside that of its tensor, and that of the weights which read
  // it beside those of their output channel.
  struct ChannelShares {
    std::vector<double> range, weight;
  };

  ChannelShares SharesOf(const Component& component) const {
    std::vector<double> range(groups_.free.size(), 0), weight(groups_.free.size(), 0);
    for (const ValueId id : component.values) {
      const ChannelRanges& measured = *Measured(id);
      const float all = *std::max_element(measured.peak.begin(), measured.peak.end());
      if (all == 0) continue;
      for (size_t c = 0; c < measured.peak.size(); ++c) {
        double& r = range[static_cast<size_t>(groups_.of_value[id.index()][c])];
        r = std::max(r, static_cast<double>(measured.peak[c]) / all);
      }
    }
    for (const size_t p : component.products) {
      if (products_[p].weights.depthwise()) continue;
      const std::vector<double> share =
          WeightShares(graph_, products_[p].weights, *Measured(products_[p].weights.x));
      for (size_t c = 0; c < share.size(); ++c) {
        double& w =
            weight[static_cast<size_t>(groups_.of_value[products_[p].weights.x.index()][c])];
        w = std::max(w, share[c]);
      }
    }
    return {std::move(range), std::move(weight)};
  }

  // Factors range^(1 - a) / weight^a.
  std::vector<int32_t> Candidate(const Component& component, const ChannelShares& shares,
                                 double a) const {
    const auto& [range, weight] = shares;
    std::vector<double> octaves(groups_.free.size(), 0);
    std::vector<bool> alive(groups_.free.size(), false), seen(groups_.free.size(), false);
    std::vector<double> known;
    for (const ValueId id : component.values) {
      for (const int32_t group : groups_.of_value[id.index()]) {
        const auto g = static_cast<size_t>(group);
        if (seen[g]) continue;
        seen[g] = true;
        if (range[g] == 0) continue;
        const double w = weight[g] > 0 ? weight[g] : 1;
        alive[g] = true;
        octaves[g] = (1 - a) * portable::Log2(range[g]) - a * portable::Log2(w);
        known.push_back(octaves[g]);
      }
    }
    std::vector<int32_t> exponents(groups_.free.size(), 0);
    if (known.empty()) return exponents;
    std::sort(known.begin(), known.end());
    const double top = known.back(), median = known[known.size() / 2];
    for (size_t g = 0; g < exponents.size(); ++g) {
      if (!seen[g]) continue;
      const double most = std::min(kMostOctaves, static_cast<double>(headroom_[g]));
      const double below = std::max((alive[g] ? octaves[g] : median) - top, -most);
      exponents[g] = static_cast<int32_t>(std::lround(below));
    }
    ScaleDeadChannels(component, exponents);
    return exponents;
  }

  std::vector<int32_t> DeadChannelsAlone(const Component& component) const {
    std::vector<int32_t> exponents(groups_.free.size(), 0);
    ScaleDeadChannels(component, exponents);
    return exponents;
  }

  // The weights of a channel that was 0 in every sample multiply nothing, and one of them that is
  // larger than all others of its output channel takes their levels away: it is scaled down to the
  // largest of them.
  void ScaleDeadChannels(const Component& component, std::vector<int32_t>& exponents) const {
    const std::vector<int32_t> of_others = exponents;
    for (const size_t p : component.products) {
      const ProductWeights& product = products_[p].weights;
      const ChannelRanges& measured = *Measured(product.x);
      const std::vector<int32_t>& channels = groups_.of_value[product.x.index()];
      std::vector<int32_t> own;
      own.reserve(channels.size());
      for (const int32_t group : channels) own.push_back(of_others[static_cast<size_t>(group)]);
      const std::vector<double> excess = DeadWeightExcess(graph_, product, measured, own);
      for (size_t c = 0; c < excess.size(); ++c) {
        if (excess[c] <= 1) continue;
        const auto g = static_cast<size_t>(channels[c]);
        const double most = std::min(kMostOctaves, static_cast<double>(headroom_[g]));
        const double octaves = std::ceil(portable::Log2(excess[c]));
        const double wanted = std::max(of_others[g] - octaves, -most);
        exponents[g] = std::min(exponents[g], static_cast<int32_t>(wanted));
      }
    }
  }

  const Graph& graph_;
  ChannelGroups groups_;
  std::vector<Product> products_;
  const MeasuredChannels& measured_;
  std::vector<std::vector<double>> relevance_;  // by node
  std::vector<int32_t> headroom_;               // by group: octaves
  std::vector<int32_t> exponents_;              // by group
  std::vector<int32_t> tried_;                  // of what is left to a trial, likewise
};

}  // namespace

std::vector<ValueId> EqualizableValues(const Graph& graph, EqualizeThrough through) {
  const ChannelGroups groups = FindChannelGroups(graph, through);
  const std::vector<Product> products = AllProducts(graph);
  std::vector<ValueId> values;
  for (const Component& component : Components(graph, groups, products).all) {
    values.insert(values.end(), component.values.begin(), component.values.end());
    for (const size_t n : component.functions) values.push_back(graph.nodes()[n].outputs[0]);
  }
  if (values.empty()) return values;
  for (const Product& product : products) values.push_back(product.weights.x);

  std::sort(values.begin(), values.end(),
            [](ValueId a, ValueId b) { return a.index() < b.index(); });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

EqualizationChoice ChooseEqualization(const Graph& graph, EqualizeThrough through,
                                      const MeasuredChannels& measured) {
  return Chooser(graph, through, measured).Run();
}

}  // namespace rshift
