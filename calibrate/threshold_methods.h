// The function behind each threshold method. Not for use outside calibrate: DeriveRange calls it.
#ifndef RSHIFT_CALIBRATE_THRESHOLD_METHODS_H_
#define RSHIFT_CALIBRATE_THRESHOLD_METHODS_H_

#include "calibrate/threshold.h"

namespace rshift {

// Narrows `range`, which comes as the whole observed one (threshold > 0): threshold for the
// symmetric mode (255 levels when min >= 0, else the signed range), low and high for the asymmetric
// one, two-sided.
#define RSHIFT_METHOD(name, text)                                                     \
  void Derive##name(const TensorStatistics& statistics, const MethodOptions& options, \
                    TensorRange& range);
#include "calibrate/methods.def"

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_THRESHOLD_METHODS_H_
