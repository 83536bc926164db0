// From an element type of tensors to the C++ type that holds its elements.
#ifndef RSHIFT_BASE_ELEMENT_TYPE_H_
#define RSHIFT_BASE_ELEMENT_TYPE_H_

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"

namespace rshift {

// The T of the std::type_identity<T> that a visitor below is called with.
template <typename Identity>
using ElementOf = typename std::remove_cvref_t<Identity>::type;

// Calls f(std::type_identity<T>()) with the type of the elements: float, double, an integer, bool;
// void for types that have none in C++ (f16, bytes).
template <typename F>
auto VisitElement(DType type, const F& f) {
  switch (type) {
    case DType::kF32:
      return f(std::type_identity<float>());
    case DType::kF64:
      return f(std::type_identity<double>());
    case DType::kS8:
      return f(std::type_identity<int8_t>());
    case DType::kU8:
      return f(std::type_identity<uint8_t>());
    case DType::kS16:
      return f(std::type_identity<int16_t>());
    case DType::kU16:
      return f(std::type_identity<uint16_t>());
    case DType::kS32:
      return f(std::type_identity<int32_t>());
    case DType::kU32:
      return f(std::type_identity<uint32_t>());
    case DType::kS64:
      return f(std::type_identity<int64_t>());
    case DType::kU64:
      return f(std::type_identity<uint64_t>());
    case DType::kBool:
      return f(std::type_identity<bool>());
    case DType::kInvalid:
    case DType::kF16:
    case DType::kBytes:
      break;
  }
  return f(std::type_identity<void>());
}

// The same with the unsigned integer of that size, for code that moves elements.
template <typename F>
auto VisitElementBits(DType type, const F& f) {
  const size_t size = SizeOf(type);
  if (size == 1) return f(std::type_identity<uint8_t>());
  if (size == 2) return f(std::type_identity<uint16_t>());
  if (size == 4) return f(std::type_identity<uint32_t>());
  return f(std::type_identity<uint64_t>());
}

}  // namespace rshift

#endif  // RSHIFT_BASE_ELEMENT_TYPE_H_
