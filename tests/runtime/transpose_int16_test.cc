#include "runtime/kernels/transpose_int16.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

TEST(TransposeInt16, TurnsAnyMatrixAndTouchesNothingElse) {
  for (int seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const int64_t rows = random.Int(1, 100), columns = random.Int(1, 100);
    const int64_t src_pitch = rows + random.Int(0, 5), dst_pitch = columns + random.Int(0, 5);
    std::vector<uint16_t> src((columns - 1) * src_pitch + rows);  // reads past it would be seen
    for (uint16_t& element : src) element = static_cast<uint16_t>(random.Int(0, 65535));
    std::vector<uint16_t> expected((rows - 1) * dst_pitch + columns, 0xa5a5);
    std::vector<uint16_t> actual = expected;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) expected[r * dst_pitch + c] = src[c * src_pitch + r];
    }
    TransposeInt16(src.data(), src_pitch, rows, columns, actual.data(), dst_pitch);
    ASSERT_EQ(actual, expected);
  }
}

}  // namespace
}  // namespace rshift::testing
