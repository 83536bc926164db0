// Other integers for the weights of a float graph's products.
#ifndef RSHIFT_QUANTIZE_SET_WEIGHTS_H_
#define RSHIFT_QUANTIZE_SET_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// weight = scale of its output channel * integer.
struct ChosenWeights {
  std::vector<float> scales;     // one for each output channel, or one
  std::vector<int8_t> integers;  // in the order of the constant
  int bits = 8;                  // 4: all in [-7, 7]
};
// By the name of a Conv or MatMul; other operators may have that name, too, where a pass wrote
// several nodes for one.
using NodeWeights = std::map<std::string, ChosenWeights>;

// `graph`: after RunPasses. The float weights stay, for programs in F32; QuantizeGraph, with
// QuantizeOptions::scaled_weights, takes the integers as they are. No other node may read a
// constant that is given integers.
Graph SetWeights(Graph graph, const NodeWeights& weights);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_SET_WEIGHTS_H_
