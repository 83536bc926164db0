// The passes that come before the layout.
#ifndef RSHIFT_GRAPH_PASSES_ONNX_ORDER_H_
#define RSHIFT_GRAPH_PASSES_ONNX_ORDER_H_

#include "graph/graph.h"

namespace rshift {

// RunPasses (passes.h) up to ToNhwc: folded and fused as there, every value in ONNX order.
Graph RunPassesInOnnxOrder(Graph graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_ONNX_ORDER_H_
