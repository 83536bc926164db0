// How single operators are rewritten from ONNX order to NHWC.
#ifndef RSHIFT_GRAPH_PASSES_LAYOUT_OPS_H_
#define RSHIFT_GRAPH_PASSES_LAYOUT_OPS_H_

#include "graph/passes/layout_builder.h"

namespace rshift {

// Each gives false, having done nothing, when the node is not its case.

// Conv, pools, Resize over H and W...: always NHWC.
bool AddSpatial(LayoutBuilder& builder, const Node& node);
// PRelu with a constant slope for each channel: always NHWC.
bool AddChannelPRelu(LayoutBuilder& builder, const Node& node);
// Operators without a layout of their own follow an input that is NHWC.
bool AddFollower(LayoutBuilder& builder, const Node& node);
// Gather of one index from a reading of NHWC memory (the halves of a ShuffleNet block): a Slice of
// it.
bool AddSelection(LayoutBuilder& builder, const Node& node);
// MatMul of flattened NHWC: the rows of the constant factor are permuted instead of the
// activations.
bool AddMatMulOfFlattened(LayoutBuilder& builder, const Node& node);
// Everything else reads and writes ONNX order.
void AddPlain(LayoutBuilder& builder, const Node& node);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_LAYOUT_OPS_H_
