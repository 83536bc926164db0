#include "runtime/steps/lists.h"

namespace rshift {

std::vector<int64_t> ReadList(const void* data, const TensorRecord& record) {
  const auto count = static_cast<size_t>(NumElements(record.shape));
  if (record.dtype == DType::kS64) {
    const auto* values = static_cast<const int64_t*>(data);
    return std::vector<int64_t>(values, values + count);
  }
  const auto* values = static_cast<const int32_t*>(data);
  return std::vector<int64_t>(values, values + count);
}

std::vector<int64_t> ReadList(const StepContext& context, Field field) {
  return ReadList(context.In(field), context.Record(field));
}

Shape ByteStrides(const TensorRecord& record) {
  Shape strides = Strides(record.shape);
  const auto element = static_cast<int64_t>(SizeOf(record.dtype));
  for (size_t d = 0; d < strides.size(); ++d) {
    const bool last = d + 1 == strides.size();
    // Strides of rows, in elements, are multiples of a row.
    strides[d] = record.pitch == 0 || last
                     ? strides[d] * element
                     : strides[d] / record.shape.back() * static_cast<int64_t>(record.pitch);
  }
  return strides;
}

}  // namespace rshift
