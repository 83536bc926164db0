// Matrix products.
#include "base/error.h"
#include "codegen/lowering/lowering.h"
#include "codegen/packing/packing.h"

namespace rshift::lowering {

void Lower(LoweringContext& context, const Node& node, const MatMul& op) {
  RequireF32(context, node);
  Command command = NewCommand(Opcode::kMatMulF32);
  command.Set(Field::kSrc, context.Input(node, 0));
  command.Set(Field::kSrc2, context.Input(node, 1));
  command.Set(Field::kSrc3, context.Input(node, 2));
  SetClamp(op.clamp, command);
  command.Set(Field::kDst, context.Output(node));
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QMatMul& op) {
  const Value& x = context.InputValue(node, 0);
  const Value& w = context.InputValue(node, 1);
  RSHIFT_REQUIRE(w.is_constant() && w.dtype == DType::kS8 && w.shape.size() == 2 &&
                     !x.shape.empty() && x.shape.back() == w.shape[0],
                 ErrorCode::kInternal, Describe(node), ": weight '", w.name, "' is ", Name(w.dtype),
                 " of shape ", ToString(w.shape),
                 ", expected constant s8 [K, N] for an input of shape ", ToString(x.shape));
  const int64_t k = w.shape[0], n = w.shape[1];
  const std::span<const int8_t> weights = w.constant->As<int8_t>();
  std::vector<int8_t> transposed(
      weights.size());  // [N, K]: output channels first, as the packing takes them
  for (int64_t row = 0; row < k; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      transposed[column * k + row] = weights[row * n + column];
    }
  }
  const std::vector<int8_t> packed =
      PackConvWeights({.groups = 1, .oc_per_group = n, .ic_per_group = k, .taps = 1}, transposed);

  Command command = UnaryCommand(context, node, Opcode::kMatMul);
  command.Set(
      Field::kWeights,
      context.AddConst(node.name + ".weights", DType::kBytes, {static_cast<int64_t>(packed.size())},
                       {reinterpret_cast<const uint8_t*>(packed.data()), packed.size()}));
  command.Set(Field::kRequant, AddRequant(context, node, op.channels, n));
  SetClamp(op.clamp, command);
  SetZeroW(context, node, op.zero_w, n, command);
  SetEpilogue(context, node, op.rounding, op.post_ops, op.ascend, command);
  context.Emit(node, command);
}

}  // namespace rshift::lowering
