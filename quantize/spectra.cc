#include "quantize/spectra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "base/portable_math.h"
#include "quantize/ranges/known_bounds.h"
#include "quantize/values.h"

namespace rshift {
namespace {

constexpr int64_t kLeastLength = 8;
constexpr int64_t kRowsChecked = 16;
constexpr double kTolerance = 1e-3;  // of the largest entry
constexpr float kMostCompressingPower = 0.5f;

// The constant matrix that an activation is multiplied with; empty where there is none.
std::span<const float> MatrixOf(const Graph& graph, const Node& node) {
  if (!std::holds_alternative<MatMul>(node.op)) return {};
  const Value& w = graph.value(node.inputs[1]);
  if (!w.is_constant() || w.dtype != DType::kF32 || w.shape.size() != 2) return {};
  return w.constant->As<float>();
}

// Entry (k, n) is scale f(2 pi k n / K), in the first rows.
bool IsWave(std::span<const float> w, const Shape& shape, double scale, double (*f)(double)) {
  if (!std::isfinite(scale) || scale == 0) return false;
  const int64_t length = shape[0], bins = shape[1];
  for (int64_t k = 0; k < std::min(length, kRowsChecked); ++k) {
    for (int64_t n = 0; n < bins; ++n) {
      const double turn = static_cast<double>(k * n % length) / static_cast<double>(length);
      const double wave = scale * f(2 * std::numbers::pi * turn);
      const double entry = w[static_cast<size_t>(k * bins + n)];
      if (!(std::fabs(entry - wave) <= kTolerance * std::fabs(scale))) return false;
    }
  }
  return true;
}

double Cosine(double x) { return portable::Cos(x); }
double Sine(double x) { return portable::Sin(x); }

bool IsTransform(const Graph& graph, const Node& node) {
  const std::span<const float> w = MatrixOf(graph, node);
  if (w.empty()) return false;
  const Shape& shape = graph.value(node.inputs[1]).shape;
  if (shape[0] < kLeastLength || shape[1] < 3 || shape[1] > shape[0]) return false;
  const double first = w[static_cast<size_t>(shape[1] + 1)];  // (1, 1)
  const double angle = 2 * std::numbers::pi / static_cast<double>(shape[0]);
  return IsWave(w, shape, static_cast<double>(w[0]), Cosine) ||
         IsWave(w, shape, first / Sine(angle), Sine);
}

// Makes a spectrum of one: mel filters.
bool HasFilters(const Graph& graph, const Node& node) {
  return !MatrixOf(graph, node).empty() && IsNonNegativeConstant(graph, node.inputs[1]);
}

bool MultipliesByWeights(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Conv>(node.op) || std::holds_alternative<ConvTranspose>(node.op))
    return true;
  return std::holds_alternative<MatMul>(node.op) && graph.value(node.inputs[1]).is_constant();
}

// The dynamic range of the result is that of ordinary activations.
bool Compresses(const Graph& graph, const Node& node, const KnownBounds& bounds) {
  if (bounds.fills) return true;
  if (const auto* unary = std::get_if<Unary>(&node.op)) return unary->op == UnaryOp::kLog;
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->op != BinaryOp::kPow) return false;
  const std::optional<float> power = UniformConstant(graph, node.inputs[1]);
  return power && *power <= kMostCompressingPower;
}

}  // namespace

std::vector<bool> SpectralNodes(const Graph& graph) {
  std::vector<bool> nodes(graph.nodes().size(), false);
  std::vector<bool> spectral(static_cast<size_t>(graph.value_count()), false);  // by value
  const std::vector<KnownBounds> bounds = FindKnownBounds(graph);
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = graph.nodes()[n];
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id.valid() && spectral[static_cast<size_t>(id.index())];
    });
    const bool transforms = IsTransform(graph, node);
    if (!transforms && (!reads || (MultipliesByWeights(graph, node) && !HasFilters(graph, node))))
      continue;
    nodes[n] = true;
    if (!transforms && Compresses(graph, node, bounds[node.outputs[0].index()])) continue;
    for (const ValueId id : node.outputs) spectral[static_cast<size_t>(id.index())] = true;
  }
  const std::vector<std::vector<NodeId>> consumers = graph.Consumers();
  for (size_t n = nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    const ValueId y = node.outputs[0];
    const auto& readers = consumers[y.index()];
    if (nodes[n] || MultipliesByWeights(graph, node) || graph.IsOutput(y) || readers.empty())
      continue;
    nodes[n] = std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return nodes[static_cast<size_t>(reader.index())];
    });
  }
  return nodes;
}

}  // namespace rshift
