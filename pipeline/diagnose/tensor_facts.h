// The activations of a graph as the rules of diagnose see them.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_TENSOR_FACTS_H_
#define RSHIFT_PIPELINE_DIAGNOSE_TENSOR_FACTS_H_

#include <map>
#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "graph/graph.h"
#include "pipeline/diagnose/channel_extremes.h"
#include "pipeline/diagnose/facts.h"
#include "pipeline/layer_compare.h"
#include "quantize/ranges/ranges.h"

namespace rshift {

struct TensorSources {
  const Graph& graph;  // after the passes and the equalization
  const CalibrationTable& table;
  QuantMode mode;
  const StatisticsFile& statistics;  // of `graph`
  const std::map<std::string, ChannelExtremes>& extremes;
  const std::vector<LayerResult>& layers;
};

// CalibratedValues of the graph, in its order.
std::vector<TensorFacts> DescribeTensors(const TensorSources& sources);
}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_TENSOR_FACTS_H_
