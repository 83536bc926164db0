// Scales along an axis of an activation go into the weights around it (channel_scales.cc).
#ifndef RSHIFT_GRAPH_ONNX_CHANNEL_SCALES_H_
#define RSHIFT_GRAPH_ONNX_CHANNEL_SCALES_H_

#include "graph/graph.h"

namespace rshift {

// `graph`: in ONNX order, as the import or SplitFakeQuantize gives it.
Graph FoldChannelScales(Graph graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_CHANNEL_SCALES_H_
