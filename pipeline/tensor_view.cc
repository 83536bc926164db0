#include "pipeline/tensor_view.h"

#include <cstring>

namespace rshift {

NumpyArray ToArray(const TensorRecord& record, std::span<const std::byte> memory, bool raw) {
  NumpyArray array{record.name, record.dtype, OnnxShape(record), {}};
  if (raw || !record.quantized) {
    array.bytes = OnnxBytes(record, memory);
    return array;
  }
  const std::vector<float> values = OnnxFloats(record, memory);
  array.dtype = DType::kF32;
  array.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

}  // namespace rshift
