#include "runtime/f32/step_tools.h"

#include <algorithm>

namespace rshift::f32 {

std::string Where(const StepContext& context) {
  const OpSpec* spec = FindOp(context.command->opcode);
  return Cat(context.program->where(), ": ", spec != nullptr ? spec->name : "?", " '",
             context.Record(Field::kDst).name, "'");
}

void RequireType(const StepContext& context, Field field, std::initializer_list<DType> types) {
  const TensorRecord& record = context.Record(field);
  if (std::find(types.begin(), types.end(), record.dtype) != types.end()) return;
  std::string expected;
  for (const DType type : types)
    expected += (expected.empty() ? "" : " or ") + std::string(Name(type));
  Fail(ErrorCode::kUnsupported, Where(context), ": ", Name(field), " '", record.name, "' has type ",
       Name(record.dtype), ", expected ", expected, ": put a Cast before this node in the model");
}

void RequireShape(bool ok, const StepContext& context, Field field, const char* expected) {
  if (ok) return;
  const TensorRecord& record = context.Record(field);
  Fail(ErrorCode::kCorrupt, Where(context), ": ", Name(field), " '", record.name, "' has shape ",
       ToString(record.shape), ", expected ", expected, ": compile the model again");
}

void RequireSameShape(const StepContext& context, Field a, Field b) {
  if (context.Record(a).shape == context.Record(b).shape) return;
  RequireShape(false, context, a, Cat(ToString(context.Record(b).shape), " as ", Name(b)).c_str());
}

int RequireMode(const StepContext& context, Field field, int count) {
  const int64_t value = context.command->Get(field);
  RSHIFT_REQUIRE(value >= 0 && value < count, ErrorCode::kCorrupt, Where(context), ": ",
                 Name(field), " is ", value, ", expected 0 to ", count - 1,
                 ": compile the model again");
  return static_cast<int>(value);
}

int64_t RequireAxis(const StepContext& context, int64_t axis, size_t rank) {
  const int64_t limit = static_cast<int64_t>(rank);
  const int64_t positive = axis < 0 ? axis + limit : axis;
  RSHIFT_REQUIRE(positive >= 0 && positive < limit, ErrorCode::kCorrupt, Where(context),
                 ": axis is ", axis, ", expected one of ", rank,
                 " dimensions: compile the model again");
  return positive;
}

Clamp ReadClamp(const StepContext& context) {
  const OpSpec* spec = FindOp(context.command->opcode);
  if (spec == nullptr) return {};
  const bool has_clamp =
      std::any_of(spec->fields.begin(), spec->fields.end(),
                  [](const FieldSpec& field) { return field.field == Field::kClampLoF; });
  if (!has_clamp) return {};
  return {context.command->GetFloat(Field::kClampLoF), context.command->GetFloat(Field::kClampHiF)};
}

AxisView ViewAlong(const Shape& shape, int64_t axis) {
  AxisView view;
  for (int64_t d = 0; d < axis; ++d) view.outer *= shape[d];
  view.size = shape[axis];
  for (size_t d = axis + 1; d < shape.size(); ++d) view.inner *= shape[d];
  return view;
}

}  // namespace rshift::f32
