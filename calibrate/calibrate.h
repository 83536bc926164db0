// Runs the F32 program over a data set with observers.
#ifndef RSHIFT_CALIBRATE_CALIBRATE_H_
#define RSHIFT_CALIBRATE_CALIBRATE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "calibrate/observed_program.h"
#include "calibrate/reader_functions.h"
#include "calibrate/statistics.h"
#include "calibrate/threshold.h"
#include "graph/graph.h"

namespace rshift {

// CPU seconds of the threads of a run, added up.
struct CollectTimes {
  double network = 0, statistics = 0;  // running it, counting its values
  uint64_t elements = 0;               // counted, those of every tensor
  CollectTimes& operator+=(const CollectTimes& other) {
    network += other.network;
    statistics += other.statistics;
    elements += other.elements;
    return *this;
  }
};

struct CollectOptions {
  int threads = 0;  // samples in parallel, each by one thread; one more thread reads ahead
  ProgressFunction progress = {};
  std::string checkpoint;  // "" or a file to which partial statistics are saved now and then
  bool resume = false;     // start from the checkpoint when it exists and fits
  std::function<bool()> interrupted;           // polled; true: save the checkpoint and throw
  Equalization equalization = {}, trial = {};  // which the graph has already; recorded
  CollectTimes* times = nullptr;               // filled where given
  // Hears before the first sample how many bytes the process will have at its peak.
  std::function<void(uint64_t bytes)> memory = {};
};

// `graph`: after RunPasses; `observed`: its program. Gathers statistics of CalibratedValues(graph)
// over `samples` of the data set. The result does not depend on threads or order.
StatisticsFile CollectStatistics(const Graph& graph, ObservedProgram& observed,
                                 const Dataset& dataset, const std::vector<int64_t>& samples,
                                 const std::string& preprocess_text, const CollectOptions& options);

// One table for each of `methods`. All work from the statistics alone, and omse from what
// ReaderFunctions says, too. `threads`: 0: DefaultThreads().
std::vector<CalibrationTable> DeriveTables(const StatisticsFile& statistics,
                                           std::span<const MethodOptions> methods,
                                           const TensorFunctions& readers = {}, int threads = 1);
CalibrationTable DeriveTable(const StatisticsFile& statistics, const MethodOptions& options,
                             const TensorFunctions& readers = {}, int threads = 1);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_CALIBRATE_H_
