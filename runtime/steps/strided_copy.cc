#include "runtime/steps/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/kernels/transpose_int16.h"
#include "runtime/steps/copy_small.h"

namespace rshift {
namespace {

// A dense run is cut into elements of this size, so that threads share it.
constexpr int64_t kRunBytes = 16 * 1024;
constexpr int64_t kBlockBytes = 4096;

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

// A side of a block.
struct Side {
  int64_t size = 1, stride = 0, dst_stride = 0;
};

// The longer side is the inner loop.
void CopyBlock(int64_t element, const std::byte* src, std::byte* dst, Side outer, Side inner) {
  if (inner.size < outer.size) std::swap(inner, outer);
  WithCopyOf(element, [&](auto copy) {
    for (int64_t o = 0; o < outer.size; ++o) {
      const std::byte* from = src + o * outer.stride;
      std::byte* to = dst + o * outer.dst_stride;
      for (int64_t i = 0; i < inner.size; ++i, from += inner.stride, to += inner.dst_stride)
        copy(from, to);
    }
  });
}

void CopyAny(const StridedCopy& copy, const std::byte* src, std::byte* dst, int64_t rows,
             int64_t columns) {
  if (copy.element == 1 && copy.columns.dst_stride == 1) {
    if (copy.columns.stride == 0) {
      for (int64_t r = 0; r < rows; ++r) {
        std::memset(dst + r * copy.rows.dst_stride, static_cast<int>(src[r * copy.rows.stride]),
                    static_cast<size_t>(columns));
      }
      return;
    }
    if (copy.rows.stride == 1) {
      return copy.transpose(reinterpret_cast<const uint8_t*>(src), copy.columns.stride, rows,
                            columns, reinterpret_cast<uint8_t*>(dst), copy.rows.dst_stride);
    }
  }
  if (copy.element == 4 && copy.columns.dst_stride == 4 && copy.rows.stride == 4) {
    return copy.transpose_words(reinterpret_cast<const uint32_t*>(src), copy.columns.stride / 4,
                                rows, columns, reinterpret_cast<uint32_t*>(dst),
                                copy.rows.dst_stride / 4);
  }
  if (copy.element == 2 && copy.columns.dst_stride == 2 && copy.rows.stride == 2) {
    return TransposeInt16(reinterpret_cast<const uint16_t*>(src), copy.columns.stride / 2, rows,
                          columns, reinterpret_cast<uint16_t*>(dst), copy.rows.dst_stride / 2);
  }
  CopyBlock(copy.element, src, dst, {rows, copy.rows.stride, copy.rows.dst_stride},
            {columns, copy.columns.stride, copy.columns.dst_stride});
}

// Blocks of about a thousand elements, whose lines of both sides stay in the first cache; of long
// elements and runs of one value a few pages: these share no lines, and threads want to share.
void PlanBlocks(StridedCopy* copy) {
  if (copy->element >= 64 || copy->columns.stride == 0) {
    copy->column_block = std::max<int64_t>(1, kBlockBytes / copy->element);
    copy->row_block = std::max<int64_t>(1, copy->column_block / copy->columns.size);
  } else {
    // Bytes are transposed in lines of 64, and numbers of two bytes.
    if (copy->element <= 2 && copy->rows.stride == copy->element)
      copy->row_block = copy->column_block = 64;
    // Of words a few whole pixels, which are one piece of memory on one side, and lines on the
    // other.
    if (copy->element == 4 && copy->rows.stride == 4) {
      const bool pixels_are_rows = copy->rows.dst_stride < copy->columns.stride;
      (pixels_are_rows ? copy->row_block : copy->column_block) = 64;
      (pixels_are_rows ? copy->column_block : copy->row_block) = 256;
    }
    if (copy->columns.size <= 8) copy->row_block *= 16;
    if (copy->rows.size <= 8) copy->column_block *= 16;
  }
  const auto blocks = [](const StridedDim& dim, int64_t block) {
    return StridedDim{(dim.size + block - 1) / block, block * dim.stride, block * dim.dst_stride};
  };
  copy->outer.push_back(blocks(copy->rows, copy->row_block));
  copy->outer.push_back(blocks(copy->columns, copy->column_block));
  for (const StridedDim& dim : copy->outer) copy->count *= dim.size;
}

// Three planes of words that become pixels, for which there are registers enough to interleave
// them.
bool ArePixelsOfThreeWords(const std::vector<StridedDim>& dims, int64_t element) {
  if (element != 4 || dims.size() < 2) return false;
  const StridedDim& channels = dims.back();
  const StridedDim& pixels = dims[dims.size() - 2];
  return channels.size == 3 && channels.dst_stride == 4 && pixels.stride == 4 &&
         pixels.dst_stride == 12;
}

}  // namespace

StridedCopy PlanStridedCopy(const std::vector<StridedDim>& dims, int64_t element, Isa isa) {
  StridedCopy copy;
  copy.transpose = TransposeBytesFor(isa);
  copy.transpose_words = TransposeWordsFor(isa);
  for (const StridedDim& dim : dims) {
    if (dim.size == 0) {
      copy.count = 0;
      return copy;
    }
  }
  copy.element = element;
  std::vector<StridedDim> merged = Merge(dims);
  if (!merged.empty() && !ArePixelsOfThreeWords(merged, element))
    copy.shuffle = PlanStridedShuffle(merged, element, isa);
  if (copy.shuffle.run != nullptr) return copy;
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
  PlanBlocks(&copy);
  return copy;
}

void RunStridedCopy(const StridedCopy& copy, const std::byte* src, std::byte* dst,
                    const Team& team) {
  if (copy.shuffle.run != nullptr) return RunStridedShuffle(copy.shuffle, src, dst, team);
  const Range part = ThreadRange(copy.count, 1, team);
  if (part.begin == part.end) return;
  StridedWalk walk(copy.outer, part.begin);
  const size_t columns = copy.outer.size() - 1, rows = columns - 1;
  for (int64_t item = part.begin; item < part.end; ++item, walk.Next()) {
    CopyAny(
        copy, src + walk.src(), dst + walk.dst(),
        std::min(copy.row_block, copy.rows.size - walk.index(rows) * copy.row_block),
        std::min(copy.column_block, copy.columns.size - walk.index(columns) * copy.column_block));
  }
}

}  // namespace rshift
