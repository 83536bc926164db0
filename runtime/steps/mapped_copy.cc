#include "runtime/steps/mapped_copy.h"

#include <cstring>

#include "runtime/steps/lists.h"

namespace rshift {
namespace {

// A piece of a destination row that is one piece of the source, or fill.
struct Run {
  int64_t dst = 0;
  int64_t src = 0;  // bytes, or kFillIndex
  int64_t bytes = 0;
};

bool IsIdentity(const std::vector<int64_t>& map, int64_t src_size) {
  if (static_cast<int64_t>(map.size()) != src_size) return false;
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Bytes of an index in both tensors, and from one index to the next.
struct Spacing {
  int64_t bytes = 0, src = 0, dst = 0;
};

std::vector<Run> JoinRuns(const std::vector<int64_t>& map, const Spacing& spacing) {
  std::vector<Run> runs;
  for (size_t i = 0; i < map.size(); ++i) {
    const int64_t src = map[i] == kFillIndex ? kFillIndex : map[i] * spacing.src;
    const int64_t dst = static_cast<int64_t>(i) * spacing.dst;
    if (!runs.empty() && runs.back().dst + runs.back().bytes == dst) {
      Run& last = runs.back();
      const bool fills = src == kFillIndex && last.src == kFillIndex;
      if (fills || (src != kFillIndex && last.src != kFillIndex && last.src + last.bytes == src)) {
        last.bytes += spacing.bytes;
        continue;
      }
    }
    runs.push_back({dst, src, spacing.bytes});
  }
  return runs;
}

class MappedStep : public Step {
 public:
  MappedStep(const StepContext& context, const std::vector<std::vector<int64_t>>& maps,
             int64_t fill)
      : src_(context.In<std::byte>(Field::kSrc)),
        dst_(context.Out<std::byte>(Field::kDst)),
        fill_(static_cast<uint64_t>(fill)) {
    const TensorRecord& src = context.Record(Field::kSrc);
    const TensorRecord& dst = context.Record(Field::kDst);
    element_ = static_cast<int64_t>(SizeOf(src.dtype));
    // An empty source has strides of 0, and nothing but fill is asked for.
    if (dst.bytes() == 0 || src.bytes() == 0) {
      FillAll(dst);
      return;
    }
    const Shape strides = ByteStrides(src), dst_strides = ByteStrides(dst);
    // The last dimensions are one run when nothing is mapped there and no gap lies between.
    size_t rank = maps.size();
    int64_t bytes = element_;
    while (rank > 1 && IsIdentity(maps[rank - 1], src.shape[rank - 1]) &&
           strides[rank - 1] == bytes && dst_strides[rank - 1] == bytes) {
      bytes *= src.shape[--rank];
    }
    if (rank == 0) {
      runs_ = {{0, 0, element_}};
    } else {
      runs_ = JoinRuns(maps[rank - 1], {bytes, strides[rank - 1], dst_strides[rank - 1]});
      row_step_ = rank > 1 ? dst_strides[rank - 2] : 0;
    }
    for (size_t d = 0; d + 1 < rank; ++d) {
      outer_.push_back(maps[d]);
      for (int64_t& index : outer_.back()) {
        if (index != kFillIndex) index *= strides[d];
      }
      rows_ *= static_cast<int64_t>(maps[d].size());
    }
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row) RunRow(row);
  }

 private:
  // All of dst, which is nothing when it is empty.
  void FillAll(const TensorRecord& dst) {
    rows_ = dst.bytes() == 0 ? 0 : static_cast<int64_t>(dst.rows());
    row_step_ = static_cast<int64_t>(dst.row_pitch());
    runs_ = {{0, kFillIndex, static_cast<int64_t>(dst.row_bytes())}};
  }

  void RunRow(int64_t row) noexcept {
    std::byte* dst = dst_ + row * row_step_;
    const std::byte* src = src_;
    bool outside = false;
    int64_t rest = row;
    for (size_t d = outer_.size(); d-- > 0;) {
      const auto size = static_cast<int64_t>(outer_[d].size());
      const int64_t offset = outer_[d][static_cast<size_t>(rest % size)];
      rest /= size;
      outside |= offset == kFillIndex;
      src += offset == kFillIndex ? 0 : offset;
    }
    for (const struct Run& run : runs_) {
      if (outside || run.src == kFillIndex) {
        Fill(dst + run.dst, run.bytes);
      } else {
        std::memcpy(dst + run.dst, src + run.src, static_cast<size_t>(run.bytes));
      }
    }
  }

  void Fill(std::byte* dst, int64_t bytes) noexcept {
    if (element_ == 1) {
      std::memset(dst, static_cast<int>(fill_ & 0xff), static_cast<size_t>(bytes));
      return;
    }
    for (int64_t i = 0; i < bytes; i += element_) {
      std::memcpy(dst + i, &fill_, static_cast<size_t>(element_));  // little-endian: the low bytes
    }
  }

  const std::byte* src_;
  std::byte* dst_;
  uint64_t fill_;
  int64_t element_ = 1;
  int64_t rows_ = 1, row_step_ = 0;          // of the dimensions before the runs
  std::vector<std::vector<int64_t>> outer_;  // byte offsets into src, or kFillIndex
  std::vector<struct Run> runs_;
};

}  // namespace

std::unique_ptr<Step> MakeMappedStep(const StepContext& context,
                                     const std::vector<std::vector<int64_t>>& maps, int64_t fill) {
  return std::make_unique<MappedStep>(context, maps, fill);
}

}  // namespace rshift
