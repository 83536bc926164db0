// What a range does to the values that were measured.
#ifndef RSHIFT_CALIBRATE_RANGE_EFFECT_H_
#define RSHIFT_CALIBRATE_RANGE_EFFECT_H_

#include "calibrate/statistics.h"
#include "quantize/ranges/table.h"

namespace rshift {

// Fills `symmetric` and `asymmetric` of every tensor from its histogram, and `reason` where nobody
// has given one yet. `table`: derived from `statistics`, its ranges as they are written.
void DescribeRanges(const StatisticsFile& statistics, CalibrationTable& table);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_RANGE_EFFECT_H_
