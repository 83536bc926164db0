// Threshold methods: statistics -> where to clip, for both modes. Milliseconds each, from the
// histogram alone.
#ifndef RSHIFT_CALIBRATE_THRESHOLD_H_
#define RSHIFT_CALIBRATE_THRESHOLD_H_

#include <string>

#include "calibrate/statistics.h"
#include "quantize/ranges/table.h"

namespace rshift {

enum class Method { kMinMax, kPercentile, kKl };
// Throws kInvalidInput naming the methods there are.
Method ParseMethod(const std::string& name);

struct MethodOptions {
  Method method = Method::kKl;
  double percentile = 99.99;  // (50, 100]
};

// threshold: symmetric (255 levels when min >= 0, else the signed range); low/high: the asymmetric
// pair, found two-sided. Constant-zero tensors give zeros.
TensorRange DeriveRange(const TensorStatistics& statistics, const MethodOptions& options);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_THRESHOLD_H_
