// What the histogram of a tensor says of its values.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_VALUE_SHAPE_H_
#define RSHIFT_PIPELINE_DIAGNOSE_VALUE_SHAPE_H_

#include "calibrate/statistics.h"
#include "pipeline/diagnose/facts.h"

namespace rshift {

// Fills min, max, bulk_peak, bulk_rms, gap and, of tensors with a range, clipped.
void DescribeValues(const TensorStatistics& statistics, TensorFacts& facts);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_VALUE_SHAPE_H_
