// Program tensors as arrays of a .npz file; their values are runtime/tensor_values.h.
#ifndef RSHIFT_PIPELINE_TENSOR_VIEW_H_
#define RSHIFT_PIPELINE_TENSOR_VIEW_H_

#include <cstddef>
#include <span>

#include "calibrate/data/dataset.h"
#include "codegen/container/image.h"
#include "runtime/tensor_values.h"

namespace rshift {

// For .npz files: `raw` keeps the integers, otherwise quantized tensors become F32.
NumpyArray ToArray(const TensorRecord& record, std::span<const std::byte> memory, bool raw);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_TENSOR_VIEW_H_
