// Pooling.
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const MaxPool& op) {
  RequireTypes(context, node, {DType::kF32, DType::kS8, DType::kU8, DType::kS16});
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const AveragePool& op) {
  RequireF32(context, node);
  LowerAs<isa::AveragePoolF32>(context, node, op);
}

}  // namespace rshift::lowering
