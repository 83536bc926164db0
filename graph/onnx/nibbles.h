// Integers of 4 bits (ONNX's INT4 and UINT4), stored two to a byte: read as integers of 8 bits.
#ifndef RSHIFT_GRAPH_ONNX_NIBBLES_H_
#define RSHIFT_GRAPH_ONNX_NIBBLES_H_

#include "graph/onnx/proto.h"
#include "graph/onnx/tensor.h"

namespace rshift {

// Enumerators that Debian's libonnx does not know.
inline constexpr int kOnnxUint4 = 21, kOnnxInt4 = 22;

inline bool IsNibbles(int onnx_type) { return onnx_type == kOnnxUint4 || onnx_type == kOnnxInt4; }

// The same tensor with elements of 8 bits. Throws kInvalidInput when data and dimensions disagree.
onnx::TensorProto WidenNibbles(const onnx::TensorProto& tensor, ExternalData& external,
                               const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_NIBBLES_H_
