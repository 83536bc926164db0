#include "runtime/steps/broadcast_op.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/aligned.h"
#include "codegen/container/broadcast.h"

namespace rshift {
namespace {

// Each block of `size` bytes `copies` times.
std::vector<uint8_t> Repeated(const std::vector<uint8_t>& blocks, size_t size, size_t copies) {
  std::vector<uint8_t> all(blocks.size() * copies);
  uint8_t* out = all.data();
  for (size_t at = 0; at < blocks.size(); at += size, out += size * copies) {
    std::memcpy(out, blocks.data() + at, size);
    for (size_t done = size; done < size * copies;) {  // doubled: few copies of many bytes
      const size_t more = std::min(done, size * copies - done);
      std::memcpy(out + done, out, more);
      done += more;
    }
  }
  return all;
}

// A constant of one byte elements, spread out to its period in `to` (BroadcastPeriod): dimension
// after dimension from the last one, until a single block is left.
std::vector<uint8_t> SpreadOut(const uint8_t* bytes, const Shape& from, const Shape& to) {
  const size_t missing = to.size() - from.size();
  std::vector<uint8_t> spread(bytes, bytes + NumElements(from));
  size_t block = 1;
  for (size_t d = from.size(); d-- > 0 && spread.size() != block;) {
    const auto size = static_cast<size_t>(to[d + missing]);
    if (from[d] == 1 && size > 1) spread = Repeated(spread, block, size);
    block *= size;
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
  pattern_ = SpreadOut(context.In<uint8_t>(operand), from, to);
  length_ = repeat_ * std::max<int64_t>(1, kBroadcastBlock / repeat_);
  pattern_.reserve(static_cast<size_t>(length_) + kBufferSlack);
  while (std::ssize(pattern_) < length_) {
    pattern_.push_back(pattern_[pattern_.size() - static_cast<size_t>(repeat_)]);
  }
  pattern_.resize(static_cast<size_t>(length_) + kBufferSlack);
}

std::unique_ptr<ByteOp> WithBroadcast(const StepContext& context, std::unique_ptr<ByteOp> op) {
  const std::optional<Field> constant = BroadcastOperand(context);
  if (!constant) return op;
  return std::make_unique<BroadcastOp>(context, *constant, std::move(op));
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
