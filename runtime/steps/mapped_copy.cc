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

std::vector<Run> JoinRuns(const std::vector<int64_t>& map, int64_t bytes) {
  std::vector<Run> runs;
  for (size_t i = 0; i < map.size(); ++i) {
    const int64_t src = map[i] == kFillIndex ? kFillIndex : map[i] * bytes;
    if (!runs.empty()) {
      Run& last = runs.back();
      const bool fills = src == kFillIndex && last.src == kFillIndex;
      if (fills || (src != kFillIndex && last.src != kFillIndex && last.src + last.bytes == src)) {
        last.bytes += bytes;
        continue;
      }
    }
    runs.push_back({static_cast<int64_t>(i) * bytes, src, bytes});
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
    element_ = static_cast<int64_t>(SizeOf(src.dtype));
    const Shape strides = ByteStrides(src);
    size_t rank = maps.size();
    while (rank > 1 && IsIdentity(maps[rank - 1], src.shape[rank - 1])) --rank;
    if (rank == 0) {
      runs_ = {{0, 0, element_}};
    } else {
      runs_ = JoinRuns(maps[rank - 1], strides[rank - 1]);
      row_bytes_ = static_cast<int64_t>(maps[rank - 1].size()) * strides[rank - 1];
    }
    for (size_t d = 0; d + 1 < rank; ++d) {
      outer_.push_back(maps[d]);
      for (int64_t& index : outer_.back()) {
        if (index != kFillIndex) index *= strides[d];
      }
      rows_ *= static_cast<int64_t>(maps[d].size());
    }
    // An empty source has strides of 0: the size of a row is that of dst.
    const auto total = static_cast<int64_t>(context.Record(Field::kDst).bytes());
    if (total == 0) rows_ = 0;
    if (rows_ > 0 && src.bytes() == 0) {
      row_bytes_ = total / rows_;
      runs_ = {{0, kFillIndex, row_bytes_}};
    }
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row) RunRow(row);
  }

 private:
  void RunRow(int64_t row) noexcept {
    std::byte* dst = dst_ + row * row_bytes_;
    const std::byte* src = src_;
    int64_t rest = row;
    for (size_t d = outer_.size(); d-- > 0;) {
      const auto size = static_cast<int64_t>(outer_[d].size());
      const int64_t offset = outer_[d][static_cast<size_t>(rest % size)];
      rest /= size;
      if (offset == kFillIndex) return Fill(dst, row_bytes_);
      src += offset;
    }
    for (const struct Run& run : runs_) {
      if (run.src == kFillIndex) {
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
  int64_t rows_ = 1, row_bytes_ = 0;
  std::vector<std::vector<int64_t>> outer_;  // byte offsets into src, or kFillIndex
  std::vector<struct Run> runs_;
};

}  // namespace

std::unique_ptr<Step> MakeMappedStep(const StepContext& context,
                                     const std::vector<std::vector<int64_t>>& maps, int64_t fill) {
  return std::make_unique<MappedStep>(context, maps, fill);
}

}  // namespace rshift
