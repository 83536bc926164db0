// The picture of a calibration: one HTML page with every tensor's histogram, what each threshold
// method makes of it, and the samples that set its ends.
#ifndef RSHIFT_PIPELINE_CALIBRATION_PAGE_H_
#define RSHIFT_PIPELINE_CALIBRATION_PAGE_H_

#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "graph/graph.h"
#include "pipeline/sample_pictures.h"
#include "quantize/ranges/table.h"

namespace rshift {

// Samples with the minimum or maximum of a tensor: the one that sets most of them first.
std::vector<RecordedSample> ExtremeSamplesOf(const StatisticsFile& statistics);

struct CalibrationPage {
  std::string model;  // its name, for people
  const Graph& graph;
  const StatisticsFile& statistics;
  const CalibrationTable& table;  // what was chosen
  // Of every threshold method, for the same statistics.
  const std::vector<CalibrationTable>& methods;
  SamplePictures pictures;  // of ExtremeSamplesOf
};

std::string CalibrationHtml(const CalibrationPage& page);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CALIBRATION_PAGE_H_
