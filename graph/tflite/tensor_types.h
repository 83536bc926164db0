// What the elements of a .tflite file's tensors are: their type, and how they are quantized.
#ifndef RSHIFT_GRAPH_TFLITE_TENSOR_TYPES_H_
#define RSHIFT_GRAPH_TFLITE_TENSOR_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/tflite/schema.h"

namespace rshift::tflite {

// The ONNX type of a tensor's elements; those of 4 bits are widened to 8. Throws kUnsupported.
int OnnxType(TensorType type, const std::string& where);

// Scale and zero point of all, or along an axis. None: the tensor is not quantized.
bool IsQuantized(const Tensor& tensor);
// s16 of one scale and without a zero point: TensorFlow Lite's 16x8.
bool IsInt16(const Tensor& tensor);
std::vector<float> ScalesOf(const Tensor& tensor);
int64_t ZeroPointOf(const Tensor& tensor, size_t channel = 0);
bool HaveEqualQuantization(const Tensor& a, const Tensor& b);
// Throws kUnsupported for scales of blocks, kInvalidInput where there are not as many as channels.
void CheckQuantization(const Tensor& tensor, const std::string& where);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_TENSOR_TYPES_H_
