#include "runtime/steps/broadcast_op.h"

#include <algorithm>
#include <array>
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

constexpr int64_t kTableBytes = 256;

// From how many elements on end a table is worth its four lines; the sum of a common shift is as
// fast as looking up.
int64_t ShortestRun(Opcode opcode) { return opcode == Opcode::kAdd ? 1024 : 128; }

// How many elements of `to` on end meet the same element of `from`.
int64_t EqualRun(const Shape& from, const Shape& to) {
  int64_t run = 1;
  for (size_t d = to.size(), missing = to.size() - from.size(); d-- > 0;) {
    if (d >= missing && from[d - missing] != 1) break;
    run *= to[d];
  }
  return run;
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
  MakeTables(context, from, to);
  if (lut_ != nullptr) return;
  pattern_ = SpreadOut(context.In<uint8_t>(operand), from, to);
  length_ = repeat_ * std::max<int64_t>(1, kBroadcastBlock / repeat_);
  pattern_.reserve(static_cast<size_t>(length_) + kBufferSlack);
  while (std::ssize(pattern_) < length_) {
    pattern_.push_back(pattern_[pattern_.size() - static_cast<size_t>(repeat_)]);
  }
  pattern_.resize(static_cast<size_t>(length_) + kBufferSlack);
}

void BroadcastOp::MakeTables(const StepContext& context, const Shape& from, const Shape& to) {
  const LutFn lut = LutFor(context.isa);
  run_ = EqualRun(from, to);
  // Without instructions for it, looking up takes as long as computing.
  if (lut == LutFor(Isa::kScalar) || run_ < ShortestRun(context.command->opcode)) return;
  const Field constant_field = first_ ? Field::kSrc : Field::kSrc2;
  const std::vector<uint8_t> spread = SpreadOut(context.In<uint8_t>(constant_field), from, to);
  std::array<uint8_t, kTableBytes + kBufferSlack> all{}, constant{}, table{};
  for (size_t byte = 0; byte < kTableBytes; ++byte) all[byte] = static_cast<uint8_t>(byte);
  const auto count = static_cast<int64_t>(spread.size()) / run_;
  tables_.reserve(static_cast<size_t>(std::max<int64_t>(1, count) * kTableBytes));
  for (size_t at = 0; at < spread.size(); at += static_cast<size_t>(run_)) {
    constant.fill(spread[at]);
    op_->Run({.a = first_ ? constant.data() : all.data(),
              .b = first_ ? all.data() : constant.data(),
              .y = table.data(),
              .rows = {.count = kTableBytes}});
    tables_.insert(tables_.end(), table.begin(), table.begin() + kTableBytes);
  }
  lut_ = lut;
}

void BroadcastOp::RunByTables(const ByteBlock& block) const noexcept {
  const uint8_t* x = first_ ? block.b : block.a;
  const int64_t pitch = first_ ? block.rows.pitch_b : block.rows.pitch_a;
  const int64_t tables = std::ssize(tables_) / kTableBytes;
  for (int64_t r = 0; r < block.rows.rows; ++r) {
    const int64_t at = block.at + r * block.row_steps;
    for (int64_t i = 0; i < block.rows.count;) {
      const int64_t run = (at + i) / run_;
      const int64_t n = std::min(block.rows.count - i, (run + 1) * run_ - at - i);
      lut_(tables_.data() + run % tables * kTableBytes, x + r * pitch + i,
           block.y + r * block.rows.pitch_y + i, {.count = n});
      i += n;
    }
  }
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
  if (lut_ != nullptr) return RunByTables(block);
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
