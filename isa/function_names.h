// Names of the functions of isa/functions.h and their parsers, made from isa/functions.def.
#ifndef RSHIFT_ISA_FUNCTION_NAMES_H_
#define RSHIFT_ISA_FUNCTION_NAMES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "isa/functions.h"

namespace rshift {

template <typename E>
struct FunctionName {
  E value;
  const char* name;
};

// All enumerators of E with their names, in order.
template <typename E>
inline constexpr std::array<FunctionName<E>, 0> kFunctionNames{};

// clang-format off
#define RSHIFT_BEGIN(type, integer)                                                           \
  template <>                                                                                 \
  inline constexpr std::array<FunctionName<type>, k##type##Count> kFunctionNames<type> = [] { \
    using E = type;                                                                           \
    return std::array<FunctionName<E>, k##type##Count>{{
#define RSHIFT_ENTRY(id, name, text) {E::k##name, text},
#define RSHIFT_END(type) }}; }();
#include "isa/functions.def"
// clang-format on

// Numbers ascend from 0: a name is found by its number.
template <typename E>
constexpr bool AreDense() {
  for (size_t i = 0; i < kFunctionNames<E>.size(); ++i) {
    if (static_cast<size_t>(kFunctionNames<E>[i].value) != i) return false;
  }
  return !kFunctionNames<E>.empty();
}
#define RSHIFT_BEGIN(...)
#define RSHIFT_ENTRY(...)
#define RSHIFT_END(type) \
  static_assert(AreDense<type>(), "isa/functions.def: ids of " #type " are not 0, 1, 2...");
#include "isa/functions.def"

// "Sigmoid", "half_pixel": as messages, graph dumps and ONNX spell it.
template <typename E>
requires(!kFunctionNames<E>.empty()) constexpr const char* Name(E value) {
  return kFunctionNames<E>.at(static_cast<size_t>(value)).name;
}

// The enumerator of that name.
template <typename E>
constexpr std::optional<E> ParseFunction(std::string_view text) {
  for (const FunctionName<E>& entry : kFunctionNames<E>) {
    if (text == entry.name) return entry.value;
  }
  return std::nullopt;
}

// "nearest, linear or cubic": what a message says was expected.
template <typename E>
std::string FunctionChoices() {
  std::string text;
  const size_t count = kFunctionNames<E>.size();
  for (size_t i = 0; i < count; ++i) {
    text += i == 0 ? "" : i + 1 < count ? ", " : " or ";
    text += kFunctionNames<E>[i].name;
  }
  return text;
}

}  // namespace rshift

#endif  // RSHIFT_ISA_FUNCTION_NAMES_H_
