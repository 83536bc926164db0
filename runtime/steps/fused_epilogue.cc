#include "runtime/steps/fused_epilogue.h"

#include <optional>

#include "runtime/steps/broadcast_op.h"
#include "runtime/steps/flattened_rows.h"
#include "runtime/steps/steps.h"

namespace rshift {

FusedEpilogue::FusedEpilogue(std::span<const StepContext> contexts) {
  const StepContext& first = contexts.front();
  dst_ = first.Out<uint8_t>(Field::kDst);
  pitch_ = RowPitch(first, Field::kDst);
  channels_ = first.Record(Field::kDst).shape.back();
  alike_ = pitch_ == channels_;
  for (const StepContext& context : contexts) {
    stages_.push_back(MakeStage(context));
    const Stage& stage = stages_.back();
    const bool a = stage.a.bytes == nullptr || stage.a.pitch == pitch_;
    const bool b = stage.b.bytes == nullptr || stage.b.pitch == pitch_;
    alike_ = alike_ && a && b;
  }
}

FusedEpilogue::Stage FusedEpilogue::MakeStage(const StepContext& context) {
  const std::optional<Field> constant = BroadcastOperand(context);
  const auto operand = [&](Field f) -> Operand {
    if (f == constant) return {};  // the op has it
    const auto* bytes = context.In<uint8_t>(f);
    if (bytes == context.Out<uint8_t>(Field::kDst)) return {};
    return {bytes, RowPitch(context, f)};
  };
  const bool two = HasTwoOperands(*context.command);
  return {.op = MakeByteOp(context),
          .a = operand(Field::kSrc),
          .b = two ? operand(Field::kSrc2) : Operand{},
          .two = two};
}

size_t FusedEpilogue::memory_bytes() const {
  size_t bytes = 0;
  for (const Stage& stage : stages_) bytes += stage.op->memory_bytes();
  return bytes;
}

void FusedEpilogue::Run(const void* state, uint8_t* dst, int64_t pixels, int64_t count) noexcept {
  const FusedEpilogue& self = *static_cast<const FusedEpilogue*>(state);
  const int64_t distance = dst - self.dst_;
  // Two divisions would cost as much as the addition of a row.
  const int64_t row = self.alike_ ? 0 : distance / self.pitch_;
  const int64_t column = distance - row * self.pitch_;
  if (self.alike_ && count == self.channels_) {  // one long row
    count *= pixels;
    pixels = 1;
  }
  const auto bytes = [&](const Operand& operand) -> const uint8_t* {
    return operand.bytes == nullptr ? dst : operand.bytes + row * operand.pitch + column;
  };
  const auto pitch = [&](const Operand& operand) {
    return operand.bytes == nullptr ? self.pitch_ : operand.pitch;
  };
  for (const Stage& stage : self.stages_) {
    stage.op->Run({.a = bytes(stage.a),
                   .b = stage.two ? bytes(stage.b) : nullptr,
                   .y = dst,
                   .rows = {.rows = pixels,
                            .count = count,
                            .pitch_a = pitch(stage.a),
                            .pitch_b = pitch(stage.b),
                            .pitch_y = self.pitch_},
                   .at = row * self.channels_ + column,
                   .row_steps = self.channels_});
  }
}

}  // namespace rshift
