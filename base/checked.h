// Integer arithmetic that notices overflow, for sizes and offsets read from a file; the message is
// the caller's. Both operands have the same type: a mixture of signed and unsigned must not
// compile.
#ifndef RSHIFT_BASE_CHECKED_H_
#define RSHIFT_BASE_CHECKED_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

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
constexpr std::optional<T> CheckedMul(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// Smallest multiple of `alignment` (> 0) that is >= value (>= 0).
template <CheckedInteger T>
constexpr std::optional<T> CheckedRoundUp(T value, std::type_identity_t<T> alignment) {
  const T rest = value % alignment;
  if (rest == 0) return value;
  return CheckedAdd<T>(value, alignment - rest);
}

// The largest number stands for itself and for all that are greater: for predictions, which are
// compared with limits far below it.
constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  return CheckedAdd<uint64_t>(a, b).value_or(UINT64_MAX);
}
constexpr uint64_t SaturatingMul(uint64_t a, uint64_t b) {
  return CheckedMul<uint64_t>(a, b).value_or(UINT64_MAX);
}

// True when [offset, offset + size) lies within [0, limit); never overflows.
constexpr bool RangeFits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

}  // namespace rshift

#endif  // RSHIFT_BASE_CHECKED_H_
