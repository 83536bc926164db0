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

AxisView ViewAlong(const Shape& shape, int64_t axis) {
  AxisView view;
  for (int64_t d = 0; d < axis; ++d) view.outer *= shape[d];
  view.size = shape[axis];
  for (size_t d = axis + 1; d < shape.size(); ++d) view.inner *= shape[d];
  return view;
}

size_t WithinBufferLimits(const StepContext& context, size_t bytes) {
  const uint64_t most = context.program->limits().most.buffers;
  RSHIFT_REQUIRE(bytes <= most, ErrorCode::kUnsupported, Where(context), ": takes ", bytes,
                 " bytes of buffers, expected at most ", most,
                 "; where that is meant, allow it: --limits buffers=", bytes);
  return bytes;
}

}  // namespace rshift::f32
