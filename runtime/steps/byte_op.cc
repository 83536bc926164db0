#include "runtime/steps/byte_op.h"

#include <array>

#include "runtime/steps/rows.h"

namespace rshift {
namespace {

std::array<MakeByteOp, 256>& Makers() {
  static std::array<MakeByteOp, 256> makers{};
  return makers;
}

bool HasTwoOperands(const Command& command) {
  for (const FieldSpec& field : FindOp(command.opcode)->fields) {
    if (field.field == Field::kSrc2) return field.kind == FieldKind::kTensorIn;
  }
  return false;
}

class ByteOpStep : public Step {
 public:
  ByteOpStep(const StepContext& context, bool two)
      : op_(Makers()[static_cast<uint8_t>(context.command->opcode)](context)),
        a_(context.In<uint8_t>(Field::kSrc)),
        b_(two ? context.In<uint8_t>(Field::kSrc2) : nullptr),
        y_(context.Out<uint8_t>(Field::kDst)),
        rows_(context, {Field::kDst, Field::kSrc, two ? Field::kSrc2 : Field::kSrc}),
        pitch_a_(RowPitch(context, Field::kSrc)),
        pitch_b_(two ? RowPitch(context, Field::kSrc2) : 0),
        pitch_y_(RowPitch(context, Field::kDst)) {}

  void Run(const Team& team) noexcept override {
    rows_.ForEach(team, [this](int64_t row, int64_t begin, int64_t end) {
      const uint8_t* b = b_ == nullptr ? nullptr : b_ + row * pitch_b_ + begin;
      op_->Run(a_ + row * pitch_a_ + begin, b, y_ + row * pitch_y_ + begin,
               row * rows_.elements + begin, end - begin);
    });
  }

 private:
  std::unique_ptr<ByteOp> op_;
  const uint8_t* a_;
  const uint8_t* b_;
  uint8_t* y_;
  Rows rows_;
  int64_t pitch_a_, pitch_b_, pitch_y_;
};

}  // namespace

void RegisterByteOp(Opcode opcode, MakeByteOp make) {
  Makers()[static_cast<uint8_t>(opcode)] = make;
  RegisterStep(opcode, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<ByteOpStep>(context, HasTwoOperands(*context.command));
  });
}

}  // namespace rshift
