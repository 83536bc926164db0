// Gather: slices of src on one axis, chosen by an index tensor. Indices are data: one that is
// outside the axis (after adding its size to a negative one) gives zeros and is reported
// (Session::Fault). Small slices by constant indices are byte shuffles.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/steps/copy_small.h"
#include "runtime/steps/lists.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/strided_step.h"

namespace rshift {
namespace {

// src is outer x size slices, dst outer x count of them, each of `chunk` bytes.
struct GatherShape {
  int64_t outer = 1, size = 0, count = 0, chunk = 0;
};

GatherShape ShapeOf(const StepContext& context, int64_t on_axis) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const auto axis = static_cast<size_t>(on_axis);
  GatherShape shape{.size = src.shape[axis],
                    .count = NumElements(context.Record(Field::kSrc2).shape),
                    .chunk = static_cast<int64_t>(SizeOf(src.dtype))};
  for (size_t d = 0; d < src.shape.size(); ++d) {
    if (d < axis) shape.outer *= src.shape[d];
    if (d > axis) shape.chunk *= src.shape[d];
  }
  return shape;
}

class GatherStep : public Step {
 public:
  explicit GatherStep(const StepContext& context, const GatherShape& shape)
      : src_(context.In<std::byte>(Field::kSrc)),
        dst_(context.Out<std::byte>(Field::kDst)),
        indices_(context.In(Field::kSrc2)),
        wide_(context.Record(Field::kSrc2).dtype == DType::kS64),
        shape_(shape) {}

  void Run(const Team& team) noexcept override {
    if (shape_.chunk > kSmallChunk) return RunLarge(team);
    WithCopyOf(shape_.chunk, [&](auto copy) { RunSmall(team, copy); });
  }

  FaultKeeper* faults() override { return &faults_; }

 private:
  static constexpr int64_t kNowhere = -1;
  static constexpr int64_t kSmallChunk = 64, kPiece = 16 * 1024;
  static constexpr int64_t kBlock = 128;  // indices that are read once for many rows

  // Where a slice begins behind its row of slices.
  int64_t SliceAt(int64_t i) {
    const int64_t given =
        wide_ ? static_cast<const int64_t*>(indices_)[i] : static_cast<const int32_t*>(indices_)[i];
    const int64_t index = given < 0 ? given + shape_.size : given;
    if (index >= 0 && index < shape_.size) return index * shape_.chunk;
    faults_.Report(i, given, shape_.size);
    return kNowhere;
  }

  template <typename Copy>
  void RunSmall(const Team& team, const Copy& copy) {
    std::array<int64_t, kBlock> at;
    int64_t known = -1;  // the block whose slices `at` has
    const int64_t blocks = (shape_.count + kBlock - 1) / kBlock;
    const Range part = ThreadRange(blocks * shape_.outer, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t block = item / shape_.outer, row = item % shape_.outer;
      const int64_t first = block * kBlock, count = std::min(kBlock, shape_.count - first);
      if (block != known) {
        for (int64_t i = 0; i < count; ++i) at[static_cast<size_t>(i)] = SliceAt(first + i);
        known = block;
      }
      const std::byte* src = src_ + row * shape_.size * shape_.chunk;
      std::byte* dst = dst_ + (row * shape_.count + first) * shape_.chunk;
      for (int64_t i = 0; i < count; ++i, dst += shape_.chunk) {
        const int64_t from = at[static_cast<size_t>(i)];
        if (from == kNowhere) {
          std::memset(dst, 0, static_cast<size_t>(shape_.chunk));
        } else {
          copy(src + from, dst);
        }
      }
    }
  }

  // In pieces, so that threads share even one slice.
  void RunLarge(const Team& team) {
    const int64_t pieces = (shape_.chunk + kPiece - 1) / kPiece;
    const Range part = ThreadRange(shape_.outer * shape_.count * pieces, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t slice = item / pieces, begin = item % pieces * kPiece;
      const int64_t row = slice / shape_.count, from = SliceAt(slice % shape_.count);
      const auto bytes = static_cast<size_t>(std::min(kPiece, shape_.chunk - begin));
      std::byte* dst = dst_ + slice * shape_.chunk + begin;
      if (from == kNowhere) {
        std::memset(dst, 0, bytes);
      } else {
        std::memcpy(dst, src_ + row * shape_.size * shape_.chunk + from + begin, bytes);
      }
    }
  }

  const std::byte* src_;
  std::byte* dst_;
  const void* indices_;
  bool wide_;
  GatherShape shape_;
  FaultKeeper faults_;
};

// Constant indices, which the verifier has found inside the axis, for many rows of few bytes. A
// table of three times a row's bytes is made at load: not for a long row, nor for few rows.
StridedShuffle PlanGather(const StepContext& context, const GatherShape& shape) {
  constexpr int64_t kFewRows = 8, kLongRow = 4096;
  if (context.Record(Field::kSrc2).region != Region::kConst || shape.outer < kFewRows ||
      shape.count > kLongRow || shape.chunk * shape.count > kLongRow)
    return {};
  std::vector<int64_t> row;
  for (const int64_t index : ReadList(context, Field::kSrc2)) {
    const int64_t slice = index < 0 ? index + shape.size : index;
    for (int64_t byte = 0; byte < shape.chunk; ++byte) row.push_back(slice * shape.chunk + byte);
  }
  const int64_t pitch = shape.size * shape.chunk;
  return PlanRowShuffle(row, shape.outer, pitch, context.isa);
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Gather& c) {
  // An empty tensor may have one huge dimension.
  if (context.Record(Field::kDst).bytes() == 0) return MakeStridedStep(context, {{0, 0}}, 0);
  const GatherShape shape = ShapeOf(context, c.axis);
  StridedCopy copy;
  copy.shuffle = PlanGather(context, shape);
  if (copy.shuffle.run == nullptr) return std::make_unique<GatherStep>(context, shape);
  return MakeStridedStep(context, std::move(copy));
}

}  // namespace rshift
