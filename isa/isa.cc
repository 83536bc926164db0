// Look-ups in the instruction table.
#include "isa/isa.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace rshift {
namespace {

// Null where no field has the number.
constexpr auto kFieldNames = [] {
  std::array<const char*, kFieldCount> names{};
#define RSHIFT_FIELD(id, name, text) names[id] = text;
#include "isa/fields.def"
  return names;
}();

int64_t DefaultOf(const FieldSpec& spec) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (spec.kind) {
    case FieldKind::kTensorInOpt:
    case FieldKind::kConstOpt:
      return -1;
    case FieldKind::kInt:
      return std::clamp<int64_t>(0, spec.lo, spec.hi);
    case FieldKind::kFloat:
      if (spec.field == Field::kClampLoF) return std::bit_cast<uint32_t>(-kInfinity);
      if (spec.field == Field::kClampHiF) return std::bit_cast<uint32_t>(kInfinity);
      break;
    case FieldKind::kTensorOut:
    case FieldKind::kTensorIn:
    case FieldKind::kConst:
      break;
  }
  return 0;
}

}  // namespace

const OpSpec* FindOp(Opcode opcode) {
  const std::span<const OpSpec> table = IsaTable();
  const auto found =
      std::lower_bound(table.begin(), table.end(), opcode,
                       [](const OpSpec& spec, Opcode wanted) { return spec.opcode < wanted; });
  return found != table.end() && found->opcode == opcode ? &*found : nullptr;
}

const char* Name(Field field) {
  const auto index = static_cast<size_t>(field);
  const char* name = index < kFieldNames.size() ? kFieldNames[index] : nullptr;
  return name != nullptr ? name : "?";
}

const char* Name(FieldKind kind) {
  switch (kind) {
    case FieldKind::kTensorOut:
      return "tensor, written";
    case FieldKind::kTensorIn:
      return "tensor";
    case FieldKind::kTensorInOpt:
      return "tensor, optional";
    case FieldKind::kConst:
      return "constant";
    case FieldKind::kConstOpt:
      return "constant, optional";
    case FieldKind::kInt:
      return "integer";
    case FieldKind::kFloat:
      return "f32";
  }
  return "?";
}

OpTraits TraitsOf(Opcode opcode) {
  const OpSpec* spec = FindOp(opcode);
  return spec != nullptr ? spec->traits : OpTraits{};
}

bool IsFloatCompute(Opcode opcode) {
  const OpSpec* spec = FindOp(opcode);
  return spec != nullptr && IsFloatCompute(spec->op_class);
}

Command NewCommand(Opcode opcode) {
  const OpSpec* spec = FindOp(opcode);
  RSHIFT_REQUIRE(spec != nullptr, ErrorCode::kInternal, "NewCommand: opcode ",
                 static_cast<int>(opcode), " is not in the instruction table");
  Command command;
  command.opcode = opcode;
  for (const FieldSpec& field : spec->fields) command.Set(field.field, DefaultOf(field));
  return command;
}

}  // namespace rshift
