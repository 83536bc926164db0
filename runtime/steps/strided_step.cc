#include "runtime/steps/strided_step.h"

namespace rshift {
namespace {

class StridedStep : public Step {
 public:
  StridedStep(StridedCopy copy, const std::byte* src, std::byte* dst)
      : copy_(std::move(copy)), src_(src), dst_(dst) {}
  void Run(const Team& team) noexcept override { RunStridedCopy(copy_, src_, dst_, team); }

 private:
  StridedCopy copy_;
  const std::byte* src_;
  std::byte* dst_;
};

}  // namespace

std::unique_ptr<Step> MakeStridedStep(const StepContext& context,
                                      const std::vector<StridedDim>& dims, int64_t first) {
  const auto element = static_cast<int64_t>(SizeOf(context.Record(Field::kDst).dtype));
  StridedCopy copy = PlanStridedCopy(dims, element);
  if (copy.outer_count == 0) first = 0;  // nothing is read: stay inside the tensor
  return std::make_unique<StridedStep>(std::move(copy), context.In<std::byte>(Field::kSrc) + first,
                                       context.Out<std::byte>(Field::kDst));
}

}  // namespace rshift
