#include "pipeline/search/noise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "pipeline/layer_compare.h"

namespace rshift {
namespace {

// A gain is a quotient of noises that were measured on few samples: it is kept between these.
constexpr double kLeastGain = 1e-3, kMostGain = 2;
constexpr double kNoNoise = 1e-12, kOnlyNoise = 1;

double ShareOf(const Similarity& similarity) {
  if (similarity.has_nan) return kOnlyNoise;
  return std::clamp(std::pow(10, -similarity.sqnr_db / 10), kNoNoise, kOnlyNoise);
}

std::vector<ValueId> NoisyInputs(const Graph& graph, const Node& node) {
  std::vector<ValueId> read;
  for (const ValueId id : node.inputs) {
    if (id.valid() && !graph.value(id).is_constant()) read.push_back(id);
  }
  return read;
}

// By value: how much of its noise the outputs have.
std::vector<double> ReachOfOutputs(const Graph& graph, const std::vector<double>& noise) {
  const auto count = static_cast<size_t>(graph.value_count());
  std::vector<double> accumulated(count, kNoNoise), gains(graph.nodes().size(), 1);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const std::vector<ValueId> read = NoisyInputs(graph, node);
    double before = 0;
    for (const ValueId id : read)
      before += accumulated[id.index()] / static_cast<double>(read.size());
    double& after = accumulated[node.outputs[0].index()];
    after = std::max(before, kNoNoise);  // of a tensor that fusion has taken away
    if (noise[2 * n] < 0) continue;
    after = noise[2 * n];
    if (before > kNoNoise)
      gains[n] = std::clamp((after - noise[2 * n + 1]) / before, kLeastGain, kMostGain);
  }
  std::vector<double> reach(count, 0);
  for (const ValueId id : graph.outputs) reach[id.index()] += 1;
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const std::vector<ValueId> read = NoisyInputs(graph, node);
    const double own = reach[node.outputs[0].index()] * gains[n];
    for (const ValueId id : read) reach[id.index()] += own / static_cast<double>(read.size());
  }
  return reach;
}

}  // namespace

std::vector<double> MeasureNoise(const Graph& floating, const Graph& integer,
                                 const Dataset& samples) {
  std::map<std::string, const LayerResult*> found;
  const std::vector<LayerResult> layers = CompareLayers(floating, integer, samples, /*threads=*/1);
  for (const LayerResult& layer : layers) found[layer.tensor] = &layer;
  std::vector<double> noise;
  for (const Node& node : floating.nodes()) {
    const auto layer = found.find(floating.value(node.outputs[0]).name);
    const bool there = layer != found.end();
    noise.push_back(there ? ShareOf(layer->second->similarity) : -1);
    noise.push_back(there ? ShareOf(layer->second->alone) : -1);
  }
  return noise;
}

std::vector<double> NoiseOfGroups(const Graph& floating, const std::vector<OperatorGroup>& groups,
                                  const std::vector<double>& alone,
                                  const std::vector<double>& gains) {
  const std::vector<double> reach = ReachOfOutputs(floating, gains);
  std::map<std::string, double> noise;
  for (size_t n = 0; n < floating.nodes().size(); ++n) {
    const ValueId made = floating.nodes()[n].outputs[0];
    noise[floating.value(made).name] = std::max(0.0, alone[2 * n + 1]) * reach[made.index()];
  }
  std::vector<double> result;
  for (const OperatorGroup& group : groups) {
    double sum = 0;
    for (const std::string& tensor : group.tensors) sum += noise[tensor];
    result.push_back(sum);
  }
  return result;
}

}  // namespace rshift
