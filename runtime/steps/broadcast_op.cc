#include "runtime/steps/broadcast_op.h"

#include <algorithm>
#include <utility>

#include "base/aligned.h"
#include "codegen/container/broadcast.h"

namespace rshift {
namespace {

// A constant of the last `repeat` elements of `to`, one element each.
std::vector<uint8_t> SpreadOut(const uint8_t* bytes, const Shape& from, const Shape& to,
                               int64_t repeat) {
  const size_t missing = to.size() - from.size();
  const Shape strides = Strides(from);
  std::vector<uint8_t> spread(static_cast<size_t>(repeat));
  for (int64_t i = 0; i < repeat; ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = to.size(); d-- > missing && rest > 0;) {
      if (from[d - missing] != 1) at += rest % to[d] * strides[d - missing];
      rest /= to[d];
    }
    spread[static_cast<size_t>(i)] = bytes[at];
  }
  return spread;
}

}  // namespace

std::optional<Field> BroadcastOperand(const StepContext& context) {
  for (const Field operand : {Field::kSrc, Field::kSrc2}) {
    if (IsBroadcast(context.program->image(), *context.command, operand)) return operand;
  }
  return {};
}

BroadcastOp::BroadcastOp(const StepContext& context, Field operand, std::unique_ptr<ByteOp> op)
    : op_(std::move(op)), first_(operand == Field::kSrc) {
  const Shape& from = context.Record(operand).shape;
  const Shape& to = context.Record(Field::kDst).shape;
  if (NumElements(to) == 0) return;
  repeat_ = BroadcastPeriod(from, to);
  pattern_ = SpreadOut(context.In<uint8_t>(operand), from, to, repeat_);
  length_ = repeat_ * std::max<int64_t>(1, kBroadcastBlock / repeat_);
  pattern_.reserve(static_cast<size_t>(length_) + kBufferSlack);
  while (std::ssize(pattern_) < length_) {
    pattern_.push_back(pattern_[pattern_.size() - static_cast<size_t>(repeat_)]);
  }
  pattern_.resize(static_cast<size_t>(length_) + kBufferSlack);
}

ByteBlock BroadcastOp::WithConstant(ByteBlock block, int64_t at) const {
  (first_ ? block.a : block.b) = pattern_.data() + at;
  (first_ ? block.rows.pitch_a : block.rows.pitch_b) = 0;
  return block;
}

void BroadcastOp::Run(const ByteBlock& block) const noexcept {
  const int64_t count = block.rows.count;
  const int64_t at = block.at % length_;
  if (block.row_steps % repeat_ == 0 && at + count <= length_) {  // the same bytes for each row
    op_->Run(WithConstant(block, at));
    return;
  }
  for (int64_t r = 0; r < block.rows.rows; ++r) {
    for (int64_t i = 0; i < count;) {
      const int64_t first = (block.at + r * block.row_steps + i) % length_;
      const int64_t n = std::min(count - i, length_ - first);
      op_->Run(WithConstant(block.Row(r, i, n), first));
      i += n;
    }
  }
}

}  // namespace rshift
