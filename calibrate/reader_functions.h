// Functions of one element that are all that reads a tensor: what clipping and rounding do to it
// matters only as far as they show it.
#ifndef RSHIFT_CALIBRATE_READER_FUNCTIONS_H_
#define RSHIFT_CALIBRATE_READER_FUNCTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

using TensorFunctions = std::map<std::string, std::vector<Unary>>;

// By tensor: Sigmoid, HardSigmoid, Tanh ..., each once, also behind nodes that move or join values.
// A tensor that something else reads too, or that is an output of the model, is not in it. Softmax
// is none of these: what a small value means depends on the others of its row.
TensorFunctions ReaderFunctions(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_READER_FUNCTIONS_H_
