// Operators that read or write 16-bit integers. NUMERICS.md section 29.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "quantize/numerics/int16_terms.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

// Truth values have no bits, and no scale holds a NaN or an infinity that is compared.
bool HasForm(const Graph& graph, const Node& node, const Binary& op) {
  if (!kResultIsBool[static_cast<size_t>(op.op)]) return true;
  if (op.op == BinaryOp::kAnd || op.op == BinaryOp::kOr || op.op == BinaryOp::kXor) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const Value& value = graph.value(id);
    if (!value.is_constant() || value.dtype != DType::kF32) return true;
    const auto numbers = value.constant->As<float>();
    return std::all_of(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); });
  });
}

// Another tool's weights with zero points keep their 8-bit form.
bool HasPlainWeights(const Graph& graph, const Node& node) {
  const QuantizedOrigin* origin = graph.value(node.inputs[1]).origin.get();
  return origin == nullptr || (origin->dtype == DType::kS8 &&
                               std::all_of(origin->zero_points.begin(), origin->zero_points.end(),
                                           [](int32_t zero) { return zero == 0; }));
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

void EmitFunction(Emitter& emitter, const Node& node, ValueId old_x,
                  const std::function<double(double)>& f) {
  const IntType x = emitter.Int16Type(old_x, kBytesFactor), y = emitter.Type(node.outputs[0]);
  const ValueId input = emitter.Int16(old_x, kBytesFactor);
  emitter.AddNode(node.name, Function(x, y, f).Table(), {input},
                  emitter.DefineInt(node.outputs[0]));
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
            return HasConstantMatrix(graph, node) ? HasPlainWeights(graph, node)
                                                  : HasProductOfInt16(graph, node);
          },
          [&](const Softmax& op) { return HasSoftmaxOfInt16(graph, node, op); },
          [&](const Binary& op) { return HasForm(graph, node, op); },
          [&](const Unary& op) { return op.op != UnaryOp::kNot; },
          [&](const LeakyRelu&) { return true; }, [&](const PRelu&) { return true; },
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
  return std::visit(Overloaded{[&](const Binary& op) { return EmitBinaryInt16(emitter, node, op); },
                               [&](const Unary& op) {
                                 EmitValueFunctionInt16(
                                     emitter, node,
                                     {node.inputs[0], [&op](double v) { return Evaluate(op, v); },
                                      op.input_exponents, op.output_exponents});
                                 return true;
                               },
                               [&](const LeakyRelu& op) {
                                 EmitFunction(emitter, node, node.inputs[0], [&op](double v) {
                                   return v < 0 ? static_cast<double>(op.alpha) * v : v;
                                 });
                                 return true;
                               },
                               [&](const PRelu&) {
                                 EmitPReluInt16(emitter, node);
                                 return true;
                               },
                               [&](const MatMul& op) {
                                 if (HasConstantMatrix(emitter.old(), node)) return false;
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
                               [](const auto&) { return false; }},
                    node.op);
}

}  // namespace rshift
