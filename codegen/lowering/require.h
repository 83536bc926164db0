// What lowering asks of nodes, with messages that name them.
#ifndef RSHIFT_CODEGEN_LOWERING_REQUIRE_H_
#define RSHIFT_CODEGEN_LOWERING_REQUIRE_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "codegen/lowering/context.h"

namespace rshift::lowering {

// "node (Op)" for messages.
std::string Describe(const Node& node);
// Throws kUnsupported when the window has fields that a command cannot hold (negative pads).
void RequireWindow(const Node& node, const Window& window);
// `axis` of a tensor with `rank` dimensions, negative ones counted from the end; throws
// kInvalidInput.
int64_t AxisOf(const Node& node, int64_t axis, size_t rank);
// Throws kUnsupported unless the value has NHWC layout.
void RequireNhwc(const Node& node, const Value& value);
// Throws kUnsupported unless every input that is there has one of the types.
void RequireTypes(LoweringContext& context, const Node& node, std::initializer_list<DType> types);
inline void RequireF32(LoweringContext& context, const Node& node) {
  RequireTypes(context, node, {DType::kF32});
}

}  // namespace rshift::lowering

#endif  // RSHIFT_CODEGEN_LOWERING_REQUIRE_H_
