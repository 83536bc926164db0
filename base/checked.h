// Integer arithmetic that notices overflow, for sizes and offsets read from a file. The optional
// forms are for callers with their own message; the ...OrCorrupt forms throw kCorrupt, naming
// `what`. Both operands have the same type: a mixture of signed and unsigned must not compile.
#ifndef RSHIFT_BASE_CHECKED_H_
#define RSHIFT_BASE_CHECKED_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace rshift {

template <typename T>
concept CheckedInteger = std::same_as<T, int32_t> || std::same_as<T, uint32_t> ||
    std::same_as<T, int64_t> || std::same_as<T, uint64_t>;

template <CheckedInteger T>
constexpr std::optional<T> CheckedAdd(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <CheckedInteger T>
constexpr std::optional<T> CheckedSub(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <CheckedInteger T>
constexpr std::optional<T> CheckedMul(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// `value` in another integer type, when it fits.
template <CheckedInteger To, CheckedInteger From>
constexpr std::optional<To> CheckedCast(From value) {
  To result{};
  if (__builtin_add_overflow(value, From{0}, &result)) return std::nullopt;
  return result;
}

// Smallest multiple of `alignment` (> 0) that is >= value (>= 0).
template <CheckedInteger T>
constexpr std::optional<T> CheckedRoundUp(T value, std::type_identity_t<T> alignment) {
  const T rest = value % alignment;
  if (rest == 0) return value;
  return CheckedAdd<T>(value, alignment - rest);
}

template <CheckedInteger T>
T AddOrCorrupt(T a, std::type_identity_t<T> b, std::string_view what) {
  const std::optional<T> result = CheckedAdd<T>(a, b);
  if (!result)
    Fail(ErrorCode::kCorrupt, what, ": ", a, " + ", b, " overflows: the file is damaged");
  return *result;
}

template <CheckedInteger T>
T MulOrCorrupt(T a, std::type_identity_t<T> b, std::string_view what) {
  const std::optional<T> result = CheckedMul<T>(a, b);
  if (!result)
    Fail(ErrorCode::kCorrupt, what, ": ", a, " * ", b, " overflows: the file is damaged");
  return *result;
}

// True when [offset, offset + size) lies within [0, limit); never overflows.
constexpr bool RangeFits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

}  // namespace rshift

#endif  // RSHIFT_BASE_CHECKED_H_
