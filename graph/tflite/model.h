// .tflite file -> ONNX model in memory, which the importer reads like any other.
#ifndef RSHIFT_GRAPH_TFLITE_MODEL_H_
#define RSHIFT_GRAPH_TFLITE_MODEL_H_

#include <span>

#include "graph/onnx/proto.h"

namespace rshift {

// By the file identifier.
bool IsTflite(std::span<const uint8_t> bytes);
// The domain of nodes that ONNX does not have. QuantizeLinear and DequantizeLinear of it are those
// of TensorFlow Lite's 16x8: s16 with zero point 0, and s64 biases, which stay integers (ONNX's own
// give numbers computed in F32: quantize/NUMERICS.md section 20). All others stand for operators
// that cannot be translated; why not is their doc_string.
inline constexpr char kTfliteDomain[] = "tflite";

// Inputs and outputs keep type, shape (NHWC) and names. Dimensions that the file leaves open have
// the size that LiteRT gives them without a resize, unless `open`: then they are open in the ONNX
// model, too. Throws kInvalidInput for a damaged file, kUnsupported for what is unlike a network;
// operators that are not supported become nodes of kTfliteDomain. The model's
// doc_string is what users should know of it: that variables became inputs and outputs.
onnx::ModelProto TranslateTflite(std::span<const uint8_t> bytes, bool open);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_TFLITE_MODEL_H_
