#include "pipeline/equalized_statistics.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "quantize/equalize/apply.h"
#include "quantize/ranges/ranges.h"

namespace rshift {
namespace {

Equalization Joined(Equalization equalization, const Equalization& trial) {
  equalization.insert(equalization.end(), trial.begin(), trial.end());
  return equalization;
}

// Of `observed`, whatever is not of a tensor.
StatisticsFile WithoutTensors(const StatisticsFile& observed) {
  StatisticsFile file;
  file.model_sha256 = observed.model_sha256;
  file.pass_list_version = observed.pass_list_version;
  file.preprocess = observed.preprocess;
  file.environment = observed.environment;
  file.samples = observed.samples;
  file.recorded = observed.recorded;
  file.equalization = observed.equalization;
  file.trial = observed.trial;
  return file;
}

}  // namespace

EqualizedGraphs EqualizeGraphs(const Graph& model, const Equalization& equalization,
                               const Equalization& trial, const std::string& where) {
  return {model, Equalize(model, equalization, where),
          Equalize(model, Joined(equalization, trial), where)};
}

Graph ObservedGraph(const EqualizedGraphs& graphs, const Equalization& equalization,
                    const Equalization& trial) {
  return WithUnequalized(graphs.tried, Joined(equalization, trial));
}

StatisticsFile StatisticsOf(const StatisticsFile& observed, const Graph& graph) {
  std::map<std::string, const TensorStatistics*> measured;
  for (const TensorStatistics& tensor : observed.tensors) measured[tensor.name] = &tensor;
  StatisticsFile file = WithoutTensors(observed);
  for (const ValueId id : CalibratedValues(graph)) {
    const std::string& name = graph.value(id).name;
    auto found = measured.find(name);
    if (found == measured.end()) found = measured.find(Cat(name, kUnequalizedSuffix));
    RSHIFT_REQUIRE(found != measured.end(), ErrorCode::kInvalidInput,
                   "the statistics lack tensor '", name,
                   "' as the model has it (an older model_calibrate made them); measure again");
    file.tensors.push_back(*found->second);
    file.tensors.back().name = name;
  }
  return file;
}

EqualizedStatistics SplitStatistics(const StatisticsFile& observed, const EqualizedGraphs& graphs) {
  EqualizedStatistics split{StatisticsOf(observed, graphs.usual), WithoutTensors(observed),
                            WithoutTensors(observed)};
  const bool both = std::any_of(
      observed.tensors.begin(), observed.tensors.end(),
      [](const TensorStatistics& tensor) { return tensor.name.ends_with(kUnequalizedSuffix); });
  if (both && !observed.equalization.empty()) split.model = StatisticsOf(observed, graphs.model);
  std::set<std::string> scaled;
  for (const ChannelExponents& entry : observed.trial)
    scaled.insert(Cat(entry.tensor, kEqualizedSuffix));
  for (const TensorStatistics& tensor : observed.tensors) {
    if (scaled.contains(tensor.name)) split.tried.tensors.push_back(tensor);
  }
  return split;
}

}  // namespace rshift
