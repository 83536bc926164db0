// Random values of fields, in their range.
#ifndef RSHIFT_TESTS_ISA_RANDOM_FIELDS_H_
#define RSHIFT_TESTS_ISA_RANDOM_FIELDS_H_

#include <bit>
#include <cmath>
#include <random>

#include "isa/isa.h"

namespace rshift::testing {

inline constexpr int64_t kTensors = 1000;

inline int64_t RandomIn(std::mt19937_64& random, int64_t lo, int64_t hi) {
  return std::uniform_int_distribution<int64_t>(lo, hi)(random);
}

inline int64_t RandomValue(const FieldSpec& spec, std::mt19937_64& random) {
  switch (spec.kind) {
    case FieldKind::kTensorInOpt:
    case FieldKind::kConstOpt:
      return RandomIn(random, -1, kTensors - 1);
    case FieldKind::kInt: {
      const int64_t choice = RandomIn(random, 0, 3);
      if (choice == 0) return spec.lo;
      if (choice == 1) return spec.hi;
      return RandomIn(random, spec.lo, spec.hi);
    }
    case FieldKind::kFloat: {
      const auto bits = static_cast<uint32_t>(random());
      return std::isnan(std::bit_cast<float>(bits)) ? 0x7f800000 : bits;
    }
    default:
      return RandomIn(random, 0, kTensors - 1);
  }
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_ISA_RANDOM_FIELDS_H_
