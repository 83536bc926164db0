// Matrix products by tiles (ProductKernels): what convolutions and matrix products have in common.
#ifndef RSHIFT_RUNTIME_F32_PACKED_PRODUCT_H_
#define RSHIFT_RUNTIME_F32_PACKED_PRODUCT_H_

#include <cstdint>

#include "base/aligned.h"
#include "isa/attributes.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/step.h"

namespace rshift::f32 {

// Matrices of [depth, columns], in panels of as many columns as a tile has; columns that are not
// there are 0.
class Panels {
 public:
  Panels() = default;
  Panels(const ProductKernels& kernels, int64_t depth, int64_t columns);

  int64_t count() const { return count_; }
  int64_t columns(int64_t panel) const;  // that are there
  size_t floats() const { return static_cast<size_t>(count_ * depth_ * width_); }
  // Where element (k, column) is, of a panel at (k, 0).
  size_t Place(int64_t k, int64_t column) const {
    return static_cast<size_t>((column / width_ * depth_ + k) * width_ + column % width_);
  }
  size_t PanelPlace(int64_t panel) const { return static_cast<size_t>(panel * depth_ * width_); }
  // From [depth, columns] rows.
  void Pack(const float* from, float* to) const;

 private:
  int64_t depth_ = 0, columns_ = 0, width_ = 1, count_ = 0;
};

// The bias of each group with zeros behind its last column, as wide as the panels; zeros where
// there is none. One that the program computes is copied anew by each run.
class PaddedBias {
 public:
  PaddedBias(const StepContext& context, int64_t groups, int64_t columns, const Panels& panels,
             const ProductKernels& kernels);
  size_t bytes() const { return padded_.size(); }
  // What a thread keeps of its own: 0 for a constant.
  size_t thread_floats() const { return computed_ == nullptr ? 0 : padded_.size() / sizeof(float); }
  const float* Get(float* own) const;

 private:
  void Fill(const float* bias, float* to) const;
  int64_t groups_, columns_, width_;
  AlignedBuffer padded_;
  const float* computed_ = nullptr;
};

// How many rows of `depth` doubles a thread widens at once: as many as the second cache holds
// beside a panel, in whole tiles, but no more than there are.
int64_t RowsAtOnce(const ProductKernels& kernels, int64_t depth, int64_t rows);

// Rows that are widened, tile after tile of [depth][tile's rows], times all panels.
struct RowBlock {
  const double* x = nullptr;
  int64_t depth = 0, rows = 0;
  float* const* out = nullptr;  // of each row, the first column
};
void MultiplyBlock(const ProductKernels& kernels, const RowBlock& block, const Panels& panels,
                   const float* w, const float* bias, const Clamp& clamp);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_PACKED_PRODUCT_H_
