#include "runtime/steps/byte_op.h"

#include <array>

#include "runtime/steps/rows.h"

namespace rshift {
namespace {

std::array<MakeByteOp, 256>& Makers() {
  static std::array<MakeByteOp, 256> makers{};
  return makers;
}

class ByteOpStep : public Step {
 public:
  ByteOpStep(const StepContext& context, bool two)
      : op_(Makers()[static_cast<uint8_t>(context.command->opcode)](context)),
        rows_(context, {Field::kDst, Field::kSrc, two ? Field::kSrc2 : Field::kSrc}),
        block_{.a = context.In<uint8_t>(Field::kSrc),
               .b = two ? context.In<uint8_t>(Field::kSrc2) : nullptr,
               .y = context.Out<uint8_t>(Field::kDst),
               .rows = {.rows = rows_.count,
                        .count = rows_.elements,
                        .pitch_a = RowPitch(context, Field::kSrc),
                        .pitch_b = two ? RowPitch(context, Field::kSrc2) : 0,
                        .pitch_y = RowPitch(context, Field::kDst)},
               .row_steps = rows_.elements} {}

  void Run(const Team& team) noexcept override {
    rows_.ForEach(team, [this](int64_t row, int64_t begin, int64_t end) {
      op_->Run(block_.Row(row, begin, end - begin));
    });
  }

 private:
  std::unique_ptr<ByteOp> op_;
  Rows rows_;
  ByteBlock block_;
};

}  // namespace

bool HasTwoOperands(const Command& command) {
  for (const FieldSpec& field : FindOp(command.opcode)->fields) {
    if (field.field == Field::kSrc2) return field.kind == FieldKind::kTensorIn;
  }
  return false;
}

MakeByteOp FindByteOp(Opcode opcode) { return Makers()[static_cast<uint8_t>(opcode)]; }

void RegisterByteOp(Opcode opcode, MakeByteOp make) {
  Makers()[static_cast<uint8_t>(opcode)] = make;
  RegisterStep(opcode, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<ByteOpStep>(context, HasTwoOperands(*context.command));
  });
}

}  // namespace rshift
