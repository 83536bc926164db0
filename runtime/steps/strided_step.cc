#include "runtime/steps/strided_step.h"

#include "runtime/steps/lists.h"

namespace rshift {
namespace {

class StridedStep : public Step {
 public:
  StridedStep(StridedCopy copy, const std::byte* src, std::byte* dst)
      : copy_(std::move(copy)), src_(src), dst_(dst) {}
  void Run(const Team& team) noexcept override { RunStridedCopy(copy_, src_, dst_, team); }
  size_t memory_bytes() const override {
    return copy_.shuffle.blocks.size() * sizeof(ShuffleBlock);
  }

 private:
  StridedCopy copy_;
  const std::byte* src_;
  std::byte* dst_;
};

}  // namespace

std::unique_ptr<Step> MakeStridedStep(const StepContext& context, std::vector<StridedDim> dims,
                                      int64_t first) {
  const TensorRecord& dst = context.Record(Field::kDst);
  const auto element = static_cast<int64_t>(SizeOf(dst.dtype));
  if (dst.bytes() == 0) dims = {{0, 0, 0}};  // other dimensions may be huge
  int64_t dense = element;
  const Shape strides = ByteStrides(dst);
  for (size_t d = dims.size(); d-- > 0;) {
    dims[d].dst_stride = dst.pitch != 0 ? strides[d] : dense;
    dense *= dims[d].size;
  }
  StridedCopy copy = PlanStridedCopy(dims, element, context.isa);
  if (copy.count == 0) first = 0;  // nothing is read: stay inside the tensor
  return std::make_unique<StridedStep>(std::move(copy), context.In<std::byte>(Field::kSrc) + first,
                                       context.Out<std::byte>(Field::kDst));
}

std::unique_ptr<Step> MakeStridedStep(const StepContext& context, StridedCopy copy) {
  return std::make_unique<StridedStep>(std::move(copy), context.In<std::byte>(Field::kSrc),
                                       context.Out<std::byte>(Field::kDst));
}

}  // namespace rshift
