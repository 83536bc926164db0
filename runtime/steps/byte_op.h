// What an element-wise command on bytes does, apart from where the bytes are.
#ifndef RSHIFT_RUNTIME_STEPS_BYTE_OP_H_
#define RSHIFT_RUNTIME_STEPS_BYTE_OP_H_

#include <cstdint>
#include <memory>

#include "runtime/step.h"

namespace rshift {

class ByteOp {
 public:
  virtual ~ByteOp() = default;
  // y[0, count) from a[0, count) and b[0, count), which may be y. `at`: the first element's index
  // in the tensor, row-major. b is null where the command has one operand only.
  virtual void Run(const uint8_t* a, const uint8_t* b, uint8_t* y, int64_t at,
                   int64_t count) const noexcept = 0;
};

// Pointers of the context's operands are not looked at.
using MakeByteOp = std::unique_ptr<ByteOp> (*)(const StepContext&);

// Registers the op's step as well: src, and src2 of operations on two tensors, to dst.
void RegisterByteOp(Opcode opcode, MakeByteOp make);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_BYTE_OP_H_
