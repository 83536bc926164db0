// The transpose of a block of four-byte elements, four by four: Transpose of floats between NCHW
// and NHWC.
#ifndef RSHIFT_RUNTIME_STEPS_TRANSPOSE_WORDS_H_
#define RSHIFT_RUNTIME_STEPS_TRANSPOSE_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rshift {

typedef uint32_t FourWords __attribute__((vector_size(16)));

// `from`: of four columns' elements, one column every `pitch` bytes; `to`: of four rows.
inline void TransposeFourByFour(const std::byte* from, int64_t pitch, std::byte* to,
                                int64_t to_pitch) {
  FourWords x[4];
  for (int64_t c = 0; c < 4; ++c) std::memcpy(&x[c], from + c * pitch, sizeof x[c]);
  const FourWords a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  const FourWords b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  const FourWords c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  const FourWords d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  const FourWords y[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int64_t r = 0; r < 4; ++r) std::memcpy(to + r * to_pitch, &y[r], sizeof y[r]);
}

// dst[r * dst_pitch + 4 * c] = src[c * src_pitch + 4 * r] for r < rows, c < columns, in bytes.
inline void TransposeWords(const std::byte* src, int64_t src_pitch, int64_t rows, int64_t columns,
                           std::byte* dst, int64_t dst_pitch) {
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t r = 0; r < whole_rows; r += 4) {
    for (int64_t c = 0; c < whole_columns; c += 4) {
      TransposeFourByFour(src + c * src_pitch + 4 * r, src_pitch, dst + r * dst_pitch + 4 * c,
                          dst_pitch);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      std::memcpy(dst + r * dst_pitch + 4 * c, src + c * src_pitch + 4 * r, 4);
  }
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_TRANSPOSE_WORDS_H_
