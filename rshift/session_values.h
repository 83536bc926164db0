// From a caller's values to the memory of a program's input.
#ifndef RSHIFT_RSHIFT_SESSION_VALUES_H_
#define RSHIFT_RSHIFT_SESSION_VALUES_H_

#include <cstddef>
#include <span>
#include <string>

#include "codegen/container/image.h"

namespace rshift {

// All throw kInvalidInput, naming the input, for a wrong count or a value that the input cannot
// hold; the memory is then as it was.

// The elements as they are. A bool may be 0 or 1.
void StoreBytes(const TensorRecord& record, const std::string& name, const void* bytes, size_t size,
                std::span<std::byte> memory);
// Real values: quantized by the input's scale, or, where it has none, exact.
void StoreFloats(const TensorRecord& record, const std::string& name, std::span<const float> values,
                 std::span<std::byte> memory);
// The elements themselves, as floats that hold them exactly; what a data set gives (model_runner).
void StoreElements(const TensorRecord& record, const std::string& name,
                   std::span<const float> values, std::span<std::byte> memory);

}  // namespace rshift

#endif  // RSHIFT_RSHIFT_SESSION_VALUES_H_
