#include "runtime/steps/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace rshift {
namespace {

// A dense run is cut into elements of this size, so that threads share it.
constexpr int64_t kRunBytes = 16 * 1024;

std::vector<StridedDim> Merge(const std::vector<StridedDim>& dims) {
  std::vector<StridedDim> merged;
  for (const StridedDim& dim : dims) {
    if (dim.size == 1) continue;
    if (!merged.empty() && merged.back().stride == dim.stride * dim.size &&
        merged.back().dst_stride == dim.dst_stride * dim.size) {
      merged.back() = {merged.back().size * dim.size, dim.stride, dim.dst_stride};
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

// One block: `rows` x `columns` elements of E.
template <typename E, bool kDense>
void CopyBlock(const StridedCopy& copy, const std::byte* src, std::byte* dst, int64_t rows,
               int64_t columns) {
  const int64_t step = kDense ? static_cast<int64_t>(sizeof(E)) : copy.columns.dst_stride;
  for (int64_t r = 0; r < rows; ++r) {
    const std::byte* from = src + r * copy.rows.stride;
    std::byte* to = dst + r * copy.rows.dst_stride;
    for (int64_t c = 0; c < columns; ++c) {
      E value;
      std::memcpy(&value, from + c * copy.columns.stride, sizeof(E));
      std::memcpy(to + c * step, &value, sizeof(E));
    }
  }
}

template <typename E>
void CopyElements(const StridedCopy& copy, const std::byte* src, std::byte* dst, int64_t rows,
                  int64_t columns) {
  if (copy.columns.dst_stride == static_cast<int64_t>(sizeof(E)))
    return CopyBlock<E, true>(copy, src, dst, rows, columns);
  CopyBlock<E, false>(copy, src, dst, rows, columns);
}

void CopyChunks(const StridedCopy& copy, const std::byte* src, std::byte* dst, int64_t rows,
                int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      std::memcpy(dst + r * copy.rows.dst_stride + c * copy.columns.dst_stride,
                  src + r * copy.rows.stride + c * copy.columns.stride,
                  static_cast<size_t>(copy.element));
    }
  }
}

void CopyAny(const StridedCopy& copy, const std::byte* src, std::byte* dst, int64_t rows,
             int64_t columns) {
  switch (copy.element) {
    case 1:
      if (copy.rows.stride == 1 && copy.columns.dst_stride == 1) {
        return copy.transpose(reinterpret_cast<const uint8_t*>(src), copy.columns.stride, rows,
                              columns, reinterpret_cast<uint8_t*>(dst), copy.rows.dst_stride);
      }
      return CopyElements<uint8_t>(copy, src, dst, rows, columns);
    case 2:
      return CopyElements<uint16_t>(copy, src, dst, rows, columns);
    case 4:
      return CopyElements<uint32_t>(copy, src, dst, rows, columns);
    case 8:
      return CopyElements<uint64_t>(copy, src, dst, rows, columns);
    default:
      return CopyChunks(copy, src, dst, rows, columns);
  }
}

}  // namespace

StridedCopy PlanStridedCopy(const std::vector<StridedDim>& dims, int64_t element, Isa isa) {
  StridedCopy copy;
  copy.transpose = TransposeBytesFor(isa);
  for (const StridedDim& dim : dims) {
    if (dim.size == 0) {
      copy.outer_count = 0;
      return copy;
    }
  }
  copy.element = element;
  std::vector<StridedDim> merged = Merge(dims);
  if (!merged.empty() && merged.back().stride == element && merged.back().dst_stride == element) {
    // Whole runs; a long one is divided evenly where its size allows, to give threads something to
    // share.
    int64_t run = merged.back().size, parts = 1;
    while (run % 2 == 0 && run * element > kRunBytes) {
      run /= 2;
      parts *= 2;
    }
    copy.element = run * element;
    merged.back() = {parts, copy.element, copy.element};
    if (parts == 1) merged.pop_back();
  }
  if (!merged.empty()) {
    copy.columns = merged.back();
    merged.pop_back();
  }
  // Among the other dimensions, the one that walks the source most closely becomes the block's
  // second side.
  auto closest = std::min_element(merged.begin(), merged.end(), [](const auto& a, const auto& b) {
    return std::abs(a.stride) < std::abs(b.stride);
  });
  if (closest != merged.end()) {
    copy.rows = *closest;
    merged.erase(closest);
  }
  copy.outer = std::move(merged);
  for (const StridedDim& dim : copy.outer) copy.outer_count *= dim.size;
  // Few columns: longer blocks, for the same number of bytes.
  if (copy.rows.stride == copy.element && copy.columns.size <= 8) copy.row_block *= 16;
  // Few rows, which are all that a column has.
  if (copy.rows.size <= 8 && copy.columns.stride == copy.rows.size * copy.element)
    copy.column_block *= 16;
  return copy;
}

void RunStridedCopy(const StridedCopy& copy, const std::byte* src, std::byte* dst,
                    const Team& team) {
  const int64_t row_blocks = (copy.rows.size + copy.row_block - 1) / copy.row_block;
  const int64_t column_blocks = (copy.columns.size + copy.column_block - 1) / copy.column_block;
  const Range part = Part(copy.outer_count * row_blocks * column_blocks, 1, team);
  for (int64_t item = part.begin; item < part.end; ++item) {
    const int64_t column = item % column_blocks * copy.column_block;
    const int64_t row = item / column_blocks % row_blocks * copy.row_block;
    int64_t rest = item / column_blocks / row_blocks;
    const std::byte* from = src + row * copy.rows.stride + column * copy.columns.stride;
    std::byte* to = dst + row * copy.rows.dst_stride + column * copy.columns.dst_stride;
    for (size_t d = copy.outer.size(); d-- > 0;) {
      const StridedDim& dim = copy.outer[d];
      from += rest % dim.size * dim.stride;
      to += rest % dim.size * dim.dst_stride;
      rest /= dim.size;
    }
    CopyAny(copy, from, to, std::min(copy.row_block, copy.rows.size - row),
            std::min(copy.column_block, copy.columns.size - column));
  }
}

}  // namespace rshift
