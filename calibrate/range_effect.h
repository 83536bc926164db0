// What a range does to the values that were measured.
#ifndef RSHIFT_CALIBRATE_RANGE_EFFECT_H_
#define RSHIFT_CALIBRATE_RANGE_EFFECT_H_

#include <span>

#include "calibrate/statistics.h"
#include "quantize/ranges/table.h"

namespace rshift {

// Fills `symmetric` and `asymmetric` of every tensor from its histogram, and `reason` where nobody
// has given one yet. `tables`: derived from `statistics`, their ranges as they are written.
// `threads`: 0: DefaultThreads().
void DescribeRanges(const StatisticsFile& statistics, std::span<CalibrationTable> tables,
                    int threads = 1);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_RANGE_EFFECT_H_
