// What brings the columns of a table, or other inputs of unlike units, to one scale.
#ifndef RSHIFT_QUANTIZE_INPUT_SCALERS_H_
#define RSHIFT_QUANTIZE_INPUT_SCALERS_H_

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

// By node: whether it is one of the sums, differences, products and quotients with constants,
// movements between them included, that alone read an F32 input of the model, one behind the other,
// and behind which a step of the input's bytes is, by their largest factors, kStepsOfResult steps
// of the result's or more: channels that lie far apart, or far from 0, before them lie close
// together behind them, and the one scale of bytes before them would round the small ones away.
// These are few operations, on numbers that come in F32: not of `integer_inputs`. So are the
// factors of an equalized input (equalize/apply.h). `table`: the ranges measured; without any there
// are none.
std::vector<bool> InputScalers(const Graph& graph, const CalibrationTable& table,
                               const std::set<std::string>& integer_inputs);

inline constexpr float kStepsOfResult = 8;

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INPUT_SCALERS_H_
