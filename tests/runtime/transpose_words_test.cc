#include "runtime/kernels/transpose_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

TEST(TransposeWords, TurnsAnyMatrixAndTouchesNothingElse) {
  for (int seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const int64_t rows = random.Int(1, 200);
    const int64_t columns = random.Int(0, 3) == 0 ? 3 : random.Int(1, 150);
    const int64_t src_pitch = rows + random.Int(0, 5);
    const int64_t dst_pitch = columns + (random.Int(0, 1) == 0 ? 0 : random.Int(1, 5));
    std::vector<uint32_t> src((columns - 1) * src_pitch + rows);  // reads past it would be seen
    for (uint32_t& word : src) word = static_cast<uint32_t>(random.Int(0, INT32_MAX));
    std::vector<uint32_t> expected((rows - 1) * dst_pitch + columns, 0xa5a5a5a5);
    std::vector<uint32_t> actual = expected;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        expected[r * dst_pitch + c] = src[c * src_pitch + r];
      }
    }
    for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512Vnni}) {
      if (!CpuSupports(isa)) continue;
      std::fill(actual.begin(), actual.end(), uint32_t{0xa5a5a5a5});
      TransposeWordsFor(isa)(src.data(), src_pitch, rows, columns, actual.data(), dst_pitch);
      ASSERT_EQ(actual, expected) << Name(isa);
    }
  }
}

}  // namespace
}  // namespace rshift::testing
