// What an element-wise command on bytes does, apart from where the bytes are.
#ifndef RSHIFT_RUNTIME_STEPS_BYTE_OP_H_
#define RSHIFT_RUNTIME_STEPS_BYTE_OP_H_

#include <cstdint>
#include <memory>

#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"

namespace rshift {

// Rows of elements: where they are, and which ones of the tensor.
struct ByteBlock {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;  // not looked at where the command has one operand only
  uint8_t* y = nullptr;        // may be a or b
  RowBlock rows;
  int64_t at = 0;         // index of the first element, row-major
  int64_t row_steps = 0;  // indices from row to row

  // The part of row r that begins with element i.
  ByteBlock Row(int64_t r, int64_t i, int64_t count) const {
    return {a + r * rows.pitch_a + i, b == nullptr ? nullptr : b + r * rows.pitch_b + i,
            y + r * rows.pitch_y + i, {.count = count},
            at + r * row_steps + i,   0};
  }
};

class ByteOp {
 public:
  virtual ~ByteOp() = default;
  // y from a and b, element by element.
  virtual void Run(const ByteBlock& block) const noexcept = 0;
  // Step::memory_bytes().
  virtual size_t memory_bytes() const { return 0; }
};

// The step of a command that is `op`: src, and src2 of operations on two tensors, to dst.
std::unique_ptr<Step> MakeByteOpStep(const StepContext& context, std::unique_ptr<ByteOp> op);
// Does it read src2 next to src?
bool HasTwoOperands(const Command& command);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_BYTE_OP_H_
