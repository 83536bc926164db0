// Loops of 16-bit commands over blocks of numbers in 32 bits: operands are widened into a block,
// worked on, and narrowed to the type of dst. One body for all instruction sets, as normalize.h;
// the same values everywhere. quantize/numerics/int16.h has the arithmetic.
#ifndef RSHIFT_RUNTIME_KERNELS_INT16_H_
#define RSHIFT_RUNTIME_KERNELS_INT16_H_

#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/normalize.h"
#include "runtime/runtime.h"

namespace rshift {

inline constexpr int64_t kS16Block = 256;

// Where numbers of 8 or 16 bits lie. For a source, `zero` is taken off.
enum class NarrowType : uint8_t { kS8, kU8, kS16 };

// What a result is held to.
struct S16Bounds {
  int32_t zero = 0, lo = 0, hi = 0;
};

struct S16Sums {
  int64_t sum = 0, squares = 0;
};

// What the numbers of a row have in common, or each channel of a pixel for itself, and the factors
// and offsets of each. halvings: numerics::NormalizeHalvings(n).
struct S16Normalize {
  int64_t n = 1;
  int32_t halvings = 0;
  int64_t center = 0;  // of all
  numerics::InverseDeviation by;
  const int64_t* centers = nullptr;  // of each channel
  const int32_t* inverses = nullptr;
  const int64_t* shifts = nullptr;
  const int32_t* factors = nullptr;
  const int64_t* offsets = nullptr;
  int32_t rshift = 1, lo = 0, hi = 0;
};

// Positions of a resized row, each a sum over the taps of `n` neighbouring sums of the source's
// row.
struct S16ResizeTap {
  int32_t offset = 0, weight = 0;
};
struct S16ResizeRow {
  const int32_t* sums = nullptr;
  const S16ResizeTap* taps = nullptr;
  int32_t taps_per_position = 2;  // 2 or 4
  int64_t positions = 0, n = 0;
  RequantWords words;
  S16Bounds bounds;
};

struct Int16Table {
  // By NarrowType: x[i] - zero, i < n.
  void (*widen[3])(const void* x, int32_t zero, int64_t n, int32_t* v) noexcept;
  // By NarrowType: v[i], which the type holds.
  void (*narrow[3])(const int32_t* v, int64_t n, void* y) noexcept;
  // numerics::SumInt16, ProductInt16, RescaleInt16 of a block; y may be a.
  void (*sum)(const int32_t* a, const int32_t* b, int64_t n, int32_t multiplier_a,
              int32_t multiplier_b, int32_t rshift, const S16Bounds& bounds, int32_t* y) noexcept;
  void (*product)(const int32_t* a, const int32_t* b, int64_t n, const RequantWords& words,
                  const S16Bounds& bounds, int32_t* y) noexcept;
  void (*rescale)(const int32_t* v, int64_t n, const RequantWords& words, const S16Bounds& bounds,
                  int32_t* y) noexcept;
  // numerics::InterpolateInt16.
  void (*interpolate)(const int32_t* table, int32_t step_bits, const int32_t* v, int64_t n,
                      const S16Bounds& bounds, int32_t* y) noexcept;
  // The same of 513 entries: number i by those from 513 * table_of[i] on.
  void (*interpolate_channels)(const int32_t* tables, const uint8_t* table_of, const int32_t* v,
                               int64_t n, const S16Bounds& bounds, int32_t* y) noexcept;
  // Of a row of n numbers: their sum, and that of their squares.
  S16Sums (*row_sums)(const int16_t* x, int64_t n) noexcept;
  // Adds a pixel's channels, and their squares, to the sums of each.
  void (*channel_sums)(const int16_t* x, int64_t count, int64_t* sums, int64_t* squares) noexcept;
  // numerics::ScaleNormalized of Normalized(DifferenceInt16(n x[i] - center)), i < count; without
  // halvings, and with centers and inverses for each, which a row of halvings has, too.
  void (*normalize)(const int16_t* x, int64_t count, const S16Normalize& row, int32_t* y) noexcept;
  void (*normalize_channels)(const int16_t* x, int64_t count, const S16Normalize& pixel,
                             int32_t* y) noexcept;
  // to[i] += from[i]: exact.
  void (*add_sums)(const int32_t* from, int64_t n, int64_t* to) noexcept;
  // sums[i] = the sum over two or four rows of row[i] weight, i < n, which fits 32 bits.
  void (*weigh)(const int16_t* const* rows, const int32_t* weights, int32_t count, int64_t n,
                int32_t* sums) noexcept;
  // numerics::FinishResizeInt16 of all positions, one behind the other.
  void (*resize)(const S16ResizeRow& row, int32_t* y) noexcept;
};
const Int16Table& Int16LoopsFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_INT16_H_
