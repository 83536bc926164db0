// What model_calibrate says at its end.
#ifndef RSHIFT_TOOLS_CALIBRATE_SUMMARY_H_
#define RSHIFT_TOOLS_CALIBRATE_SUMMARY_H_

#include <string>
#include <vector>

#include "pipeline/calibrate.h"

namespace rshift {

struct WrittenTable {
  std::string path;
  const CalibrationTable* table = nullptr;
};

// Size and method of each table (one at least), what was equalized, infinities left out, ranges
// that hang on few samples; or all of it as JSON.
void PrintCalibration(const std::vector<WrittenTable>& tables, const CalibrateResult& result,
                      bool json);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CALIBRATE_SUMMARY_H_
