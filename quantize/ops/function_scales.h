// Scales of the byte between a product and the function of one value behind it.
#ifndef RSHIFT_QUANTIZE_OPS_FUNCTION_SCALES_H_
#define RSHIFT_QUANTIZE_OPS_FUNCTION_SCALES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/ops/function_chains.h"
#include "quantize/ops/fuse_post_ops.h"

namespace rshift {

// What the function makes of x, in quanta of its result and held to the integers that there are;
// and in how many channels.
struct HeldFunction {
  std::function<double(double)> y;
  double channels = 1;
};

// How x in [low, high], low <= 0 <= high, is numbered by the integers from `qmin` to qmin + 255.
struct FunctionScales {
  float positive = 1, negative = 1;
  int32_t zero_point = 0;
  double error = 0;  // as FunctionError()
};

// The scales with the least error. Deterministic; a thousand evaluations of each function.
FunctionScales ChooseFunctionScales(const std::vector<HeldFunction>& functions, double low,
                                    double high, int32_t qmin);
// The squared error of the results, in quanta, that rounding x to a multiple of `scale` makes:
// scale^2 / 12 times the square of the slope, integrated over [low, high], where x is the less
// likely the farther out it lies. What lies beyond the last integer counts with all that is lost
// there.
double FunctionError(const std::vector<HeldFunction>& functions, double low, double high,
                     double scale);

// SiLU and its like make much of what lies above zero and little of what lies below; sigmoids
// nothing of what lies far out. The byte that a table alone reads may have a step for each side,
// and end where the function does: NUMERICS.md section 10.1. Sets the types of such bytes in
// `types`, and FusedPostOps::slopes of the products that write them, wherever the error becomes
// smaller by a fifth. `given`: ranges by tensor that the user has set; those tensors keep their
// scale. Of a chain the function is the whole of it. The rest of the arguments: FindProductReaders.
void FindFunctionScales(const Graph& graph, const QuantizationPlan& plan,
                        const QuantizeOptions& options, const std::set<size_t>& others,
                        const std::map<std::string, ValueRange>& given,
                        const FunctionChains& chains, ValueTypes* types, PostOpPlan* post_ops);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_FUNCTION_SCALES_H_
