// Test oracle: runs a float Graph in double with naive loops, literally after the ONNX definitions.
// Values are held in memory order; operators with H and W convert NHWC to NCHW and back.
#ifndef RSHIFT_TESTS_GRAPH_REFERENCE_H_
#define RSHIFT_TESTS_GRAPH_REFERENCE_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift::reference {

struct Tensor {
  Shape shape;
  std::vector<double> data;
};

Tensor Zeros(const Shape& shape);

// Inputs by name, in ONNX order; every value's result by name, in ONNX order.
std::map<std::string, Tensor> RunAll(const Graph& graph,
                                     const std::map<std::string, Tensor>& inputs);

// The graph's outputs under their public names.
std::map<std::string, Tensor> Run(const Graph& graph, const std::map<std::string, Tensor>& inputs);

}  // namespace rshift::reference

#endif  // RSHIFT_TESTS_GRAPH_REFERENCE_H_
