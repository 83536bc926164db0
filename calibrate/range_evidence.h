// How much data a range rests on.
#ifndef RSHIFT_CALIBRATE_RANGE_EVIDENCE_H_
#define RSHIFT_CALIBRATE_RANGE_EVIDENCE_H_

#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "quantize/ranges/table.h"

namespace rshift {

// A tensor of which almost every sample needs less than half of the range: `samples` of `of` reach
// further, the others at most `others`.
struct ThinRange {
  std::string tensor;
  float threshold = 0, others = 0;
  uint64_t samples = 0, of = 0;
};

// Tensors whose range at most one sample in a hundred (and at least one) fills to a half, largest
// ratio of threshold to others first. Known ranges rest on nothing and are not listed, nor is
// anything of fewer than 8 samples. `table`: derived from `statistics`.
std::vector<ThinRange> FindThinRanges(const StatisticsFile& statistics,
                                      const CalibrationTable& table);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_RANGE_EVIDENCE_H_
