// What brings the columns of a table, or other inputs of unlike units, to one scale.
#ifndef RSHIFT_QUANTIZE_INPUT_SCALERS_H_
#define RSHIFT_QUANTIZE_INPUT_SCALERS_H_

#include <vector>

#include "graph/graph.h"

namespace rshift {

// By node: whether it is one of the sums, differences, products and quotients with constants,
// movements between them included, that alone read an F32 input of the model, one behind the other,
// and of which one has factors for the channels that lie kUnlikeFactors apart or more: the input's
// channels do so, too, and the one scale of its bytes would round the small ones away. They are few
// operations, on numbers that come in F32.
std::vector<bool> InputScalers(const Graph& graph);

inline constexpr float kUnlikeFactors = 8;

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INPUT_SCALERS_H_
