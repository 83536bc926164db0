// From a node to the command of its kind: attributes are in the command's struct already, tensors
// follow from its field list. An operator lowers truly (lowering.h) where there is more to do:
// constants to be made, forms without a command, or types to be refused.
#ifndef RSHIFT_CODEGEN_LOWERING_COMMAND_H_
#define RSHIFT_CODEGEN_LOWERING_COMMAND_H_

#include <algorithm>

#include "codegen/lowering/context.h"
#include "codegen/lowering/require.h"
#include "isa/ops/field_list.h"

namespace rshift::lowering {

// Input `index` of an element-wise command that takes operands of the output's shape and one
// constant that broadcasts: any other operand is broadcast into a temporary first (eltwise.cc).
int32_t BroadcastInput(LoweringContext& context, const Node& node, size_t index);

// Visits a field list: the node's inputs, in their order, are the tensors that a command reads.
template <typename C>
struct BindInputs {
  LoweringContext& context;
  const Node& node;
  size_t next = 0;

  template <typename... Attributes>
  void operator()(const FieldSpec&, Attributes&...) {}
  void operator()(const FieldSpec& spec, isa::Tensor& tensor) {
    if (spec.kind != FieldKind::kTensorIn && spec.kind != FieldKind::kTensorInOpt) return;
    const size_t index = next++;
    tensor = C::kTraits.broadcasts_constant ? BroadcastInput(context, node, index)
                                            : context.Input(node, index);
  }
};

// The command with its axis counted from the front and the tensors that the node has; constants
// (Const fields) are the caller's, after it. The output's tensor is made after those of the inputs.
template <typename C>
C Bound(LoweringContext& context, const Node& node, C command) {
  if constexpr (requires { command.axis; }) {
    command.axis = AxisOf(node, command.axis, context.InputValue(node, 0).shape.size());
  }
  if constexpr (requires { command.window; }) {
    RequireNhwc(node, context.InputValue(node, 0));
    RequireNhwc(node, context.OutputValue(node));
    RequireWindow(node, command.window);
  }
  BindInputs<C> inputs{context, node};
  C::Fields(command, inputs);
  command.dst = context.Output(node);
  return command;
}

// A node that is a command as it stands.
template <typename C>
void LowerAs(LoweringContext& context, const Node& node, const C& command) {
  constexpr auto is_constant = [](const FieldSpec& spec) {
    return spec.kind == FieldKind::kConst || spec.kind == FieldKind::kConstOpt;
  };
  static_assert(std::ranges::none_of(isa::kFieldsOf<C>, is_constant),
                "a command with constants lowers by a function of its own");
  context.Emit(node, Bound(context, node, command));
}

}  // namespace rshift::lowering

#endif  // RSHIFT_CODEGEN_LOWERING_COMMAND_H_
