#include "runtime/work_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/functions.h"

namespace rshift {
namespace {

constexpr double kCommandNs = 1000;

// Nanoseconds more for an element of dst in forms of a command that run one at a time.
double ElementExtra(const Command& command, const OpTraits& traits) {
  const auto rounding = static_cast<Rounding>(command.Get(Field::kRounding));
  if (traits.buffers == BufferForm::kRequant)  // post-operations 3 to 6, fp16 2 to 4
    return (command.Tensor(Field::kList) >= 0 ? 5 : 0) + (rounding == Rounding::kHalfFloat ? 3 : 0);
  if (command.opcode == Opcode::kAdd)  // sums beyond int32: 3
    return rounding == Rounding::kHalfAway ? 3 : 0;
  const auto op = static_cast<BinaryOp>(command.Get(Field::kMode));
  const bool power = op == BinaryOp::kPow || op == BinaryOp::kMod;  // 20 to 40
  return command.opcode == Opcode::kBinaryF32 && power ? 30 : 0;
}

double CountOf(const ProgramImage& image, const Command& command, Field f) {
  return static_cast<double>(
      NumElements(image.tensors[static_cast<size_t>(command.Tensor(f))].shape));
}

double RoundedUp(double value, double to) { return std::ceil(value / to) * to; }

}  // namespace

uint64_t PaddedMacs(const ProgramImage& image, const Command& command, uint64_t macs) {
  const OpTraits traits = TraitsOf(command.opcode);
  const bool tiles = traits.macs == MacForm::kConv || traits.macs == MacForm::kMatMul;
  const bool packed =
      traits.buffers == BufferForm::kRequant || traits.buffers == BufferForm::kPackedSrc2;
  if (!tiles || !packed) return macs;
  const auto channels = [&](Field f) {
    const Shape& shape = image.tensors[static_cast<size_t>(command.Tensor(f))].shape;
    return shape.empty() ? 1.0 : static_cast<double>(std::max<int64_t>(shape.back(), 1));
  };
  const double groups = static_cast<double>(std::max<int64_t>(command.Get(Field::kGroups), 1));
  const double in = channels(Field::kSrc) / groups, out = channels(Field::kDst) / groups;
  const double factor = RoundedUp(in, 4) / in * RoundedUp(out, 16) / out;
  const double padded = static_cast<double>(macs) * std::max(factor, 1.0);
  return padded < 0x1p63 ? static_cast<uint64_t>(padded) : std::numeric_limits<uint64_t>::max();
}

uint64_t PredictNanoseconds(const ProgramImage& image, const Command& command, uint64_t macs,
                            uint64_t elements) {
  const OpTraits traits = TraitsOf(command.opcode);
  const double padded = static_cast<double>(PaddedMacs(image, command, macs));
  const double ns = kCommandNs + traits.mac_ns * padded +
                    traits.element_ns * static_cast<double>(elements) +
                    ElementExtra(command, traits) * CountOf(image, command, Field::kDst);
  return ns < 0x1p63 ? static_cast<uint64_t>(ns) : std::numeric_limits<uint64_t>::max();
}

}  // namespace rshift
