#include "rshift/session_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/element_type.h"
#include "base/error.h"
#include "base/half.h"
#include "quantize/numerics/quantize.h"

namespace rshift {
namespace {

void RequirePlain(const TensorRecord& record, const std::string& name) {
  RSHIFT_REQUIRE(record.layout == Layout::kPlain, ErrorCode::kInternal, "input '", name,
                 "' is not in ONNX order");
}

template <typename T>
T Quantized(const TensorRecord& record, const std::string& name, size_t index, float value) {
  RSHIFT_REQUIRE(!std::isnan(value), ErrorCode::kInvalidInput, "input '", name, "': value ", index,
                 " is NaN, which no integer stands for");
  return static_cast<T>(numerics::QuantizeValue(value, record.scale, record.zero_point,
                                                std::numeric_limits<T>::min(),
                                                std::numeric_limits<T>::max()));
}

template <typename T>
T Exact(const TensorRecord& record, const std::string& name, size_t index, float value) {
  // F32 holds every integer up to here; what lies beyond may be another integer, rounded.
  constexpr float kExact = 1 << 24;
  constexpr float kLow = std::max(-kExact, static_cast<float>(std::numeric_limits<T>::lowest()));
  constexpr float kHigh = std::min(kExact, static_cast<float>(std::numeric_limits<T>::max()));
  const T stored = std::isnan(value) ? T{} : static_cast<T>(std::clamp(value, kLow, kHigh));
  RSHIFT_REQUIRE(static_cast<float>(stored) == value, ErrorCode::kInvalidInput, "input '", name,
                 "': value ", index, " is ", value, ", which its type ", Name(record.dtype),
                 " does not hold");
  return stored;
}

template <typename T>
T Convert(const TensorRecord& record, const std::string& name, size_t index, float value) {
  if constexpr (sizeof(T) <= 2 && !std::is_same_v<T, bool>) {
    if (record.quantized) return Quantized<T>(record, name, index, value);
  }
  return Exact<T>(record, name, index, value);
}

// Through a buffer, so that a value that is refused leaves the input as it was.
template <typename T, typename Function>
void StoreEach(std::span<const float> values, std::span<std::byte> memory, const Function& each) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T element = each(i, values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  std::copy(bytes.begin(), bytes.end(), memory.begin());
}

}  // namespace

void StoreBytes(const TensorRecord& record, const std::string& name, const void* bytes, size_t size,
                std::span<std::byte> memory) {
  RequirePlain(record, name);
  RSHIFT_REQUIRE(size == memory.size(), ErrorCode::kInvalidInput, "input '", name, "': got ", size,
                 " bytes, expected ", memory.size(), " (", ToString(record.shape), " of ",
                 Name(record.dtype), ")");
  if (size == 0) return;
  RSHIFT_REQUIRE(bytes != nullptr, ErrorCode::kInvalidInput, "input '", name, "': bytes is NULL");
  const std::span<const uint8_t> elements(static_cast<const uint8_t*>(bytes), size);
  if (record.dtype == DType::kBool) {
    const auto wrong =
        std::find_if(elements.begin(), elements.end(), [](uint8_t element) { return element > 1; });
    RSHIFT_REQUIRE(wrong == elements.end(), ErrorCode::kInvalidInput, "input '", name,
                   "': element ", wrong - elements.begin(), " of type bool is neither 0 nor 1");
  }
  std::memcpy(memory.data(), bytes, size);
}

void StoreFloats(const TensorRecord& record, const std::string& name, std::span<const float> values,
                 std::span<std::byte> memory) {
  RequirePlain(record, name);
  RSHIFT_REQUIRE(static_cast<int64_t>(values.size()) == NumElements(record.shape),
                 ErrorCode::kInvalidInput, "input '", name, "': got ", values.size(),
                 " values, expected ", NumElements(record.shape), " (", ToString(record.shape),
                 ")");
  if (record.dtype == DType::kF16) {
    return StoreEach<uint16_t>(values, memory, [](size_t, float v) { return FloatToHalf(v); });
  }
  VisitElement(record.dtype, [&](auto type) {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_same_v<T, float>) {
      if (!values.empty()) std::memcpy(memory.data(), values.data(), memory.size());
    } else if constexpr (std::is_integral_v<T>) {
      StoreEach<T>(values, memory,
                   [&](size_t i, float v) { return Convert<T>(record, name, i, v); });
    } else {
      Fail(ErrorCode::kUnsupported, "input '", name, "': type ", Name(record.dtype),
           " takes no numbers: give its bytes");
    }
  });
}

void StoreElements(const TensorRecord& record, const std::string& name,
                   std::span<const float> values, std::span<std::byte> memory) {
  TensorRecord plain = record;
  plain.quantized = false;
  StoreFloats(plain, name, values, memory);
}

}  // namespace rshift
