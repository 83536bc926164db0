// Executes little graphs, float and integer, element by element: the oracle of the quantizer's
// tests. Independent of the runtime; integer operators are spelled with quantize/numerics, float
// ones in double.
#ifndef RSHIFT_TESTS_QUANTIZE_INTERPRETER_H_
#define RSHIFT_TESTS_QUANTIZE_INTERPRETER_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift::test {

// Numbers of any element type.
struct Tensor {
  Shape shape;
  std::vector<double> data;
};
using Tensors = std::map<std::string, Tensor>;

// All values of the graph by name. Fails the test on an operator it does not know.
Tensors Execute(const Graph& graph, const Tensors& inputs);

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_QUANTIZE_INTERPRETER_H_
