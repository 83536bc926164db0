#include "runtime/steps/strided_shuffle.h"

#include <algorithm>

#include "runtime/steps/shuffle_plan.h"

namespace rshift {
namespace {

// A row's blocks stay in the first cache: three times as many bytes.
constexpr int64_t kRowBytes = 2048;
// Below it a row is not worth a call of its own, above it memcpy is as fast.
constexpr int64_t kShortestRow = 16, kLongestRun = 127;

// memset needs no table.
constexpr int64_t kFilled = 512;

// How many of `size` indices one row takes, at most `most`: all parts are equal where the size
// allows it.
int64_t PartOf(int64_t size, int64_t most) {
  if (size <= most) return size;
  for (int64_t part = most; part > most / 2; --part) {
    if (size % part == 0) return part;
  }
  return most;
}

// The bytes of src for each one of a row whose dimensions are `dims`.
std::vector<int64_t> SourceBytes(const std::vector<StridedDim>& dims, int64_t element) {
  int64_t count = 1;
  for (const StridedDim& dim : dims) count *= dim.size;
  std::vector<int64_t> bytes;
  StridedWalk walk(dims, 0);
  for (int64_t i = 0; i < count; ++i, walk.Next()) {
    for (int64_t byte = 0; byte < element; ++byte) bytes.push_back(walk.src() + byte);
  }
  return bytes;
}

// Planes of three, which TransposeBytes interleaves with half the loads.
bool IsImage(const std::vector<StridedDim>& dims, int64_t element) {
  return element == 1 && dims.size() > 1 && dims.back().size == 3 &&
         dims[dims.size() - 2].stride == 1 && dims[dims.size() - 2].size >= kShuffleBytes;
}

}  // namespace

StridedShuffle PlanStridedShuffle(const std::vector<StridedDim>& dims, int64_t element, Isa isa) {
  const ShuffleBytesFn run = ShuffleBytesFor(isa);
  const StridedDim& last = dims.back();
  const int64_t together = last.stride == element ? last.size * element : element;
  const bool copied = together > kLongestRun || (dims.size() == 1 && last.stride == element);
  const bool filled = element == 1 && last.stride == 0 && last.size >= kFilled;
  if (run == nullptr || copied || filled || IsImage(dims, element)) return {};
  StridedShuffle shuffle;
  // dims[begin] and those behind it are a row, as far as they fit.
  size_t begin = dims.size();
  int64_t bytes = element, part = 0;
  for (; begin > 0 && dims[begin - 1].dst_stride == bytes; bytes *= part) {
    const StridedDim& dim = dims[begin - 1];
    const int64_t fits = PartOf(dim.size, kRowBytes / bytes);
    if (fits == 0) break;
    --begin;
    part = fits;
    if (part == dim.size) continue;
    shuffle.rest = {1, dim.size % part * dim.stride, dim.size % part * dim.dst_stride};
    bytes *= part;
    break;
  }
  if (bytes < kShortestRow) return {};
  std::vector<StridedDim> row(dims.begin() + static_cast<int64_t>(begin), dims.end());
  shuffle.outer.assign(dims.begin(), dims.begin() + static_cast<int64_t>(begin));
  if (part < row[0].size) {
    shuffle.outer.push_back({row[0].size / part, part * row[0].stride, part * row[0].dst_stride});
    row[0].size = part;
  }
  shuffle.blocks = PlanShuffle(SourceBytes(row, element));
  if (shuffle.blocks.empty()) return {};
  for (const StridedDim& dim : shuffle.outer) shuffle.count *= dim.size;
  shuffle.run = run;
  return shuffle;
}

StridedShuffle PlanRowShuffle(const std::vector<int64_t>& row, int64_t rows, int64_t pitch,
                              Isa isa) {
  const ShuffleBytesFn run = ShuffleBytesFor(isa);
  if (run == nullptr) return {};
  const auto bytes = static_cast<int64_t>(row.size());
  const int64_t part = PartOf(rows, std::max<int64_t>(1, kRowBytes / bytes));
  std::vector<int64_t> from;
  for (int64_t r = 0; r < part; ++r) {
    for (const int64_t at : row) from.push_back(at + r * pitch);
  }
  StridedShuffle shuffle;
  shuffle.blocks = PlanShuffle(from);
  if (shuffle.blocks.empty()) return {};
  shuffle.count = rows / part;
  shuffle.outer = {{shuffle.count, part * pitch, part * bytes}};
  shuffle.rest = {1, rows % part * pitch, rows % part * bytes};
  shuffle.run = run;
  return shuffle;
}

void RunStridedShuffle(const StridedShuffle& shuffle, const std::byte* src, std::byte* dst,
                       const Team& team) {
  const auto blocks = static_cast<int64_t>(shuffle.blocks.size());
  const auto run = [&](int64_t from, int64_t to) {
    shuffle.run(shuffle.blocks.data(), blocks, reinterpret_cast<const uint8_t*>(src + from),
                reinterpret_cast<uint8_t*>(dst + to));
  };
  const Range part = ThreadRange(shuffle.count, 1, team);
  StridedWalk walk(shuffle.outer, part.begin);
  const size_t last = shuffle.outer.size() - 1;
  for (int64_t item = part.begin; item < part.end; ++item, walk.Next()) {
    run(walk.src(), walk.dst());
    if (shuffle.rest.dst_stride != 0 && walk.index(last) + 1 == shuffle.outer[last].size) {
      run(walk.src() + shuffle.rest.stride, walk.dst() + shuffle.rest.dst_stride);
    }
  }
}

}  // namespace rshift
