// Products of two activations: where their matrices lie.
#ifndef RSHIFT_RUNTIME_STEPS_BATCH_OFFSETS_H_
#define RSHIFT_RUNTIME_STEPS_BATCH_OFFSETS_H_

#include "runtime/step.h"

namespace rshift {

// Fewer rows than this of one matrix for each thread: threads divide its columns instead, so that
// each column is packed once.
inline constexpr int64_t kFewRows = 64;

// Where the matrices of an operand that broadcasts to the batches of dst lie.
class BatchOffsets {
 public:
  BatchOffsets() = default;
  // `batches`: the leading dimensions of dst; `shape`: of the operand.
  BatchOffsets(const Shape& batches, const Shape& shape)
      : dims_(batches), strides_(batches.size(), 0) {
    int64_t stride = shape[shape.size() - 2] * shape.back();
    for (size_t d = shape.size() - 2, to = batches.size(); d-- > 0;) {
      strides_[--to] = shape[d] == 1 ? 0 : stride;
      stride *= shape[d];
    }
  }
  int64_t Of(int64_t batch) const noexcept {
    int64_t offset = 0;
    for (size_t d = dims_.size(); d-- > 0; batch /= dims_[d]) {
      offset += batch % dims_[d] * strides_[d];
    }
    return offset;
  }

 private:
  Shape dims_, strides_;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_BATCH_OFFSETS_H_
