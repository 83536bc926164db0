// Data movement that is a strided view (Transpose, Slice, Expand, Tile), a part of a Concat
// (CopyInto), or an index map for each dimension (Pad, nearest Resize).
#include <algorithm>
#include <cstring>
#include <utility>

#include "codegen/container/strided_bytes.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"
#include "runtime/steps/lists.h"
#include "runtime/steps/mapped_copy.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/strided_step.h"

namespace rshift {
namespace {

class CopyIntoStep : public Step {
 public:
  explicit CopyIntoStep(const StepContext& context)
      : src_(context.In<std::byte>(Field::kSrc)),
        dst_(context.Out<std::byte>(Field::kDst) - context.Record(Field::kDst).offset) {
    const TensorRecord& src = context.Record(Field::kSrc);
    total_ = static_cast<int64_t>(src.bytes());
    const StridedBytes part = WrittenBytes(context.program->image(), *context.command);
    dst_ += part.offset;
    // The shorter of the pieces that are dense on either side.
    const StridedBytes whole = StridedBytesOf(src);
    chunk_ = static_cast<int64_t>(std::min(part.run, whole.run));
    src_pitch_ = whole.dense() ? chunk_ : static_cast<int64_t>(whole.pitch);
    dst_pitch_ = part.dense() ? chunk_ : static_cast<int64_t>(part.pitch);
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(total_, kCacheLine, team);
    for (int64_t at = part.begin; at < part.end;) {
      const int64_t row = at / chunk_, column = at % chunk_;
      const int64_t count = std::min(chunk_ - column, part.end - at);
      std::memcpy(dst_ + row * dst_pitch_ + column, src_ + row * src_pitch_ + column,
                  static_cast<size_t>(count));
      at += count;
    }
  }

 private:
  const std::byte* src_;
  std::byte* dst_;
  int64_t total_ = 0, chunk_ = 1;
  int64_t src_pitch_ = 0, dst_pitch_ = 0;  // between the starts of two chunks
};

int64_t PadSource(int64_t index, int64_t size, PadMode mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case PadMode::kReflect:  // the verifier bounds the pads by size - 1
      return index < 0 ? -index : 2 * (size - 1) - index;
    case PadMode::kEdge:
      return index < 0 ? 0 : size - 1;
    case PadMode::kConstant:
      break;
  }
  return kFillIndex;
}

// The view of src that maps are which repeat every index equally often; empty for other maps.
std::vector<StridedDim> RepeatedDims(const TensorRecord& src,
                                     const std::vector<std::vector<int64_t>>& maps) {
  const Shape strides = ByteStrides(src);
  std::vector<StridedDim> dims;
  for (size_t d = 0; d < maps.size(); ++d) {
    const auto out = static_cast<int64_t>(maps[d].size());
    if (src.shape[d] == 0 || out == 0 || out % src.shape[d] != 0) return {};
    const int64_t times = out / src.shape[d];
    for (int64_t i = 0; i < out; ++i) {
      if (maps[d][static_cast<size_t>(i)] != i / times) return {};
    }
    dims.push_back({src.shape[d], strides[d]});
    dims.push_back({times, 0});
  }
  return dims;
}

// A nearest resize by 2 along the rows of a dense tensor of words, and by any number across them.
bool RepeatsWordsTwice(const TensorRecord& src, const TensorRecord& dst,
                       const std::vector<StridedDim>& repeated) {
  if (repeated.size() < 4 || SizeOf(src.dtype) != sizeof(float)) return false;
  if (src.pitch != 0 || dst.pitch != 0 || repeated.back().size != 2) return false;
  for (size_t d = 1; d + 4 < repeated.size(); d += 2) {
    if (repeated[d].size != 1) return false;
  }
  return true;
}

std::unique_ptr<Step> MakeTwiceStep(const StepContext& context, int64_t times) {
  const auto run = f32::RowKernelsFor(context.isa).plane_row_twice;
  const int64_t n = context.Record(Field::kSrc).shape.back();
  const int64_t rows = NumElements(context.Record(Field::kSrc).shape) / n;
  const auto* x = context.In<float>(Field::kSrc);
  auto* y = context.Out<float>(Field::kDst);
  return f32::StepFrom([=](const Team& team) {
    const Range range = ThreadRange(rows, 1, team);
    for (int64_t row = range.begin; row < range.end; ++row)
      run(x + row * n, n, y + row * times * 2 * n, times);
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Transpose&) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const std::vector<int64_t> perm = ReadList(context, Field::kList);
  const Shape strides = ByteStrides(src);
  std::vector<StridedDim> dims;
  dims.reserve(perm.size());
  for (const int64_t axis : perm) {
    dims.push_back({src.shape[static_cast<size_t>(axis)], strides[static_cast<size_t>(axis)]});
  }
  return MakeStridedStep(context, dims, 0);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Slice&) {
  const TensorRecord& dst = context.Record(Field::kDst);
  // Of an empty tensor and of a single index, starts and steps may be any.
  if (dst.bytes() == 0) return MakeStridedStep(context, {{0, 0}}, 0);
  const std::vector<int64_t> starts = ReadList(context, Field::kList);
  const std::vector<int64_t> steps = ReadList(context, Field::kList2);
  const Shape strides = ByteStrides(context.Record(Field::kSrc));
  std::vector<StridedDim> dims;
  int64_t first = 0;
  for (size_t d = 0; d < dst.shape.size(); ++d) {
    first += starts[d] * strides[d];
    dims.push_back({dst.shape[d], dst.shape[d] == 1 ? 0 : steps[d] * strides[d]});
  }
  return MakeStridedStep(context, dims, first);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Expand&) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const TensorRecord& dst = context.Record(Field::kDst);
  const Shape strides = ByteStrides(src);
  const size_t missing = dst.shape.size() - src.shape.size();
  std::vector<StridedDim> dims;
  for (size_t d = 0; d < dst.shape.size(); ++d) {
    const bool repeated = d < missing || src.shape[d - missing] == 1;
    dims.push_back({dst.shape[d], repeated ? 0 : strides[d - missing]});
  }
  return MakeStridedStep(context, dims, 0);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Tile&) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const std::vector<int64_t> repeats = ReadList(context, Field::kList);
  const Shape strides = ByteStrides(src);
  std::vector<StridedDim> dims;
  for (size_t d = 0; d < src.shape.size(); ++d) {
    dims.push_back({repeats[d], 0});
    dims.push_back({src.shape[d], strides[d]});
  }
  return MakeStridedStep(context, dims, 0);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::CopyInto&) {
  return std::make_unique<CopyIntoStep>(context);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Pad& c) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const TensorRecord& dst = context.Record(Field::kDst);
  const std::vector<int64_t> before = ReadList(context, Field::kList);
  // An empty tensor may have one huge dimension: no maps for it.
  if (dst.bytes() == 0) return MakeStridedStep(context, {{0, 0}}, 0);
  std::vector<std::vector<int64_t>> maps(dst.shape.size());
  for (size_t d = 0; d < dst.shape.size(); ++d) {
    for (int64_t i = 0; i < dst.shape[d]; ++i) {
      maps[d].push_back(PadSource(i - before[d], src.shape[d], c.mode));
    }
  }
  return MakeMappedStep(context, maps, c.fill);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeNearest&) {
  const TensorRecord& src = context.Record(Field::kSrc);
  const TensorRecord& dst = context.Record(Field::kDst);
  const std::vector<int64_t> list = ReadList(context, Field::kList);
  std::vector<std::vector<int64_t>> maps;
  auto next = list.begin();
  for (const int64_t size : dst.shape) {
    maps.emplace_back(next, next + size);
    next += size;
  }
  // Elements that are repeated one by one are a view; whole pixels are copied as fast by their map.
  const std::vector<StridedDim> repeated = RepeatedDims(src, maps);
  const bool of_elements = !maps.empty() && dst.pitch == 0 && dst.shape.back() > src.shape.back();
  if (RepeatsWordsTwice(src, dst, repeated))
    return MakeTwiceStep(context, repeated[repeated.size() - 3].size);
  if (of_elements && !repeated.empty()) return MakeStridedStep(context, repeated, 0);
  return MakeMappedStep(context, maps, 0);
}

}  // namespace rshift
