#include "runtime/steps/byte_op.h"

#include <optional>
#include <utility>

#include "runtime/steps/broadcast_op.h"
#include "runtime/steps/flattened_rows.h"

namespace rshift {
namespace {

class ByteOpStep : public Step {
 public:
  // `a`, `b`: the operands; for those that are not looked at, others of dst's shape.
  ByteOpStep(const StepContext& context, std::unique_ptr<ByteOp> op, Field a, Field b)
      : op_(std::move(op)),
        rows_(context, {Field::kDst, a, b}),
        block_{.a = context.In<uint8_t>(a),
               .b = context.In<uint8_t>(b),
               .y = context.Out<uint8_t>(Field::kDst),
               .rows = {.rows = rows_.count,
                        .count = rows_.elements,
                        .pitch_a = RowPitch(context, a),
                        .pitch_b = RowPitch(context, b),
                        .pitch_y = RowPitch(context, Field::kDst)},
               .row_steps = rows_.elements} {}

  size_t memory_bytes() const override { return op_->memory_bytes(); }
  void Run(const Team& team) noexcept override {
    rows_.ForEach(team, [this](int64_t row, int64_t begin, int64_t end) {
      op_->Run(block_.Row(row, begin, end - begin));
    });
  }

 private:
  std::unique_ptr<ByteOp> op_;
  FlattenedRows rows_;
  ByteBlock block_;
};

}  // namespace

bool HasTwoOperands(const Command& command) {
  for (const FieldSpec& field : FindOp(command.opcode)->fields) {
    if (field.field == Field::kSrc2) return field.kind == FieldKind::kTensorIn;
  }
  return false;
}

std::unique_ptr<Step> MakeByteOpStep(const StepContext& context, std::unique_ptr<ByteOp> op) {
  const std::optional<Field> constant = BroadcastOperand(context);
  const Field a = constant == Field::kSrc ? Field::kDst : Field::kSrc;
  const bool one = constant == Field::kSrc2 || !HasTwoOperands(*context.command);
  return std::make_unique<ByteOpStep>(context, std::move(op), a, one ? a : Field::kSrc2);
}

}  // namespace rshift
