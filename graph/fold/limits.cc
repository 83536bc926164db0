#include "graph/fold/limits.h"

#include <limits>

#include "base/checked.h"
#include "base/error.h"

namespace rshift {
namespace {

constexpr const char* kAdvice =
    "; simplify the model (onnxsim), or make the constant an initializer";

}  // namespace

int64_t FoldWork(const Op& op, const std::vector<const Value*>& inputs, const Shape& shape) {
  int64_t work = NumElements(shape);
  if (std::holds_alternative<MatMul>(op) && !inputs[0]->shape.empty()) {
    const auto products = CheckedMul<int64_t>(work, inputs[0]->shape.back());
    if (!products) return std::numeric_limits<int64_t>::max();
    work = *products;
  }
  for (const Value* input : inputs) {
    if (input != nullptr) work += NumElements(input->shape);
  }
  return work;
}

bool FoldBudget::HasWork(int64_t work) const {
  return work <= kFoldedWork + kFoldedWorkPerGiven * given_ - work_;
}

void FoldBudget::Spend(int64_t bytes, int64_t work, bool filled) {
  int64_t& spent = filled ? filled_ : bytes_;
  const int64_t most_of_one = (filled ? kFilledBytesOfOne : kFoldedBytesOfOne + filled_) +
                              kFoldedBytesOfOnePerGiven * given_;
  RSHIFT_REQUIRE(bytes <= most_of_one, ErrorCode::kUnsupported, "its constant result has ", bytes,
                 " bytes, expected at most ", most_of_one, kAdvice);
  const int64_t most = (filled ? kFilledBytesOfAll : kFoldedBytesOfAll + filled_) +
                       kFoldedBytesOfAllPerGiven * given_;
  RSHIFT_REQUIRE(bytes <= most - spent, ErrorCode::kUnsupported, "with its result of ", bytes,
                 " bytes the constant part of the model makes ", spent + bytes,
                 " bytes, expected at most ", most, " (256 MiB and ", kFoldedBytesOfAllPerGiven,
                 " times the model's weights)", kAdvice);
  RSHIFT_REQUIRE(HasWork(work), ErrorCode::kUnsupported,
                 "executing it on its constant inputs takes ", work, " steps after ", work_,
                 ", expected at most ", kFoldedWork + kFoldedWorkPerGiven * given_, " in all",
                 kAdvice);
  spent += bytes;
  work_ += work;
}

}  // namespace rshift
