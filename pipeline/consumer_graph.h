// The operators that read one tensor, as a graph of their own.
#ifndef RSHIFT_PIPELINE_CONSUMER_GRAPH_H_
#define RSHIFT_PIPELINE_CONSUMER_GRAPH_H_

#include <string>

#include "graph/graph.h"

namespace rshift {

// Inputs: the tensor first, then what else its consumers read and no constant is. Outputs: what
// they make. Values keep their names. An operator that only moves elements, or chooses among them
// (MaxPool), is followed to those that compute with them.
struct ConsumerGraph {
  Graph graph;          // without nodes where nobody computes with the tensor
  std::string readers;  // "Conv 'conv2'", "Add 'add3' and 2 more"; "" for none
  // Why none of its values may be clipped, "" for no reason: "read by a Softmax", "an output of the
  // model", itself or moved, joined (Concat) or averaged (AveragePool, Resize).
  std::string keep_all;
};

// `graph`: float, after RunPasses.
ConsumerGraph ConsumersOf(const Graph& graph, ValueId tensor);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CONSUMER_GRAPH_H_
