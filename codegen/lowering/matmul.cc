// Matrix products.
#include "base/error.h"
#include "codegen/lowering/linear.h"
#include "codegen/lowering/lowering.h"
#include "codegen/packing/packing.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const QMatMul& op) {
  const Value& x = context.InputValue(node, 0);
  const Value& w = context.InputValue(node, 1);
  RSHIFT_REQUIRE(w.is_constant() && w.dtype == DType::kS8 && w.shape.size() == 2 &&
                     !x.shape.empty() && x.shape.back() == w.shape[0],
                 ErrorCode::kInternal, Describe(node), ": weight '", w.name, "' is ", Name(w.dtype),
                 " of shape ", ToString(w.shape),
                 ", expected constant s8 [K, N] for an input of shape ", ToString(x.shape));
  const int64_t k = w.shape[0], n = w.shape[1];
  const std::vector<int8_t> packed = PackMatMulWeights(k, n, w.constant->As<int8_t>());
  LowerLinear(context, node, op, n, packed, isa::MatMul{});
}

}  // namespace rshift::lowering
