// Conv, ConvTranspose and pools over three dimensions, written as 2-D ones.
#ifndef RSHIFT_GRAPH_ONNX_VOLUME_H_
#define RSHIFT_GRAPH_ONNX_VOLUME_H_

#include "graph/onnx/body.h"

namespace rshift {

// x: [N, C, D, H, W].
void ImportVolumeConv(OnnxNode& node);
void ImportVolumeConvTranspose(OnnxNode& node);
// op_type: MaxPool or AveragePool.
void ImportVolumePool(OnnxNode& node, const char* op_type);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_VOLUME_H_
