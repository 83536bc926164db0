// A matrix transposed in squares that registers hold.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_TRANSPOSE_SQUARES_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_TRANSPOSE_SQUARES_H_

#include <cstdint>

namespace rshift {

// Element c of dst's row r = element r of src's row c. Pitches are in elements.
template <typename T>
struct TransposeSquare {
  const T* src;
  int64_t src_pitch;
  T* dst;
  int64_t dst_pitch;
};

template <typename T>
inline void TransposeOneByOne(const TransposeSquare<T>& all, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      all.dst[r * all.dst_pitch + c] = all.src[c * all.src_pitch + r];
  }
}

// All rows and columns, kSide or more of each; kSquare transposes kSide x kSide elements. The last
// squares may overlap those before them.
template <int kSide, auto kSquare, typename T>
inline void TransposeBySquares(const TransposeSquare<T>& all, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t row = r + kSide <= rows ? r : rows - kSide;
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t column = c + kSide <= columns ? c : columns - kSide;
      kSquare(TransposeSquare<T>{all.src + column * all.src_pitch + row, all.src_pitch,
                                 all.dst + row * all.dst_pitch + column, all.dst_pitch});
    }
  }
}

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_TRANSPOSE_SQUARES_H_
