// Program tensors as users know them: real values (or raw integers) in ONNX order.
#ifndef RSHIFT_PIPELINE_TENSOR_VIEW_H_
#define RSHIFT_PIPELINE_TENSOR_VIEW_H_

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/data/dataset.h"
#include "codegen/container/image.h"

namespace rshift {

// The shape in ONNX order.
Shape OnnxShape(const TensorRecord& record);
// The element bytes in ONNX order. `memory`: Session::Tensor().
std::vector<uint8_t> OnnxBytes(const TensorRecord& record, std::span<const std::byte> memory);
// Real values in ONNX order: quantized tensors are dequantized, other types converted.
std::vector<float> OnnxFloats(const TensorRecord& record, std::span<const std::byte> memory);
// For .npz files: `raw` keeps the integers, otherwise quantized tensors become F32.
NumpyArray ToArray(const TensorRecord& record, std::span<const std::byte> memory, bool raw);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_TENSOR_VIEW_H_
