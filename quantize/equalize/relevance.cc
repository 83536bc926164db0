#include "quantize/equalize/relevance.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "quantize/equalize/product_weights.h"

namespace rshift {
namespace {

class Backwards {
 public:
  Backwards(const Graph& graph, const ChannelGroups& groups, const MeasuredChannels& measured)
      : graph_(graph), groups_(groups) {
    for (int i = 0; i < graph.value_count(); ++i) {
      shares_.emplace_back(groups.of_value[i].size(), 0.0);
      const auto found = measured.find(graph.value(ValueId(i)).name);
      squares_.push_back(found == measured.end() ? nullptr : &found->second.square);
    }
  }

  std::vector<std::vector<double>> Run() {
    for (const ValueId id : graph_.outputs) {
      const auto count = static_cast<double>(graph_.outputs.size() * Groups(id).size());
      for (double& share : Shares(id)) share += 1 / count;
    }
    std::vector<std::vector<double>> relevance(graph_.nodes().size());
    for (size_t n = graph_.nodes().size(); n-- > 0;) {
      const Node& node = graph_.nodes()[n];
      const std::optional<ProductWeights> product = ReadProduct(graph_, node);
      if (product || std::holds_alternative<Unary>(node.op)) relevance[n] = Shares(node.outputs[0]);
      if (product)
        ThroughProduct(*product);
      else if (IsLinked(node))
        ThroughGroups(node);
      else
        ThroughOther(node);
      // The first operand of a product of two activations has no channel of the result.
      if (!product && std::holds_alternative<MatMul>(node.op) && IsLinked(node))
        SpreadEvenly(node, node.inputs[0]);
    }
    return relevance;
  }

 private:
  const std::vector<int32_t>& Groups(ValueId id) const { return groups_.of_value[id.index()]; }
  std::vector<double>& Shares(ValueId id) { return shares_[id.index()]; }

  // The mean square of a channel; 1 where it was not measured.
  double Energy(ValueId id, size_t channel) const {
    const std::vector<double>* squares = squares_[id.index()];
    return squares == nullptr ? 1 : (*squares)[channel];
  }

  void ThroughProduct(const ProductWeights& product) {
    const std::span<const float> weights = graph_.value(product.weights).constant->As<float>();
    const std::vector<double> shares = Shares(product.y);
    std::vector<double>& of_x = Shares(product.x);
    std::vector<double> energies(static_cast<size_t>(product.inputs_of_group));
    for (int64_t o = 0; o < product.outputs; ++o) {
      const auto first = static_cast<size_t>(product.Input(o, 0));
      product.ForEachInput(weights, o, [&](int64_t i, std::span<const float> taps) {
        double sum = 0;
        for (const double w : taps) sum += w * w;
        const auto c = static_cast<size_t>(i);
        energies[c] = sum * Energy(product.x, first + c);
      });
      const double all = std::accumulate(energies.begin(), energies.end(), 0.0);
      if (all == 0) continue;
      const double share = shares[static_cast<size_t>(o)] / all;
      for (size_t c = 0; c < energies.size(); ++c) of_x[first + c] += share * energies[c];
    }
  }

  bool IsLinked(const Node& node) const {
    std::vector<int32_t> y = Groups(node.outputs[0]);
    std::sort(y.begin(), y.end());
    for (const ValueId id : node.inputs) {
      if (!id.valid()) continue;
      for (const int32_t group : Groups(id)) {
        if (std::binary_search(y.begin(), y.end(), group)) return true;
      }
    }
    return false;
  }

  // What the output's channels of a group have, its input channels share by their energies.
  void ThroughGroups(const Node& node) {
    std::map<int32_t, std::pair<double, double>> groups;  // share of y, energy of the inputs
    const std::vector<int32_t>& of_y = Groups(node.outputs[0]);
    for (size_t c = 0; c < of_y.size(); ++c) groups[of_y[c]].first += Shares(node.outputs[0])[c];
    ForEachInput(node, [&](ValueId id, size_t c) {
      const auto at = groups.find(Groups(id)[c]);
      if (at != groups.end()) at->second.second += Energy(id, c);
    });
    ForEachInput(node, [&](ValueId id, size_t c) {
      const auto at = groups.find(Groups(id)[c]);
      if (at == groups.end() || at->second.second == 0) return;
      Shares(id)[c] += at->second.first * Energy(id, c) / at->second.second;
    });
  }

  void ThroughOther(const Node& node) {
    const std::vector<double> shares = Shares(node.outputs[0]);
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    ForEachInput(node, [&](ValueId id, size_t c) {
      const size_t count = Groups(id).size();
      Shares(id)[c] += count == shares.size() ? shares[c] : all / static_cast<double>(count);
    });
  }

  void SpreadEvenly(const Node& node, ValueId input) {
    const std::vector<double>& of_y = Shares(node.outputs[0]);
    const double all = std::accumulate(of_y.begin(), of_y.end(), 0.0);
    for (double& share : Shares(input)) share += all / static_cast<double>(Groups(input).size());
  }

  template <typename Function>  // f(input, channel)
  void ForEachInput(const Node& node, const Function& f) {
    for (const ValueId id : node.inputs) {
      if (!id.valid()) continue;
      for (size_t c = 0; c < Groups(id).size(); ++c) f(id, c);
    }
  }

  const Graph& graph_;
  const ChannelGroups& groups_;
  std::vector<std::vector<double>> shares_;          // by value, by channel
  std::vector<const std::vector<double>*> squares_;  // by value: measured, or null
};

}  // namespace

std::vector<std::vector<double>> ProductRelevance(const Graph& graph, const ChannelGroups& groups,
                                                  const MeasuredChannels& measured) {
  return Backwards(graph, groups, measured).Run();
}

}  // namespace rshift
