// Commands -> bytes.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "isa/isa.h"
#include "isa/stream.h"

namespace rshift {
namespace {

void PutLeb128(uint64_t value, std::vector<uint8_t>& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value) | 0x80);
  out.push_back(static_cast<uint8_t>(value));
}

void EncodeCommand(const Command& command, const OpSpec& spec, StickyFields& sticky,
                   std::vector<uint8_t>& out) {
  out.push_back(static_cast<uint8_t>(command.opcode));
  uint64_t mask = 0;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const Field field = spec.fields[i].field;
    if (command.Get(field) != sticky[static_cast<size_t>(field)]) mask |= uint64_t{1} << i;
  }
  PutLeb128(mask, out);
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    int64_t& last = sticky[static_cast<size_t>(spec.fields[i].field)];
    const int64_t value = command.Get(spec.fields[i].field);
    PutLeb128(ZigZag(static_cast<uint64_t>(value) - static_cast<uint64_t>(last)), out);
    last = value;
  }
}

}  // namespace

std::string FieldError(const FieldSpec& spec, int64_t value, int64_t tensor_count) {
  switch (spec.kind) {
    case FieldKind::kTensorOut:
    case FieldKind::kTensorIn:
    case FieldKind::kConst:
      if (value >= 0 && value < tensor_count) return "";
      return Cat("expected a tensor in [0, ", tensor_count, ")");
    case FieldKind::kTensorInOpt:
    case FieldKind::kConstOpt:
      if (value >= -1 && value < tensor_count) return "";
      return Cat("expected -1 or a tensor in [0, ", tensor_count, ")");
    case FieldKind::kInt:
      if (value >= spec.lo && value <= spec.hi) return "";
      return Cat("expected ", spec.lo, "..", spec.hi);
    case FieldKind::kFloat:
      if (value >= 0 && value <= std::numeric_limits<uint32_t>::max() &&
          !std::isnan(std::bit_cast<float>(static_cast<uint32_t>(value)))) {
        return "";
      }
      return "expected the bits of an f32 that is not NaN";
  }
  return "unknown kind of field";
}

std::vector<uint8_t> EncodeCommands(std::span<const Command> commands) {
  RSHIFT_REQUIRE(static_cast<int64_t>(commands.size()) <= kMaxCommands, ErrorCode::kUnsupported,
                 "program has ", commands.size(), " commands, expected at most ", kMaxCommands);
  std::vector<uint8_t> out;
  StickyFields sticky{};
  for (size_t i = 0; i < commands.size(); ++i) {
    const OpSpec* spec = FindOp(commands[i].opcode);
    RSHIFT_REQUIRE(spec != nullptr, ErrorCode::kInternal, "command ", i, ": opcode ",
                   static_cast<int>(commands[i].opcode), " is not in the instruction table");
    for (const FieldSpec& field : spec->fields) {
      const int64_t value = commands[i].Get(field.field);
      const std::string error = FieldError(field, value, std::numeric_limits<int32_t>::max());
      RSHIFT_REQUIRE(error.empty(), ErrorCode::kInternal, "command ", i, " (", spec->name,
                     "): ", Name(field.field), " is ", value, ", ", error);
    }
    EncodeCommand(commands[i], *spec, sticky, out);
  }
  out.push_back(static_cast<uint8_t>(Opcode::kEnd));
  return out;
}

}  // namespace rshift
