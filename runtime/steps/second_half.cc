#include "runtime/steps/second_half.h"

#include <optional>

#include "runtime/steps/broadcast_op.h"
#include "runtime/steps/flattened_rows.h"

namespace rshift {

SecondHalves::SecondHalves(std::span<const StepContext> contexts) {
  const StepContext& first = contexts.front();
  dst_ = first.Out<uint8_t>(Field::kDst);
  pitch_ = RowPitch(first, Field::kDst);
  channels_ = first.Record(Field::kDst).shape.back();
  alike_ = pitch_ == channels_;
  for (const StepContext& context : contexts) {
    halves_.push_back(MakeHalf(context));
    const Half& half = halves_.back();
    const bool a = half.a.bytes == nullptr || half.a.pitch == pitch_;
    const bool b = half.b.bytes == nullptr || half.b.pitch == pitch_;
    alike_ = alike_ && a && b;
  }
}

SecondHalves::Half SecondHalves::MakeHalf(const StepContext& context) {
  const std::optional<Field> constant = BroadcastOperand(context);
  const auto operand = [&](Field f) -> Operand {
    if (f == constant) return {};  // the op has it
    const auto* bytes = context.In<uint8_t>(f);
    if (bytes == context.Out<uint8_t>(Field::kDst)) return {};
    return {bytes, RowPitch(context, f)};
  };
  const bool two = HasTwoOperands(*context.command);
  return {.op = MakeByteOpOf(context),
          .a = operand(Field::kSrc),
          .b = two ? operand(Field::kSrc2) : Operand{},
          .two = two};
}

size_t SecondHalves::memory_bytes() const {
  size_t bytes = 0;
  for (const Half& half : halves_) bytes += half.op->memory_bytes();
  return bytes;
}

void SecondHalves::Run(const void* state, uint8_t* dst, int64_t pixels, int64_t count) noexcept {
  const SecondHalves& self = *static_cast<const SecondHalves*>(state);
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
  for (const Half& half : self.halves_) {
    half.op->Run({.a = bytes(half.a),
                  .b = half.two ? bytes(half.b) : nullptr,
                  .y = dst,
                  .rows = {.rows = pixels,
                           .count = count,
                           .pitch_a = pitch(half.a),
                           .pitch_b = pitch(half.b),
                           .pitch_y = self.pitch_},
                  .at = row * self.channels_ + column,
                  .row_steps = self.channels_});
  }
}

}  // namespace rshift
