// Look-ups in the instruction table.
#include "isa/isa.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace rshift {
namespace {

constexpr auto MakeFieldNames() {
  std::array<const char*, kFieldCount> names{};
  const auto set = [&](Field field, const char* name) { names[static_cast<size_t>(field)] = name; };
  set(Field::kDst, "dst");
  set(Field::kSrc, "src");
  set(Field::kSrc2, "src2");
  set(Field::kSrc3, "src3");
  set(Field::kWeights, "weights");
  set(Field::kRequant, "requant");
  set(Field::kTable, "table");
  set(Field::kList, "list");
  set(Field::kList2, "list2");
  set(Field::kZeroW, "zero_w");
  set(Field::kKernelH, "kernel_h");
  set(Field::kKernelW, "kernel_w");
  set(Field::kStrideH, "stride_h");
  set(Field::kStrideW, "stride_w");
  set(Field::kDilationH, "dilation_h");
  set(Field::kDilationW, "dilation_w");
  set(Field::kPadTop, "pad_top");
  set(Field::kPadLeft, "pad_left");
  set(Field::kPadBottom, "pad_bottom");
  set(Field::kPadRight, "pad_right");
  set(Field::kGroups, "groups");
  set(Field::kClampLoQ, "clamp_lo");
  set(Field::kClampHiQ, "clamp_hi");
  set(Field::kMultiplier, "multiplier");
  set(Field::kRshift, "rshift");
  set(Field::kMultiplier2, "multiplier2");
  set(Field::kRshift2, "rshift2");
  set(Field::kAxis, "axis");
  set(Field::kOffset, "offset");
  set(Field::kMode, "mode");
  set(Field::kFlags, "flags");
  set(Field::kCount, "count");
  set(Field::kFill, "fill");
  set(Field::kCoordinate, "coordinate");
  set(Field::kNearest, "nearest");
  set(Field::kRounding, "rounding");
  set(Field::kMultiplier3, "multiplier3");
  set(Field::kRshift3, "rshift3");
  set(Field::kFuseWithPrevious, "fuse_with_previous");
  set(Field::kScaleF, "scale_f");
  set(Field::kOffsetF, "offset_f");
  set(Field::kAlphaF, "alpha_f");
  set(Field::kBetaF, "beta_f");
  set(Field::kEpsilonF, "epsilon_f");
  set(Field::kClampLoF, "clamp_lo_f");
  set(Field::kClampHiF, "clamp_hi_f");
  set(Field::kBiasF, "bias_f");
  return names;
}

constexpr auto kFieldNames = MakeFieldNames();

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
      return 0;
    default:
      return 0;
  }
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
  return spec != nullptr &&
         (spec->op_class == OpClass::kFloat || spec->op_class == OpClass::kFloatLibrary);
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
