#include "quantize/numerics/average_pool.h"
#include "quantize/ops/ops.h"

namespace rshift {

// The maximum of bytes of one type is one of those bytes.
void EmitMaxPool(Emitter& emitter, const Node& node, const MaxPool& op) {
  EmitMovement(emitter, node, op);
}

void EmitAveragePool(Emitter& emitter, const Node& node, const AveragePool& op) {
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(node.outputs[0]);
  QAveragePool pool;
  pool.window = op.window;
  pool.count_include_pad = op.count_include_pad;
  pool.scale_x_over_y =
      static_cast<float>(static_cast<double>(x.quant.scale) / static_cast<double>(y.quant.scale));
  pool.offset =
      numerics::AveragePoolOffset(pool.scale_x_over_y, x.quant.zero_point, y.quant.zero_point);
  pool.clamp = {y.qmin(), y.qmax()};
  const ValueId input = emitter.Int(node.inputs[0]);
  emitter.AddNode(node.name, pool, {input}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
