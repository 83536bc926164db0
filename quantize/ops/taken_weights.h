// Weights that a QDQ model brings as integers.
#ifndef RSHIFT_QUANTIZE_OPS_TAKEN_WEIGHTS_H_
#define RSHIFT_QUANTIZE_OPS_TAKEN_WEIGHTS_H_

#include "quantize/ops/weight_request.h"
#include "quantize/report.h"

namespace rshift {

// QuantizeWeights (weights.h) of a request that has `weights_origin`.
void TakeModelWeights(const WeightRequest& r, QuantizeReport* report, QuantizedWeights* result);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_TAKEN_WEIGHTS_H_
