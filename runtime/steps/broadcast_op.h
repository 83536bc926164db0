// An element-wise command on bytes with a constant that is smaller than dst.
#ifndef RSHIFT_RUNTIME_STEPS_BROADCAST_OP_H_
#define RSHIFT_RUNTIME_STEPS_BROADCAST_OP_H_

#include <memory>
#include <optional>
#include <vector>

#include "runtime/kernels/lut.h"
#include "runtime/step.h"
#include "runtime/steps/byte_op.h"

namespace rshift {

// The operand of the command that is such a constant; none: both are of dst's shape.
std::optional<Field> BroadcastOperand(const StepContext& context);

// Hands `op` blocks in which the constant is where its bytes are. What the caller's blocks have as
// that operand is not looked at.
class BroadcastOp : public ByteOp {
 public:
  BroadcastOp(const StepContext& context, Field operand, std::unique_ptr<ByteOp> op);

  void Run(const ByteBlock& block) const noexcept override;
  size_t memory_bytes() const override { return pattern_.size() + tables_.size(); }

 private:
  ByteBlock WithConstant(ByteBlock block, int64_t at) const;
  void MakeTables(const StepContext& context, const Shape& from, const Shape& to);
  void RunByTables(const ByteBlock& block) const noexcept;

  std::unique_ptr<ByteOp> op_;
  bool first_ = false;            // src, not src2
  int64_t repeat_ = 1;            // elements after which the constant begins anew
  int64_t length_ = 1;            // a multiple of it: those of the pattern
  std::vector<uint8_t> pattern_;  // the constant as often as a block of some length needs it
  // Where one byte of the constant meets `run_` elements on end, as a channel's of an NCHW image:
  // what becomes of each byte with it, one table after the other.
  std::vector<uint8_t> tables_;
  int64_t run_ = 1;
  LutFn lut_ = nullptr;
};

// `op`, which takes a smaller constant from where it is itself, if the command has one.
std::unique_ptr<ByteOp> WithBroadcast(const StepContext& context, std::unique_ptr<ByteOp> op);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_BROADCAST_OP_H_
