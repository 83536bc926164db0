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

template <>
inline constexpr std::array<FunctionName<UnaryOp>, kUnaryOpCount> kFunctionNames<UnaryOp>{{
#define RSHIFT_UNARY(id, name, ...) {UnaryOp::k##name, #name},
#include "isa/functions.def"
}};
template <>
inline constexpr std::array<FunctionName<BinaryOp>, kBinaryOpCount> kFunctionNames<BinaryOp>{{
#define RSHIFT_BINARY(id, name, ...) {BinaryOp::k##name, #name},
#include "isa/functions.def"
}};
template <>
inline constexpr std::array<FunctionName<ReduceOp>, kReduceOpCount> kFunctionNames<ReduceOp>{{
#define RSHIFT_REDUCE(id, name, text) {ReduceOp::k##name, text},
#include "isa/functions.def"
}};
template <>
inline constexpr std::array<FunctionName<Rounding>, kRoundingCount> kFunctionNames<Rounding>{{
#define RSHIFT_ROUNDING(id, name, text) {Rounding::k##name, text},
#include "isa/functions.def"
}};
template <>
inline constexpr std::array<FunctionName<RealRounding>, kRealRoundingCount>
    kFunctionNames<RealRounding>{{
#define RSHIFT_REAL_ROUNDING(id, name, text) {RealRounding::k##name, text},
#include "isa/functions.def"
    }};
template <>
inline constexpr std::array<FunctionName<PoolArithmetic>, kPoolArithmeticCount>
    kFunctionNames<PoolArithmetic>{{
#define RSHIFT_POOL_ARITHMETIC(id, name, ...) {PoolArithmetic::k##name, #name},
#include "isa/functions.def"
    }};
template <>
inline constexpr std::array<FunctionName<SoftmaxArithmetic>, kSoftmaxArithmeticCount>
    kFunctionNames<SoftmaxArithmetic>{{
#define RSHIFT_SOFTMAX_ARITHMETIC(id, name, ...) {SoftmaxArithmetic::k##name, #name},
#include "isa/functions.def"
    }};
template <>
inline constexpr std::array<FunctionName<AddBlocks>, kAddBlocksCount> kFunctionNames<AddBlocks>{{
#define RSHIFT_ADD_BLOCKS(id, name, ...) {AddBlocks::k##name, #name},
#include "isa/functions.def"
}};
template <>
inline constexpr std::array<FunctionName<ResizeMode>, kResizeModeCount> kFunctionNames<ResizeMode>{{
#define RSHIFT_RESIZE_MODE(id, name, text) {ResizeMode::k##name, text},
#include "isa/functions.def"
}};
template <>
inline constexpr std::array<FunctionName<CoordinateMode>, kCoordinateModeCount>
    kFunctionNames<CoordinateMode>{{
#define RSHIFT_COORDINATE_MODE(id, name, text) {CoordinateMode::k##name, text},
#include "isa/functions.def"
    }};
template <>
inline constexpr std::array<FunctionName<NearestMode>, kNearestModeCount>
    kFunctionNames<NearestMode>{{
#define RSHIFT_NEAREST_MODE(id, name, text) {NearestMode::k##name, text},
#include "isa/functions.def"
    }};
template <>
inline constexpr std::array<FunctionName<PadMode>, kPadModeCount> kFunctionNames<PadMode>{{
#define RSHIFT_PAD_MODE(id, name, text) {PadMode::k##name, text},
#include "isa/functions.def"
}};

// Numbers ascend from 0: a name is found by its number.
template <typename E>
constexpr bool AreDense() {
  for (size_t i = 0; i < kFunctionNames<E>.size(); ++i) {
    if (static_cast<size_t>(kFunctionNames<E>[i].value) != i) return false;
  }
  return !kFunctionNames<E>.empty();
}

// "Sigmoid", "half_pixel": as messages, graph dumps and ONNX spell it.
template <typename E>
requires(!kFunctionNames<E>.empty()) constexpr const char* Name(E value) {
  static_assert(AreDense<E>(), "isa/functions.def: ids are not 0, 1, 2...");
  return kFunctionNames<E>.at(static_cast<size_t>(value)).name;
}

// The enumerator of that name.
template <typename E>
constexpr std::optional<E> ParseFunction(std::string_view text) {
  static_assert(AreDense<E>(), "isa/functions.def: ids are not 0, 1, 2...");
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
