#include "interop/apply_weights.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"

namespace rshift {
namespace {

// The dimension of a node's weights that is its output channels; -1: not an operator with weights.
int64_t ChannelAxis(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Conv>(node.op)) return 0;
  const bool is_matrix = std::holds_alternative<MatMul>(node.op) && node.inputs.size() > 1 &&
                         graph.value(node.inputs[1]).shape.size() == 2;
  return is_matrix ? 1 : -1;
}

bool IsTransposed(const Value& a, const Value& b) {
  if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[0] != b.shape[1] ||
      a.shape[1] != b.shape[0]) {
    return false;
  }
  const auto x = a.constant->As<float>(), y = b.constant->As<float>();
  const int64_t rows = a.shape[0], columns = a.shape[1];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      if (!(x[r * columns + c] == y[c * rows + r])) return false;
    }
  }
  return true;
}

// Gemm's weights may be transposed by the import; a view has another shape.
bool IsSameConstant(const Value& before, const Value& after) {
  return before.constant->bytes == after.constant->bytes || IsTransposed(before, after);
}

void CheckCount(const ScaleSet& set, const ScaleEntry& entry, int64_t channels) {
  const auto count = static_cast<int64_t>(entry.scales.size());
  RSHIFT_REQUIRE(count == 1 || count == channels, ErrorCode::kInvalidInput, set.where,
                 ": weights '", entry.name, "' have ", count, " scales, expected one, or ",
                 channels, ", one for each output channel; is it of another model?");
}

std::shared_ptr<const QuantizedOrigin> Quantized(const ScaleEntry& entry, const Value& w,
                                                 int64_t axis) {
  const bool is_signed = IsSigned(entry);
  auto origin = std::make_shared<QuantizedOrigin>();
  origin->dtype = is_signed ? DType::kS8 : DType::kU8;
  origin->axis = entry.scales.size() > 1 ? axis : -1;
  for (const double scale : entry.scales) origin->scales.push_back(static_cast<float>(scale));
  for (size_t i = 0; i < entry.scales.size(); ++i) {
    origin->zero_points.push_back(
        entry.zero_points.empty() ? 0 : static_cast<int32_t>(entry.zero_points[i]));
  }
  const auto lo = static_cast<double>(QMin(entry.bits, is_signed));
  const auto hi = static_cast<double>(QMax(entry.bits, is_signed));
  const auto elements = w.constant->As<float>();
  const int64_t inner = axis == 0 ? NumElements(w.shape) / std::max<int64_t>(w.shape[0], 1) : 1;
  auto integers = std::make_shared<ConstantData>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t channel =
        origin->scales.size() > 1 ? static_cast<int64_t>(i) / inner % w.shape[axis] : 0;
    const double q = std::nearbyint(static_cast<double>(elements[i]) /
                                    static_cast<double>(origin->scales[channel])) +
                     origin->zero_points[channel];
    const double limited = q >= lo ? std::min(q, hi) : lo;
    integers->bytes.push_back(static_cast<uint8_t>(static_cast<int>(limited)));
  }
  origin->integers = std::move(integers);
  return origin;
}

// Whether a node of the graph has these weights still.
bool ApplyEntry(const ScaleSet& set, const ScaleEntry& entry, const Value& before, Graph* graph) {
  bool found = false;
  for (const Node& node : graph->nodes()) {
    const int64_t axis = ChannelAxis(*graph, node);
    if (axis < 0 || node.inputs.size() < 2 || !node.inputs[1].valid()) continue;
    Value& w = graph->value(node.inputs[1]);
    if (!w.is_constant() || w.dtype != DType::kF32 || !IsSameConstant(before, w)) continue;
    CheckCount(set, entry, w.shape[axis]);
    w.origin = Quantized(entry, w, axis);
    found = true;
  }
  return found;
}

}  // namespace

void ApplyWeightScales(const ScaleSet& set, const Graph& imported, Graph* graph, Losses* losses) {
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject != Subject::kWeights || entry.is_float) continue;
    const ValueId id = imported.FindValue(entry.name);
    if (!id.valid() || !imported.value(id).is_constant() ||
        imported.value(id).dtype != DType::kF32) {
      ++(*losses)["scales of weights not used: the model has no weights of that name"];
    } else if (entry.bits > 8 || entry.scales.empty()) {
      ++(*losses)["scales of weights not used: without a scale of at most 8 bits"];
    } else if (!ApplyEntry(set, entry, imported.value(id), graph)) {
      ++(*losses)
          ["scales of weights not used: the constant is no convolution's or matrix "
           "product's as it stands, or batch normalization is folded into it"];
    }
  }
}

}  // namespace rshift
