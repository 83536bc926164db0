// Where infinities are a mask and not an overflow.
#ifndef RSHIFT_CALIBRATE_INFINITY_RULES_H_
#define RSHIFT_CALIBRATE_INFINITY_RULES_H_

#include <vector>

#include "calibrate/statistics.h"
#include "graph/graph.h"

namespace rshift {

// By value. An infinity passes when every reader swallows it: Softmax and Exp make 0 of -inf, a
// maximum drops it, a Where may drop both (what it lets through shows in its output). Movements,
// sums, and products with constants hand it on to their own readers. Graph outputs let none pass.
std::vector<InfinityRule> InfinityRules(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_INFINITY_RULES_H_
