// Other biases in a float graph's products with weights.
#ifndef RSHIFT_QUANTIZE_SET_BIASES_H_
#define RSHIFT_QUANTIZE_SET_BIASES_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// By the name of a Conv, ConvTranspose or MatMul: its whole bias, one number for each output
// channel.
using NodeBiases = std::map<std::string, std::vector<float>>;

// `graph`: after RunPasses, or in ONNX order (RunPassesInOnnxOrder). A node without a bias gets
// one; a constant that several nodes read stays the others'.
Graph SetBiases(Graph graph, const NodeBiases& biases);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_SET_BIASES_H_
