// What calibration measures of a network that is equalized: the tensors as they are scaled, and as
// the model has them, so that one table serves programs with the equalization and without, and with
// more of it, which is tried where the program is made.
#ifndef RSHIFT_PIPELINE_EQUALIZED_STATISTICS_H_
#define RSHIFT_PIPELINE_EQUALIZED_STATISTICS_H_

#include "calibrate/statistics.h"
#include "graph/graph.h"
#include "quantize/ranges/equalization.h"

namespace rshift {

// A model equalized in three ways. All after RunPasses.
struct EqualizedGraphs {
  Graph model;  // as it is
  Graph usual;  // by the equalization
  Graph tried;  // by the trial, too; the same as `usual` where there is nothing to try
};
// Throws as Equalize does, `where` in front.
EqualizedGraphs EqualizeGraphs(const Graph& model, const Equalization& equalization,
                               const Equalization& trial, const std::string& where);

// What is measured: `tried` of the graphs, and the tensors of the model beside its scaled ones.
Graph ObservedGraph(const EqualizedGraphs& graphs, const Equalization& equalization,
                    const Equalization& trial);

// Of an ObservedGraph's statistics those of the tensors of `graph`, which is one of the three.
StatisticsFile StatisticsOf(const StatisticsFile& observed, const Graph& graph);

// Statistics of an ObservedGraph by whose tensors they are.
struct EqualizedStatistics {
  StatisticsFile usual;  // of all tensors of `usual`
  StatisticsFile model;  // of all of `model`; of none where nothing is equalized, or it was
                         // measured by an older program
  StatisticsFile tried;  // of the scaled tensors which the trial alone scales
};
EqualizedStatistics SplitStatistics(const StatisticsFile& observed, const EqualizedGraphs& graphs);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_EQUALIZED_STATISTICS_H_
