// Functions of one value that are written as several operators, told by what they compute.
#ifndef RSHIFT_GRAPH_PASSES_FUNCTIONS_H_
#define RSHIFT_GRAPH_PASSES_FUNCTIONS_H_

#include "graph/graph.h"

namespace rshift {

// Where a value is made from one other value and single numbers alone, element by element, by
// operators that nothing else reads, and is to float accuracy what a Unary, a Clip or a LeakyRelu
// makes of it, that operator takes the place of all of them: ELU, SELU and CELU as PyTorch and JAX
// write them by Where, with and without a second Where that keeps exp() in range, a maximum of x
// and 0.1 x, 1 / (1 + exp(-x)). The functions are compared at two hundred values from -40 to 40 and
// on both sides of each number that the operators hold, so neither the order of operands nor the
// choice of operators matters.
Graph RecognizeFunctions(Graph graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_FUNCTIONS_H_
