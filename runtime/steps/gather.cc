// Gather: slices of src on one axis, chosen by an index tensor. Indices are data: one that is
// outside the axis (after adding its size to a negative one) gives zeros, since a running program
// cannot fail.
#include <cstring>

#include "runtime/step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class GatherStep : public Step {
 public:
  explicit GatherStep(const StepContext& context)
      : src_(context.In<std::byte>(Field::kSrc)),
        dst_(context.Out<std::byte>(Field::kDst)),
        indices_(context.In(Field::kSrc2)) {
    const TensorRecord& src = context.Record(Field::kSrc);
    const TensorRecord& indices = context.Record(Field::kSrc2);
    const auto axis = static_cast<size_t>(context.command->Get(Field::kAxis));
    wide_ = indices.dtype == DType::kS64;
    count_ = NumElements(indices.shape);
    size_ = src.shape[axis];
    chunk_ = static_cast<int64_t>(SizeOf(src.dtype));
    for (size_t d = 0; d < src.shape.size(); ++d) {
      if (d < axis) outer_ *= src.shape[d];
      if (d > axis) chunk_ *= src.shape[d];
    }
  }

  void Run(const Team& team) noexcept override {
    const Range part = Part(outer_ * count_, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      int64_t index = Index(item % count_);
      if (index < 0) index += size_;
      std::byte* dst = dst_ + item * chunk_;
      if (index < 0 || index >= size_) {
        std::memset(dst, 0, static_cast<size_t>(chunk_));
      } else {
        std::memcpy(dst, src_ + (item / count_ * size_ + index) * chunk_,
                    static_cast<size_t>(chunk_));
      }
    }
  }

 private:
  int64_t Index(int64_t i) const {
    return wide_ ? static_cast<const int64_t*>(indices_)[i]
                 : static_cast<const int32_t*>(indices_)[i];
  }

  const std::byte* src_;
  std::byte* dst_;
  const void* indices_;
  bool wide_ = false;
  int64_t outer_ = 1, count_ = 0, size_ = 0, chunk_ = 0;
};

}  // namespace

void RegisterGatherSteps() {
  RegisterStep(Opcode::kGather, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<GatherStep>(context);
  });
}

}  // namespace rshift
