// Tensors that an equalization scales, as the model has them: a table says of them what it would
// say without the equalization, so that one calibration serves programs with it and without.
#ifndef RSHIFT_PIPELINE_UNEQUALIZED_H_
#define RSHIFT_PIPELINE_UNEQUALIZED_H_

#include "calibrate/statistics.h"

namespace rshift {

// Takes out of `statistics` those of the values of WithUnequalized (quantize/equalize/apply.h),
// which stand at its end: what is left is of the equalized graph alone. Their names become the
// model's.
StatisticsFile TakeUnequalized(StatisticsFile* statistics);
// Makes `statistics` what it was before that.
void PutBackUnequalized(StatisticsFile unequalized, StatisticsFile* statistics);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_UNEQUALIZED_H_
