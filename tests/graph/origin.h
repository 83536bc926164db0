// Test helper: the integers that a constant remembers give exactly its floats.
#ifndef RSHIFT_TESTS_GRAPH_ORIGIN_H_
#define RSHIFT_TESTS_GRAPH_ORIGIN_H_

#include <gtest/gtest.h>

#include "graph/graph.h"

namespace rshift {

inline int64_t IntegerAt(const QuantizedOrigin& origin, int64_t i) {
  switch (origin.dtype) {
    case DType::kS8:
      return origin.integers->As<int8_t>()[i];
    case DType::kU8:
      return origin.integers->As<uint8_t>()[i];
    default:
      return origin.integers->As<int32_t>()[i];
  }
}

inline void ExpectOriginMatches(const Value& value) {
  ASSERT_NE(value.origin, nullptr) << value.name;
  const QuantizedOrigin& origin = *value.origin;
  const auto floats = value.constant->As<float>();
  const int64_t count = NumElements(value.shape);
  ASSERT_EQ(origin.integers->bytes.size(), count * SizeOf(origin.dtype)) << value.name;
  ASSERT_EQ(origin.zero_points.size(), origin.scales.size()) << value.name;
  if (origin.axis >= 0) {
    ASSERT_EQ(static_cast<size_t>(value.shape[origin.axis]), origin.scales.size()) << value.name;
  }
  const int64_t behind = origin.axis < 0 ? 1 : Strides(value.shape)[origin.axis];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t c = origin.axis < 0 ? 0 : i / behind % value.shape[origin.axis];
    const auto q = static_cast<float>(IntegerAt(origin, i) - origin.zero_points[c]);
    ASSERT_EQ(floats[i], q * origin.scales[c]) << value.name << " at " << i;
  }
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_GRAPH_ORIGIN_H_
