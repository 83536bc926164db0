// What brings the columns of a table, or other inputs of unlike units, to one scale.
#ifndef RSHIFT_QUANTIZE_INPUT_SCALERS_H_
#define RSHIFT_QUANTIZE_INPUT_SCALERS_H_

#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

// By node: whether it is one of the sums, differences, products and quotients with constants,
// movements between them included, that alone read an F32 input of the model, one behind the other,
// and of which one has factors such that a step of its input's bytes is kStepsOfResult steps of the
// result's or more: channels that lie far apart before it lie close behind it, and the one scale of
// bytes before it would round the small ones away. These are few operations, on numbers that come
// in F32. `table`: the ranges measured; without any there are none.
std::vector<bool> InputScalers(const Graph& graph, const CalibrationTable& table);

inline constexpr float kStepsOfResult = 8;

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INPUT_SCALERS_H_
