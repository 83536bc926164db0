// Runs the F32 program over a data set with observers.
#ifndef RSHIFT_CALIBRATE_CALIBRATE_H_
#define RSHIFT_CALIBRATE_CALIBRATE_H_

#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "calibrate/reader_functions.h"
#include "calibrate/statistics.h"
#include "calibrate/threshold.h"
#include "graph/graph.h"

namespace rshift {

struct CollectOptions {
  int threads = 0;  // samples in parallel; each sample runs single-threaded
  ProgressFunction progress = {};
  std::string checkpoint;  // "" or a file to which partial statistics are saved now and then
  bool resume = false;     // start from the checkpoint when it exists and fits
  std::function<bool()> interrupted;  // polled; true: save the checkpoint and throw
  Equalization equalization = {};     // which the graph has already; recorded
};

// `graph`: after RunPasses. Gathers statistics of CalibratedValues(graph) over `samples` of the
// data set. The result does not depend on threads or order.
StatisticsFile CollectStatistics(const Graph& graph, const Dataset& dataset,
                                 const std::vector<int64_t>& samples,
                                 const std::string& preprocess_text, const CollectOptions& options);

// Every method works from the statistics alone, and omse from what ReaderFunctions says, too.
CalibrationTable DeriveTable(const StatisticsFile& statistics, const MethodOptions& options,
                             const TensorFunctions& readers = {});

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_CALIBRATE_H_
