// What tests of 16-bit commands share: random numbers of a type, and results held as the commands
// hold them.
#ifndef RSHIFT_TESTS_RUNTIME_INT16_CASE_H_
#define RSHIFT_TESTS_RUNTIME_INT16_CASE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {

__extension__ using Wide = __int128;

struct Limits {
  int32_t lo, hi;
};
inline Limits LimitsOf(DType type) { return {Lowest(type), Highest(type)}; }

inline DType AnyType(Random& random) {
  constexpr DType kTypes[] = {DType::kS16, DType::kS8, DType::kU8};
  return kTypes[random.Int(0, 2)];
}

inline TensorSpec Spec(Random& random, DType type, const Shape& shape) {
  return {type, shape, 0.05f, type == DType::kS16 ? 0 : random.Zero(type)};
}

// Numbers of a type: mostly any, sometimes the ends alone.
inline std::vector<int32_t> Numbers(Random& random, DType type, int64_t count) {
  const auto [lo, hi] = LimitsOf(type);
  const bool ends = random.Int(0, 3) == 0;
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < count; ++i) {
    const auto any = static_cast<int32_t>(random.Int(lo, hi));
    numbers.push_back(!ends ? any : random.Int(0, 1) == 0 ? lo : hi);
  }
  return numbers;
}

inline Bytes Stored(const std::vector<int32_t>& numbers, DType type) {
  if (type != DType::kS16) return Bytes(numbers.begin(), numbers.end());
  return AsBytes(std::vector<int16_t>(numbers.begin(), numbers.end()));
}

inline int32_t NumberAt(const Bytes& bytes, size_t i, DType type) {
  if (type != DType::kS16) return Value(bytes[i], type);
  int16_t number;
  std::memcpy(&number, bytes.data() + 2 * i, sizeof number);
  return number;
}

// floor(value / 2^rshift + 1/2), held.
inline int32_t Held(Wide value, int rshift, int32_t zero, const Limits& limits) {
  if (rshift > 0) value = (value + (Wide{1} << (rshift - 1))) >> rshift;
  value += zero;
  return static_cast<int32_t>(value < limits.lo   ? limits.lo
                              : value > limits.hi ? limits.hi
                                                  : value);
}

// A clamp within the type, and the command's fields of it.
inline Limits SetClamp(Random& random, DType type, Command& command) {
  Limits limits = LimitsOf(type);
  if (random.Int(0, 2) == 0) {
    limits.lo = static_cast<int32_t>(random.Int(limits.lo, limits.hi));
    limits.hi = static_cast<int32_t>(random.Int(limits.lo, limits.hi));
  }
  command.Set(Field::kClampLoQ, limits.lo).Set(Field::kClampHiQ, limits.hi);
  return limits;
}

inline int32_t AnyMultiplier(Random& random) {
  return static_cast<int32_t>(random.Int(1 << 30, INT32_MAX));
}

inline Shape AnyShape(Random& random) {
  return {random.Int(1, 3), random.Int(1, 9), random.Int(1, 70)};
}

inline void ExpectNumbers(const Bytes& bytes, DType type, const std::vector<int32_t>& expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(NumberAt(bytes, i, type), expected[i]) << "element " << i;
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_INT16_CASE_H_
