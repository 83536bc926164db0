// Operators that read or write 16-bit integers. NUMERICS.md section 29.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/normalize.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

bool HasForm(const Graph& graph, const Node& node, const Binary& op) {
  if (kResultIsBool[static_cast<size_t>(op.op)]) return false;
  const bool extremum = op.op == BinaryOp::kMax || op.op == BinaryOp::kMin;
  return ScalarOperand(graph, node) >= 0 || IsSumOrProduct(op.op) || extremum ||
         op.op == BinaryOp::kDiv;
}

// Another tool's weights with zero points keep their 8-bit form.
bool HasPlainWeights(const Graph& graph, const Node& node) {
  const QuantizedOrigin* origin = graph.value(node.inputs[1]).origin.get();
  return origin == nullptr || (origin->dtype == DType::kS8 &&
                               std::all_of(origin->zero_points.begin(), origin->zero_points.end(),
                                           [](int32_t zero) { return zero == 0; }));
}

int64_t NormalizedAxis(const Graph& graph, const Node& node, const LayerNorm& op) {
  const auto rank = static_cast<int64_t>(graph.value(node.inputs[0]).shape.size());
  return op.axis < 0 ? op.axis + rank : op.axis;
}

int64_t ReducedElements(const Graph& graph, const Node& node) {
  const int64_t results = NumElements(graph.value(node.outputs[0]).shape);
  return NumElements(graph.value(node.inputs[0]).shape) / std::max<int64_t>(results, 1);
}

// --- functions of one value ---

// Results of f over all 65,536 numbers, in units of y less its zero point.
class Function {
 public:
  Function(const IntType& x, const IntType& y, const std::function<double(double)>& f)
      : x_(x), y_(y), f_(f) {}

  // One number for each 2^step_bits.
  std::vector<int32_t> Entries(int32_t step_bits) const {
    std::vector<int32_t> entries;
    for (int32_t i = 0; i <= numerics::TableSteps(step_bits); ++i)
      entries.push_back(numerics::InterpolatedEntry(Units(-32768 + (i << step_bits))));
    return entries;
  }
  // The smallest table that keeps to kMostError.
  QTableS16 Table() const {
    std::vector<int32_t> nearest;
    nearest.reserve(65536);
    for (int32_t q = -32768; q < 32768; ++q) nearest.push_back(Nearest(q));
    QTableS16 table;
    table.clamp = {y_.qmin(), y_.qmax()};
    for (int32_t bits = numerics::kTableStepBits; bits >= numerics::kLeastTableStepBits; --bits) {
      table.interpolated = Entries(bits);
      if (IsNear(table.interpolated, bits, nearest)) return table;
    }
    table.interpolated.clear();
    for (const int32_t result : nearest)
      table.entries.push_back(static_cast<int16_t>(result - y_.quant.zero_point));
    return table;
  }

 private:
  static constexpr int32_t kMostError = 1;  // quanta: else every number has an entry

  bool IsNear(const std::vector<int32_t>& table, int32_t step_bits,
              const std::vector<int32_t>& nearest) const {
    for (int32_t q = -32768; q < 32768; ++q) {
      const int32_t line = numerics::InterpolateInt16(table.data(), step_bits, q,
                                                      y_.quant.zero_point, y_.qmin(), y_.qmax());
      if (std::abs(line - nearest[static_cast<size_t>(q) + 32768]) > kMostError) return false;
    }
    return true;
  }
  double Units(int32_t q) const {
    return f_(static_cast<double>(x_.quant.scale) * q) / static_cast<double>(y_.quant.scale);
  }
  int32_t Nearest(int32_t q) const {
    const double units = Units(q), zero = y_.quant.zero_point;
    if (std::isnan(units)) return std::clamp(y_.quant.zero_point, y_.qmin(), y_.qmax());
    const double low = y_.qmin() - zero, high = y_.qmax() - zero;
    return static_cast<int32_t>(numerics::RoundHalfEven(std::clamp(units, low, high)) + zero);
  }

  const IntType x_, y_;
  const std::function<double(double)>& f_;
};

// Bytes become s16 of 128 numbers to a step: a line between two entries is then one between bytes.
constexpr int32_t kBytesFactor = 128;

void EmitFunction(Emitter& emitter, const Node& node, ValueId old_x,
                  const std::function<double(double)>& f) {
  const IntType x = emitter.Int16Type(old_x, kBytesFactor), y = emitter.Type(node.outputs[0]);
  const ValueId input = emitter.Int16(old_x, kBytesFactor);
  emitter.AddNode(node.name, Function(x, y, f).Table(), {input},
                  emitter.DefineInt(node.outputs[0]));
}

void EmitLeakyInt16(Emitter& emitter, const Node& node, double alpha) {
  EmitFunction(emitter, node, node.inputs[0], [alpha](double v) { return v < 0 ? alpha * v : v; });
}

// --- two operands ---

// Numbers in place of a constant's, with a range of their own: s16.
Operand Int16Reals(Emitter& emitter, const Node& node, const Value& value,
                   std::span<const float> values) {
  const IntType type = Int16TypeOf(values);
  return Int16Numbers(emitter, node, value, type, ToInt16(emitter, values, type));
}

Operand Int16Constant(Emitter& emitter, const Node& node, const Value& value) {
  if (IsInt16Constant(value)) return OwnInt16(emitter, node, value);
  RequireFinite(node, value);
  return Int16Reals(emitter, node, value, value.constant->As<float>());
}

// 1 / d of a divisor that is constant; empty where it is not, or holds a 0.
std::vector<float> ReciprocalsOf(const Value& divisor) {
  if (!divisor.is_constant()) return {};
  std::vector<float> reciprocals;
  for (const float d : divisor.constant->As<float>()) {
    if (!std::isfinite(1 / d)) return {};
    reciprocals.push_back(1 / d);
  }
  return reciprocals;
}

Operand Int16Operand(Emitter& emitter, const Node& node, ValueId old_id) {
  const Value& value = emitter.old().value(old_id);
  if (value.is_constant()) return Int16Constant(emitter, node, value);
  return MakeOperand(emitter, node, old_id);
}

bool EmitBinaryInt16(Emitter& emitter, const Node& node, const Binary& op) {
  if (const int scalar = ScalarOperand(emitter.old(), node); scalar >= 0) {
    EmitFunction(emitter, node, node.inputs[1 - scalar],
                 ScalarFunction(emitter.old(), node, op, scalar));
    return true;
  }
  const bool quotient = op.op == BinaryOp::kDiv;
  const Value& second = emitter.old().value(node.inputs[1]);
  const std::vector<float> reciprocals = quotient ? ReciprocalsOf(second) : std::vector<float>{};
  if (!IsSumOrProduct(op.op) && !quotient) {
    if (!emitter.Type(node.outputs[0]).is_s16()) return false;  // operands become bytes first
    EmitExtremumInt16(emitter, node, op);
    return true;
  }
  BinaryLayer layer;
  layer.op = reciprocals.empty() ? op.op : BinaryOp::kMul;
  layer.y = emitter.Type(node.outputs[0]);
  layer.clamp = op.clamp;
  Operand a = Int16Operand(emitter, node, node.inputs[0]);
  Operand b = reciprocals.empty() ? Int16Operand(emitter, node, node.inputs[1])
                                  : Int16Reals(emitter, node, second, reciprocals);
  layer.a = a.type;
  layer.b = b.type;
  Op command = RulesOf(emitter).MakeBinary(layer);
  // The command repeats its second operand alone.
  if (const Value& first = emitter.old().value(node.inputs[0]); first.is_constant()) {
    if (quotient)
      a.id = ExpandOperand(emitter, node, first, a.id, a.type);
    else
      std::swap(a, b);
    if (auto* sum = std::get_if<isa::AddS16>(&command))
      std::swap(sum->multiplier, sum->multiplier2);
  }
  emitter.AddNode(node.name, std::move(command), {a.id, b.id}, emitter.DefineInt(node.outputs[0]));
  return true;
}

// max(x, 0) + slope min(x, 0): both parts are exact, the product and the sum are rounded.
void EmitPReluOfChannels(Emitter& emitter, const Node& node) {
  const Value& slope = emitter.old().value(node.inputs[1]);
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType x = emitter.Int16Type(old_x, kBytesFactor), y = emitter.Type(old_y);
  const ValueId input = emitter.Int16(old_x, kBytesFactor);
  const auto part = [&](const char* suffix, int32_t lo, int32_t hi) {
    return emitter.AddStep(node, suffix, isa::RequantizeS16{.words = {}, .clamp = {lo, hi}}, input,
                           old_x, x, emitter.old().value(old_x).shape,
                           emitter.old().value(old_x).layout);
  };
  const ValueId positive = part("__positive", 0, x.qmax()),
                negative = part("__negative", x.qmin(), 0);
  const Operand slopes = Int16Constant(emitter, node, slope);
  float largest = 0;
  for (const float v : slope.constant->As<float>()) largest = std::max(largest, std::fabs(v));
  const IntType product{
      DType::kS16,
      {numerics::ScaleOrOne(static_cast<double>(x.quant.scale) * static_cast<double>(largest)), 0}};
  const Arithmetic& rules = RulesOf(emitter);
  const auto layer = [&](BinaryOp op, const IntType& a, const IntType& b, const IntType& to) {
    BinaryLayer made;
    made.op = op;
    made.a = a;
    made.b = b;
    made.y = to;
    return made;
  };
  const ValueId scaled = emitter.Temporary(old_y, "__scaled", product);
  emitter.AddNode(node.name + "__scaled",
                  rules.MakeBinary(layer(BinaryOp::kMul, x, slopes.type, product)),
                  {negative, slopes.id}, scaled);
  emitter.AddNode(node.name, rules.MakeBinary(layer(BinaryOp::kAdd, x, product, y)),
                  {positive, scaled}, emitter.DefineInt(old_y));
}

void EmitPReluInt16(Emitter& emitter, const Node& node) {
  const Value& slope = emitter.old().value(node.inputs[1]);
  RequireFinite(node, slope);
  if (!IsScalarConstant(slope)) return EmitPReluOfChannels(emitter, node);
  EmitLeakyInt16(emitter, node, static_cast<double>(slope.constant->As<float>()[0]));
}

// --- averages, normalizations ---

void EmitAveragePoolInt16(Emitter& emitter, const Node& node, const AveragePool& op) {
  const IntType x = emitter.Int16Type(node.inputs[0], 1), y = emitter.Type(node.outputs[0]);
  isa::AveragePoolS16 pool;
  pool.window = op.window;
  pool.count_include_pad = op.count_include_pad;
  pool.words = numerics::AverageInt16Words(static_cast<double>(x.quant.scale) /
                                           static_cast<double>(y.quant.scale));
  pool.clamp = {y.qmin(), y.qmax()};
  const ValueId input = emitter.Int16(node.inputs[0], 1);
  emitter.AddNode(node.name, pool, {input}, emitter.DefineInt(node.outputs[0]));
}

// Over the dimensions from `axis` on; with `channels` but the last one.
struct Int16Norm {
  int64_t axis = 0;
  bool center = true, channels = false;
  float epsilon = 0;
};

// x at the least scale, a power of two times its own, at which epsilon fits the variance's bits.
IntType ForEpsilon(IntType x, int64_t n, double epsilon) {
  const double count = std::ldexp(static_cast<double>(n), -numerics::NormalizeHalvings(n));
  const auto units = [&] {
    const double of_x = count / static_cast<double>(x.quant.scale);
    return epsilon * of_x * of_x;
  };
  while (units() >= 0x1p60 && x.quant.scale < FLT_MAX / 4) x.quant.scale *= 2;
  return x;
}

void EmitNormInt16(Emitter& emitter, const Node& node, const Int16Norm& op) {
  const Shape& shape = emitter.old().value(node.inputs[0]).shape;
  const int64_t n =
      NumElements(Shape(shape.begin() + op.axis, shape.end() - (op.channels ? 1 : 0)));
  const int64_t numbers_wanted = op.channels ? shape.back() : n;
  const IntType own = emitter.Int16Type(node.inputs[0], 1);
  const IntType in = ForEpsilon(own, n, static_cast<double>(op.epsilon));
  const NormalizeLayer layer{in,
                             emitter.Type(node.outputs[0]),
                             n,
                             std::max(static_cast<double>(op.epsilon), 0.0),
                             NormalizeNumbers(emitter.old(), node, 1, numbers_wanted),
                             NormalizeNumbers(emitter.old(), node, 2, numbers_wanted)};
  QNormalize numbers = RulesOf(emitter).MakeNormalize(layer);
  QNormalizeS16 normalize;
  normalize.axis = op.axis;
  normalize.center = op.center;
  normalize.channels = op.channels;
  normalize.epsilon = numbers.epsilon;
  normalize.variance_shift = numbers.variance_shift;
  normalize.rshift = numbers.rshift;
  normalize.clamp = numbers.clamp;
  normalize.row_factors = std::move(numbers.row_factors);
  normalize.row_offsets = std::move(numbers.row_offsets);
  ValueId x = emitter.Int16(node.inputs[0], 1);
  if (!(in == own)) {
    const ValueId coarse = emitter.Temporary(node.inputs[0], "__coarse", in);
    emitter.AddRequantize(node.name + "__coarse", x, own, coarse, in, {in.qmin(), in.qmax()});
    x = coarse;
  }
  emitter.AddNode(node.name, std::move(normalize), {x}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace

// Of channels with exponents a table for each pair of them, straight lines in any case.
void EmitValueFunctionInt16(Emitter& emitter, const Node& node, const ValueFunction& function) {
  if (!function.scales_channels()) return EmitFunction(emitter, node, function.x, function.f);
  const IntType x = emitter.Int16Type(function.x, kBytesFactor), y = emitter.Type(node.outputs[0]);
  const ValueId input = emitter.Int16(function.x, kBytesFactor);
  QChannelTablesS16 tables;
  tables.clamp = {y.qmin(), y.qmax()};
  const auto channels = static_cast<size_t>(emitter.old().value(function.x).shape.back());
  tables.table_of_channel = TableOfChannel(function, channels, [&](int32_t i, int32_t o) {
    IntType own_x = x, own_y = y;
    own_x.quant.scale = std::ldexp(x.quant.scale, i);
    own_y.quant.scale = std::ldexp(y.quant.scale, o);
    const std::vector<int32_t> lines =
        Function(own_x, own_y, function.f).Entries(numerics::kTableStepBits);
    tables.interpolated.insert(tables.interpolated.end(), lines.begin(), lines.end());
  });
  emitter.AddNode(node.name, std::move(tables), {input}, emitter.DefineInt(node.outputs[0]));
}

bool HasInt16Form(const Graph& graph, const Node& node) {
  if (MovesInput(graph, node)) return true;
  return std::visit(
      Overloaded{
          [&](const Conv&) { return HasPlainWeights(graph, node); },
          [&](const ConvTranspose&) { return HasPlainWeights(graph, node); },
          [&](const MatMul&) {
            return HasWeights(graph, node) ? HasPlainWeights(graph, node)
                                           : HasProductOfInt16(graph, node);
          },
          [&](const Softmax& op) { return HasSoftmaxOfInt16(graph, node, op); },
          [&](const Binary& op) { return HasForm(graph, node, op); },
          [&](const Unary& op) { return op.op != UnaryOp::kNot; },
          [&](const LeakyRelu&) { return true; },
          [&](const PRelu&) { return graph.value(node.inputs[1]).is_constant(); },
          [&](const AveragePool& op) {
            return op.window.kernel_h * op.window.kernel_w <= numerics::kMostInt16Taps;
          },
          [&](const MaxPool&) { return true; }, [&](const Clip&) { return true; },
          [&](const Concat&) { return true; },
          [&](const Reduce&) { return ReducedElements(graph, node) <= numerics::kMostInt16Taps; },
          [&](const Where&) { return true; }, [&](const ArgMax&) { return true; },
          [&](const LayerNorm&) { return true; }, [&](const InstanceNorm&) { return true; },
          [&](const Resize& op) { return HasResizeOfInt16(graph, node, op); },
          [&](const auto&) { return false; }},
      node.op);
}

ProductInput InputOfProduct(Emitter& emitter, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!emitter.HasInt16(node)) return {emitter.Int(x), emitter.Type(x)};
  return {emitter.Int16(x, 1), emitter.Int16Type(x, 1)};
}

bool EmitInt16(Emitter& emitter, const Node& node) {
  if (emitter.rules().ModelInt16() != nullptr) return EmitModelInt16(emitter, node);
  return std::visit(
      Overloaded{[&](const Binary& op) { return EmitBinaryInt16(emitter, node, op); },
                 [&](const Unary& op) {
                   EmitValueFunctionInt16(
                       emitter, node,
                       {node.inputs[0], [&op](double v) { return Evaluate(op, v); },
                        op.input_exponents, op.output_exponents});
                   return true;
                 },
                 [&](const LeakyRelu& op) {
                   EmitLeakyInt16(emitter, node, static_cast<double>(op.alpha));
                   return true;
                 },
                 [&](const PRelu&) {
                   EmitPReluInt16(emitter, node);
                   return true;
                 },
                 [&](const MatMul& op) {
                   if (HasWeights(emitter.old(), node)) return false;
                   EmitProductInt16(emitter, node, op);
                   return true;
                 },
                 [&](const Softmax& op) {
                   EmitSoftmaxInt16(emitter, node, op);
                   return true;
                 },
                 [&](const AveragePool& op) {
                   EmitAveragePoolInt16(emitter, node, op);
                   return true;
                 },
                 [&](const Where&) {
                   if (!emitter.Type(node.outputs[0]).is_s16()) return false;
                   EmitWhereInt16(emitter, node);
                   return true;
                 },
                 [&](const Resize& op) {
                   if (op.mode == ResizeMode::kNearest) return false;
                   EmitResizeInt16(emitter, node, op, kBytesFactor);
                   return true;
                 },
                 [&](const LayerNorm& op) {
                   const int64_t axis = NormalizedAxis(emitter.old(), node, op);
                   EmitNormInt16(emitter, node, {axis, !op.rms, false, op.epsilon});
                   return true;
                 },
                 [&](const InstanceNorm& op) {
                   const Value& x = emitter.old().value(node.inputs[0]);
                   const bool channels = x.layout == Layout::kNhwc;
                   EmitNormInt16(emitter, node, {channels ? 1 : 2, true, channels, op.epsilon});
                   return true;
                 },
                 [](const auto&) { return false; }},
      node.op);
}

}  // namespace rshift
