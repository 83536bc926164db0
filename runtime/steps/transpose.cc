// Transpose: a strided view with the source's strides in permuted order.
#include "runtime/steps/lists.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/strided_step.h"

namespace rshift {
namespace {

std::unique_ptr<Step> MakeTranspose(const StepContext& context) {
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

}  // namespace

void RegisterTransposeSteps() { RegisterStep(Opcode::kTranspose, MakeTranspose); }

}  // namespace rshift
