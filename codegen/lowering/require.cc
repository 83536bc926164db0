#include "codegen/lowering/require.h"

#include <algorithm>

#include "base/error.h"
#include "isa/ops/field_list.h"

namespace rshift::lowering {

std::string Describe(const Node& node) { return Cat(node.name, " (", OpName(node.op), ")"); }

void RequireWindow(const Node& node, const Window& window) {
  isa::WindowFields(window, [&](const FieldSpec& spec, int64_t value) {
    RSHIFT_REQUIRE(value >= spec.lo && value <= spec.hi, ErrorCode::kUnsupported, Describe(node),
                   ": ", Name(spec.field), " is ", value, ", expected ", spec.lo, "..", spec.hi,
                   value < 0 ? ": put a Slice before the node instead of a negative pad" : "");
  });
}

int64_t AxisOf(const Node& node, int64_t axis, size_t rank) {
  const auto dims = static_cast<int64_t>(rank);
  RSHIFT_REQUIRE(axis >= -dims && axis < dims, ErrorCode::kInvalidInput, Describe(node),
                 ": axis is ", axis, ", expected one of ", dims, " dimensions");
  return axis < 0 ? axis + dims : axis;
}

void RequireNhwc(const Node& node, const Value& value) {
  RSHIFT_REQUIRE(value.layout == Layout::kNhwc && value.shape.size() == 4, ErrorCode::kUnsupported,
                 Describe(node), ": '", value.name, "' of shape ", ToString(value.shape),
                 " is not in NHWC layout: run the layout pass before the compiler");
}

void RequireTypes(LoweringContext& context, const Node& node, std::initializer_list<DType> types) {
  for (const ValueId id : node.inputs) {
    if (!id.valid()) continue;
    const Value& value = context.graph().value(id);
    if (std::find(types.begin(), types.end(), value.dtype) != types.end()) continue;
    std::string expected;
    for (const DType type : types) expected += Cat(expected.empty() ? "" : " or ", Name(type));
    Fail(ErrorCode::kUnsupported, Describe(node), ": input '", value.name,
         "' has elements of type ", Name(value.dtype), ", expected ", expected);
  }
}

}  // namespace rshift::lowering
