// The bytes of tensors that stand in files beside the model.
#ifndef RSHIFT_GRAPH_ONNX_EXTERNAL_DATA_H_
#define RSHIFT_GRAPH_ONNX_EXTERNAL_DATA_H_

#include <span>
#include <string>

#include "graph/onnx/tensor.h"

namespace rshift {

// Those that `tensor` names, of a file that is mapped once. Throws kInvalidInput for a path that
// leaves the model's folder or is a link, and where the file ends too early; kIo where it cannot be
// opened.
std::span<const uint8_t> ExternalBytes(const onnx::TensorProto& tensor, ExternalData& external,
                                       const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_EXTERNAL_DATA_H_
