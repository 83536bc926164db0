#include "quantize/sensitive.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/portable_math.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

constexpr double kLargeShare = 0.125;  // of the output's range
constexpr double kFewSteps = 8;        // of a divisor

using Function = std::function<double(double)>;

// What the node does to its one activation, which is put into `x`.
std::optional<Function> FunctionOf(const Graph& graph, const Node& node, ValueId* x) {
  if (const auto* unary = std::get_if<Unary>(&node.op)) {
    if (unary->scales_channels()) return {};  // a function for each channel
    *x = node.inputs[0];
    return [op = *unary](double v) { return Evaluate(op, v); };
  }
  const auto* binary = std::get_if<Binary>(&node.op);
  const bool divides = binary != nullptr && binary->op == BinaryOp::kDiv;
  const bool raises = binary != nullptr && binary->op == BinaryOp::kPow;
  if (!divides && !raises) return {};
  const int constant = graph.value(node.inputs[0]).is_constant() ? 0 : 1;
  const Value& value = graph.value(node.inputs[constant]);
  *x = node.inputs[1 - constant];
  if (!value.is_constant() || value.dtype != DType::kF32 || NumElements(value.shape) != 1 ||
      graph.value(*x).is_constant()) {
    return {};
  }
  const double c = value.constant->As<float>()[0];
  if (constant == 0 && divides) return [c](double v) { return c / v; };
  if (constant == 0) return [c](double v) { return portable::Pow(c, v); };
  if (divides) return [c](double v) { return v / c; };
  return [c](double v) { return portable::Pow(v, c); };
}

// The text of the note; empty: nothing to say.
std::string Judge(const Function& f, const IntType& x, const IntType& y, const TensorRange& seen,
                  const TensorRange* result, const std::string& input) {
  const double half = static_cast<double>(x.quant.scale) / 2;
  const double lo = y.RealOf(y.qmin()), hi = y.RealOf(y.qmax()), range = hi - lo;
  double largest = 0, at = 0, before = std::nan(""), least = 0, most = 0;
  for (int32_t q = x.qmin(); q <= x.qmax(); ++q) {
    const double v = x.RealOf(q);
    if (v < static_cast<double>(seen.min) - half || v > static_cast<double>(seen.max) + half)
      continue;
    const double value = f(v);
    if (!std::isfinite(value)) {
      return Cat("it has no finite value at ", static_cast<float>(v), ", which its input '", input,
                 "' reaches; values near there are lost: leave it in F32 (--config, mode: f32)");
    }
    least = std::isnan(before) ? value : std::min(least, value);
    most = std::isnan(before) ? value : std::max(most, value);
    const double held = std::clamp(value, lo, hi);
    const double step = std::isnan(before) ? 0 : std::fabs(held - before);
    if (step > largest) {
      largest = step;
      at = v;
    }
    before = held;
  }
  // `result`: what calibration saw of it; nullptr: nobody knows.
  const double seen_range =
      result == nullptr ? 0 : static_cast<double>(result->max) - static_cast<double>(result->min);
  if (most - least < kLargeShare * seen_range) {
    return Cat("calibration saw results from ", result->min, " to ", result->max,
               ", but the integers of its input '", input, "' (step ", x.quant.scale,
               ") give no more than ", static_cast<float>(least), " to ", static_cast<float>(most),
               ": leave it in F32 (--config, mode: f32)");
  }
  if (largest <= kLargeShare * range) return "";
  return Cat("near ", static_cast<float>(at), " one step of its input '", input, "' (",
             x.quant.scale, ") moves the result by ", std::lround(100 * largest / range),
             " % of its range; values between are lost: leave it in F32 (--config, mode: f32)");
}

// Of a quotient by an activation: the text of the note where few steps of the divisor lie between
// it and 0.
std::string JudgeDivisor(const IntType& type, const TensorRange& seen, const std::string& name) {
  const double step = static_cast<double>(type.quant.scale);
  const double low = static_cast<double>(seen.min), high = static_cast<double>(seen.max);
  if (low <= step / 2 && high >= -step / 2) {
    return Cat("its divisor '", name, "' (", seen.min, " to ", seen.max, ", step ",
               type.quant.scale,
               ") reaches 0, where the quotient saturates by the sign of the "
               "dividend: leave it in F32 (--config, mode: f32)");
  }
  const double least = std::min(std::fabs(low), std::fabs(high));
  if (least >= kFewSteps * step) return "";
  return Cat("its divisor '", name, "' comes as near to 0 as ", static_cast<float>(least),
             ", where one of its steps (", type.quant.scale, ") is ",
             std::lround(100 * step / least),
             " % of the quotient: leave it in F32 (--config, mode: f32)");
}

// The divisor of a quotient of two activations, or of more than one number by one.
ValueId DivisorOf(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != BinaryOp::kDiv) return {};
  return graph.value(node.inputs[1]).is_constant() ? ValueId{} : node.inputs[1];
}

// The type that node n reads or writes.
const IntType& TypeAt(const ValueTypes& types, size_t n, ValueId id) {
  const bool wide =
      !types.int16.empty() && types.reads_int16[n] && types.int16[id.index()].quant.scale > 0;
  return wide ? types.int16[id.index()] : types.types[id.index()];
}

}  // namespace

std::vector<QuantizeReport::Note> FindSensitive(const Graph& graph, const QuantizationPlan& plan,
                                                const ValueTypes& types,
                                                const CalibrationTable& table,
                                                const std::set<size_t>& of_cells) {
  std::map<std::string, const TensorRange*> seen;
  for (const auto& [name, range] : table.tensors) seen[name] = &range;
  std::vector<QuantizeReport::Note> notes;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    ValueId x;
    if (plan.forms[n] != NodeForm::kInteger || of_cells.contains(n)) continue;
    const std::optional<Function> f = FunctionOf(graph, node, &x);
    if (!f) x = DivisorOf(graph, node);
    if (!x.valid()) continue;
    const auto found = seen.find(graph.value(x).name);
    const IntType &in = TypeAt(types, n, x), &out = TypeAt(types, n, node.outputs[0]);
    if (found == seen.end() || !(in.quant.scale > 0) || !(out.quant.scale > 0)) continue;
    const auto result = seen.find(graph.value(node.outputs[0]).name);
    // Bounds of the function are not what calibration saw.
    const bool has_seen = result != seen.end() && result->second->method != kKnownMethod;
    const std::string text = f ? Judge(*f, in, out, *found->second,
                                       has_seen ? result->second : nullptr, graph.value(x).name)
                               : JudgeDivisor(in, *found->second, graph.value(x).name);
    if (!text.empty()) notes.push_back({node.name, OpName(node.op), text});
  }
  return notes;
}

}  // namespace rshift
