// Clip, LeakyReLU, PReLU; functions of one value as tables.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/prelu.h"
#include "quantize/numerics/table.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

double Ratio(const IntType& x, const IntType& y) {
  return static_cast<double>(x.quant.scale) / static_cast<double>(y.quant.scale);
}

// {0, 0}, factor 1, where x and y have equal scales.
numerics::Multiplier PositiveSide(const IntType& x, const IntType& y) {
  if (x.quant.scale == y.quant.scale) return {};
  return numerics::RescaleMultiplier(Ratio(x, y));
}

// A factor too large for `bits` takes 32.
numerics::Multiplier NegativeSide(double factor, int bits) {
  if (factor == 0) return {};
  const double limit = static_cast<double>(int64_t{1} << (bits - 1)) - 1;
  if (factor < limit) return numerics::QuantizeMultiplier(factor, bits);
  return numerics::AccumulatorMultiplier(factor);
}

void EmitLeaky(Emitter& emitter, const Node& node, double alpha) {
  if (alpha < 0) {  // not monotonic: the table has no rounding of its own
    EmitTable(emitter, node, node.inputs[0], [alpha](double v) { return v >= 0 ? v : alpha * v; });
    return;
  }
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(node.outputs[0]);
  const int bits =
      emitter.Layer(node).multiplier_bits.value_or(emitter.options().target.leaky_multiplier_bits);
  const numerics::Multiplier negative = NegativeSide(alpha * Ratio(x, y), bits);
  const numerics::Multiplier positive = PositiveSide(x, y);
  const QLeakyRelu leaky{negative.multiplier,
                         negative.rshift,
                         positive.multiplier,
                         positive.rshift,
                         {y.qmin(), y.qmax()}};
  const ValueId input = emitter.Int(node.inputs[0]);
  emitter.AddNode(node.name, leaky, {input}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace

// Equal scales after BackwardCalibration: a clamp. Otherwise a requantization with that clamp.
void EmitClip(Emitter& emitter, const Node& node, const Clip& op) {
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(node.outputs[0]);
  const ValueId input = emitter.Int(node.inputs[0]);
  emitter.AddRequantize(node.name, input, x, emitter.DefineInt(node.outputs[0]), y,
                        QuantizeClamp(op.clamp, y));
}

void EmitLeakyRelu(Emitter& emitter, const Node& node, const LeakyRelu& op) {
  EmitLeaky(emitter, node, static_cast<double>(op.alpha));
}

OpSupport SupportPRelu(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  const Value& slope = graph.value(node.inputs[1]);
  if (!slope.is_constant()) return {OpKind::kFloat, "its slope is not constant"};
  const int64_t count = NumElements(slope.shape);
  if (count == 1) return {OpKind::kFunction, ""};
  const bool last_dimension =
      !x.shape.empty() && count == x.shape.back() && slope.shape.back() == count;
  if (!last_dimension) return {OpKind::kFloat, "its slope is not one number for each channel"};
  return {OpKind::kFunction, ""};
}

void EmitPRelu(Emitter& emitter, const Node& node) {
  const auto slopes = emitter.old().value(node.inputs[1]).constant->As<float>();
  for (float slope : slopes) {
    Require(std::isfinite(slope), ErrorCode::kInvalidInput, node.name, ": a slope is ", slope,
            ", expected a finite number; repair the model");
  }
  if (slopes.size() == 1) {
    EmitLeaky(emitter, node, static_cast<double>(slopes[0]));
    return;
  }
  const IntType x = emitter.Type(node.inputs[0]), y = emitter.Type(node.outputs[0]);
  double largest = 0;
  for (float slope : slopes) largest = std::max(largest, std::fabs(slope * Ratio(x, y)));
  QPRelu prelu;
  prelu.rshift = numerics::PReluShift(largest);
  for (float slope : slopes) {
    prelu.slopes.push_back(numerics::PReluSlope(slope * Ratio(x, y), prelu.rshift));
  }
  const numerics::Multiplier positive = PositiveSide(x, y);
  prelu.multiplier_positive = positive.multiplier;
  prelu.rshift_positive = positive.rshift;
  prelu.clamp = {y.qmin(), y.qmax()};
  const ValueId input = emitter.Int(node.inputs[0]);
  emitter.AddNode(node.name, std::move(prelu), {input}, emitter.DefineInt(node.outputs[0]));
}

QTable MakeTable(const IntType& x, const IntType& y,
                 const std::function<double(double)>& function) {
  QTable table;
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t q = numerics::ValueOfByte(byte, x.dtype == DType::kS8);
    const double real = static_cast<double>(x.quant.scale) * (q - x.quant.zero_point);
    table.table[byte] = static_cast<uint8_t>(numerics::QuantizeReal(
        function(real), y.quant.scale, y.quant.zero_point, y.qmin(), y.qmax()));
  }
  return table;
}

void EmitTable(Emitter& emitter, const Node& node, ValueId x,
               const std::function<double(double)>& function) {
  const QTable table = MakeTable(emitter.Type(x), emitter.Type(node.outputs[0]), function);
  const ValueId input = emitter.Int(x);
  emitter.AddNode(node.name, table, {input}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace rshift
