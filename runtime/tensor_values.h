// Program tensors as users know them: real values or raw elements, in ONNX order.
#ifndef RSHIFT_RUNTIME_TENSOR_VALUES_H_
#define RSHIFT_RUNTIME_TENSOR_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

// The shape in ONNX order.
Shape OnnxShape(const TensorRecord& record);
// The element bytes in ONNX order. `memory`: Session::Tensor().
std::vector<uint8_t> OnnxBytes(const TensorRecord& record, std::span<const std::byte> memory);
// Real values in ONNX order: quantized tensors are dequantized, other types converted.
std::vector<float> OnnxFloats(const TensorRecord& record, std::span<const std::byte> memory);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_TENSOR_VALUES_H_
