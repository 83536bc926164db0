// Which finite values are a mask as much as minus infinity is. Not for use outside calibrate/ and
// its tests.
#ifndef RSHIFT_CALIBRATE_MASK_LIMITS_H_
#define RSHIFT_CALIBRATE_MASK_LIMITS_H_

#include <vector>

#include "graph/graph.h"

namespace rshift {

// By value: finite elements at or below the limit stand for minus infinity; minus infinity where
// none does. Exporters mask attention with -10000, -1e9 or the lowest float, added to the scores or
// chosen by a Where; a Softmax or Exp makes exactly 0 of what lies some 104 below the rest. A
// value has a limit when all its readers lead such elements to a Softmax or Exp and nowhere else;
// it is -5000 (a score may have been added to -10000), and less far down behind a product with a
// small constant, but never above -1000. A constant of nothing but 0 and m <= -50 that is added
// (-100 between the windows of Swin) makes it m / 2. A sample without any value above the limit has
// no masks: there they are scores (TensorCounter).
std::vector<float> MaskLimits(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_MASK_LIMITS_H_
