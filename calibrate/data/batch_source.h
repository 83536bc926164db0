// Single samples put together for an input that takes several at once. Not for use outside
// calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_BATCH_SOURCE_H_
#define RSHIFT_CALIBRATE_DATA_BATCH_SOURCE_H_

#include <memory>
#include <vector>

#include "calibrate/data/source.h"

namespace rshift {

// How many samples the input takes at once: its leading dimension, at least 1.
int64_t BatchOf(const InputSpec& spec);
// The same input for one of them: a leading dimension of 1.
InputPlan OfOneSample(InputPlan plan);

// Every `batch` consecutive items of `items` are one sample. What is left over at the end is no
// sample: size() * batch items are used.
std::unique_ptr<Source> BatchSource(std::vector<std::unique_ptr<Source>> items, int64_t batch);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_BATCH_SOURCE_H_
