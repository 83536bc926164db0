#include "runtime/f32/packed_product.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {

Panels::Panels(const ProductKernels& kernels, int64_t depth, int64_t columns)
    : depth_(depth),
      columns_(columns),
      width_(kernels.columns),
      count_((columns + kernels.columns - 1) / kernels.columns) {}

int64_t Panels::columns(int64_t panel) const { return std::min(width_, columns_ - panel * width_); }

void Panels::Pack(const float* from, float* to) const {
  for (int64_t panel = 0; panel < count_; ++panel) {
    const int64_t there = columns(panel);
    for (int64_t k = 0; k < depth_; ++k, to += width_) {
      const float* row = from + k * columns_ + panel * width_;
      std::copy_n(row, there, to);
      std::fill(to + there, to + width_, 0.0f);
    }
  }
}

PaddedBias::PaddedBias(const StepContext& context, int64_t groups, int64_t columns,
                       const Panels& panels, const ProductKernels& kernels)
    : groups_(groups),
      columns_(columns),
      width_(panels.count() * kernels.columns),
      padded_(static_cast<size_t>(groups * width_) * sizeof(float)) {  // zeros
  if (!context.Has(Field::kSrc3)) return;
  const float* bias = context.In<float>(Field::kSrc3);
  if (context.Record(Field::kSrc3).region == Region::kConst) {
    Fill(bias, reinterpret_cast<float*>(padded_.data()));
  } else {
    computed_ = bias;
  }
}

const float* PaddedBias::Get(float* own) const {
  if (computed_ == nullptr) return reinterpret_cast<const float*>(padded_.data());
  Fill(computed_, own);
  return own;
}

void PaddedBias::Fill(const float* bias, float* to) const {
  for (int64_t g = 0; g < groups_; ++g, to += width_) {
    std::copy_n(bias + g * columns_, columns_, to);
    std::fill(to + columns_, to + width_, 0.0f);
  }
}

int64_t RowsAtOnce(const ProductKernels& kernels, int64_t depth, int64_t rows) {
  constexpr int64_t kDoubles = int64_t{48} << 10;  // 384 KB
  const int64_t tiles = std::max<int64_t>(1, kDoubles / std::max<int64_t>(depth, 1) / kernels.rows);
  return std::min(tiles * kernels.rows, std::max<int64_t>(rows, 1));
}

void MultiplyBlock(const ProductKernels& kernels, const RowBlock& block, const Panels& panels,
                   const float* w, const float* bias, const Clamp& clamp) {
  std::array<float*, kMaxProductRows> out;
  for (int64_t panel = 0; panel < panels.count(); ++panel) {
    ProductTile tile{.w = w + panels.PanelPlace(panel),
                     .bias = bias + panel * kernels.columns,
                     .depth = block.depth,
                     .out = out.data(),
                     .columns = panels.columns(panel),
                     .lo = clamp.lo,
                     .hi = clamp.hi};
    for (int64_t row = 0; row < block.rows; row += kernels.rows) {
      tile.x = block.x + row * block.depth;
      tile.rows = std::min(kernels.rows, block.rows - row);
      for (int64_t r = 0; r < tile.rows; ++r)
        out[static_cast<size_t>(r)] = block.out[row + r] + panel * kernels.columns;
      kernels.tile(tile);
    }
  }
}

}  // namespace rshift::f32
