#include "calibrate/observation.h"

#include <map>

#include "base/error.h"
#include "calibrate/infinity_rules.h"
#include "calibrate/mask_limits.h"
#include "quantize/ranges/ranges.h"

namespace rshift {
namespace {

// The last command that writes the tensor (a Concat has one for each part); -1: it is an input.
int CompleteAfter(const ProgramImage& image, int tensor) {
  for (const Binding& input : image.inputs) {
    if (input.tensor == tensor) return -1;
  }
  for (size_t i = image.commands.size(); i-- > 0;) {
    if (image.commands[i].Tensor(Field::kDst) == tensor) return static_cast<int>(i);
  }
  Fail(ErrorCode::kInternal, "calibration: nothing in the program writes tensor '",
       image.tensors[tensor].name, "'");
}

// A tensor made of more than these is observed itself: Concat of a tensor with itself, again and
// again, has twice as many each time.
constexpr size_t kMostSources = 64;

// For each value: the statistics of observed values that its elements are counted in. `statistic`:
// by value, -1 for those that have none.
std::vector<std::vector<int>> FindSources(const Graph& graph, const std::vector<int>& statistic) {
  std::vector<std::vector<int>> sources(statistic.size());
  for (const ValueId id : graph.inputs) {
    if (statistic[id.index()] >= 0) sources[id.index()] = {statistic[id.index()]};
  }
  for (const Node& node : graph.nodes()) {
    const size_t y = node.outputs[0].index();
    std::vector<int> all;
    bool known = MovementOf(node.op) == Movement::kPermutes;
    const size_t read = std::holds_alternative<Concat>(node.op) ? node.inputs.size() : 1;
    for (size_t i = 0; known && i < read; ++i) {
      const std::vector<int>& part = sources[node.inputs[i].index()];
      known = !part.empty() &&  // else a constant, or itself made of too many
              all.size() + part.size() <= kMostSources;
      all.insert(all.end(), part.begin(), part.end());
    }
    if (known)
      sources[y] = std::move(all);
    else if (statistic[y] >= 0)
      sources[y] = {statistic[y]};
  }
  return sources;
}

}  // namespace

std::optional<CompleteTensor> FindComplete(const ProgramImage& image, const std::string& name) {
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    const TensorRecord& record = image.tensors[i];
    if (record.region != Region::kArena || record.name != name || record.dtype != DType::kF32)
      continue;
    return CompleteTensor{static_cast<int>(i), CompleteAfter(image, static_cast<int>(i))};
  }
  return std::nullopt;
}

ObservationPlan PlanObservation(const Graph& graph, const ProgramImage& image) {
  std::map<std::string, int> by_name;
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    if (image.tensors[i].region == Region::kArena)
      by_name[image.tensors[i].name] = static_cast<int>(i);
  }
  ObservationPlan plan;
  plan.after.resize(image.commands.size());
  const std::vector<ValueId> values = CalibratedValues(graph);
  std::vector<int> statistics(static_cast<size_t>(graph.value_count()), -1);
  for (size_t i = 0; i < values.size(); ++i) statistics[values[i].index()] = static_cast<int>(i);
  const std::vector<std::vector<int>> sources = FindSources(graph, statistics);
  const std::vector<InfinityRule> rules = InfinityRules(graph);
  const std::vector<float> mask_limits = MaskLimits(graph);
  for (const ValueId id : values) {
    const std::string& name = graph.value(id).name;
    const auto at = by_name.find(name);
    RSHIFT_REQUIRE(at != by_name.end() && image.tensors[at->second].dtype == DType::kF32,
                   ErrorCode::kInternal, "calibration: the program has no f32 tensor '", name, "'");
    const Observation observation{at->second, static_cast<int>(plan.names.size())};
    plan.names.push_back(name);
    plan.rules.push_back(rules[id.index()]);
    plan.rules.back().mask_limit = mask_limits[id.index()];
    if (image.tensors[at->second].bytes() == 0) continue;  // nothing to see
    if (const std::vector<int>& from = sources[id.index()];
        from != std::vector{observation.statistic}) {
      plan.derived.push_back({observation.statistic, from});
      continue;
    }
    const int command = CompleteAfter(image, at->second);
    (command < 0 ? plan.before : plan.after[static_cast<size_t>(command)]).push_back(observation);
  }
  return plan;
}

}  // namespace rshift
