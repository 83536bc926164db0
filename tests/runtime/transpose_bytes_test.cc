#include "runtime/kernels/transpose_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

TEST(TransposeBytes, TurnsAnyMatrixAndTouchesNothingElse) {
  for (int seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const int64_t rows = random.Int(1, 200);
    const int64_t columns = random.Int(0, 3) == 0 ? 3 : random.Int(1, 150);
    const int64_t src_pitch = rows + random.Int(0, 5);
    const int64_t dst_pitch = columns + (random.Int(0, 1) == 0 ? 0 : random.Int(1, 5));
    std::vector<uint8_t> src((columns - 1) * src_pitch + rows);  // reads past it would be seen
    for (uint8_t& byte : src) byte = static_cast<uint8_t>(random.Int(0, 255));
    std::vector<uint8_t> expected((rows - 1) * dst_pitch + columns, 0xa5);
    std::vector<uint8_t> actual = expected;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        expected[r * dst_pitch + c] = src[c * src_pitch + r];
      }
    }
    for (const Isa isa : {Isa::kScalar, BestIsa()}) {
      std::fill(actual.begin(), actual.end(), uint8_t{0xa5});
      TransposeBytesFor(isa)(src.data(), src_pitch, rows, columns, actual.data(), dst_pitch);
      ASSERT_EQ(actual, expected) << Name(isa);
    }
  }
}

}  // namespace
}  // namespace rshift::testing
