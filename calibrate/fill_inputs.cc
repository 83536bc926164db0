#include "calibrate/fill_inputs.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/element_type.h"
#include "base/error.h"

namespace rshift {
namespace {

std::string Wanted(const TensorRecord& record) {
  if (!record.quantized) return "";
  return Cat(" ", Name(record.dtype), ", expected q of the number ", record.scale, " (q - ",
             record.zero_point,
             "), which arrays must hold; a model whose own input is f32 takes the numbers "
             "themselves with model_deploy --input-type f32");
}

// Data sets deliver F32; an integer or bool input takes the values it can hold exactly.
template <typename T>
void StoreIntegers(const TensorRecord& record, std::span<const float> values,
                   std::span<std::byte> memory, const std::string& sample,
                   const std::string& input) {
  constexpr float kExact = 1 << 24;  // F32 holds every integer up to here
  constexpr float kLow = std::max(-kExact, static_cast<float>(std::numeric_limits<T>::lowest()));
  constexpr float kHigh = std::min(kExact, static_cast<float>(std::numeric_limits<T>::max()));
  for (size_t i = 0; i < values.size(); ++i) {
    const T stored = static_cast<T>(std::clamp(values[i], kLow, kHigh));
    RSHIFT_REQUIRE(static_cast<float>(stored) == values[i], ErrorCode::kInvalidInput, sample,
                   ", input '", input, "': value ", values[i],
                   " does not fit the input's integer type", Wanted(record));
    std::memcpy(memory.data() + i * sizeof(T), &stored, sizeof(T));
  }
}

void Store(const TensorRecord& record, std::span<const float> values, std::span<std::byte> memory,
           const std::string& sample, const std::string& input) {
  const int64_t elements = NumElements(record.shape);
  RSHIFT_REQUIRE(static_cast<int64_t>(values.size()) == elements, ErrorCode::kInvalidInput, sample,
                 ", input '", input, "': holds ", values.size(), " values, the input takes ",
                 elements);
  if (values.empty()) return;
  if (record.dtype == DType::kF32) {
    std::memcpy(memory.data(), values.data(), memory.size());
    return;
  }
  VisitElement(record.dtype, [&](auto type) {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_integral_v<T>) {
      StoreIntegers<T>(record, values, memory, sample, input);
    } else {
      Fail(ErrorCode::kUnsupported, sample, ", input '", input, "': inputs of type ",
           Name(record.dtype), " cannot be fed");
    }
  });
}

}  // namespace

void FillInputs(const Program& program, Session& session, const Sample& sample) {
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const Binding& binding = program.image().inputs[i];
    const TensorRecord& record = program.image().tensors[binding.tensor];
    RSHIFT_REQUIRE(record.layout == Layout::kPlain, ErrorCode::kInternal, "input '", binding.name,
                   "' is not in ONNX order");
    Store(record, sample.inputs[i], session.Input(static_cast<int>(i)), sample.name, binding.name);
  }
}

}  // namespace rshift
