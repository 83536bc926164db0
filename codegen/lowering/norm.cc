// Normalizations and softmax.
#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

template <typename Command, typename Normalization>
void LowerNormalize(LoweringContext& context, const Node& node, const Normalization& op) {
  auto command = Bound<Command>(context, node, op);
  command.factors = context.AddNumbers(node.name + ".factors", DType::kS32, op.row_factors);
  command.offsets = context.AddNumbers(node.name + ".offsets", DType::kS64, op.row_offsets);
  context.Emit(node, command);
}

}  // namespace

void Lower(LoweringContext&, const Node& node, const BatchNorm&) {
  Fail(
      ErrorCode::kUnsupported, Describe(node),
      " has no command: the BatchNorm pass turns it into a multiplication and an addition; run the "
      "passes before the compiler");
}

void Lower(LoweringContext& context, const Node& node, const Lrn& op) {
  RSHIFT_REQUIRE(op.size >= 1 && op.size <= isa::kMaxWindow, ErrorCode::kUnsupported,
                 Describe(node), ": size is ", op.size, ", expected 1..", isa::kMaxWindow);
  RequireF32(context, node);
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const Softmax& op) {
  if (context.InputValue(node, 0).shape.empty()) {
    Fail(ErrorCode::kUnsupported, Describe(node), ": input is a scalar");
  }
  RequireF32(context, node);
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const QSoftmax& op) {
  auto command = Bound<isa::Softmax>(context, node, op);
  command.table = context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QNormalize& op) {
  LowerNormalize<isa::Normalize>(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const QNormalizeS16& op) {
  LowerNormalize<isa::NormalizeS16>(context, node, op);
}

}  // namespace rshift::lowering
