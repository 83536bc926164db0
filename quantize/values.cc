#include "quantize/values.h"

#include <algorithm>

namespace rshift {
namespace {

// Empty where it is no F32 constant.
std::span<const float> NumbersOf(const Graph& graph, ValueId id) {
  if (!id.valid() || !graph.value(id).is_constant() || graph.value(id).dtype != DType::kF32)
    return {};
  return graph.value(id).constant->As<float>();
}

}  // namespace

bool IsF32Activation(const Graph& graph, ValueId id) {
  return id.valid() && !graph.value(id).is_constant() && graph.value(id).dtype == DType::kF32;
}

std::optional<float> UniformConstant(const Graph& graph, ValueId id) {
  const std::span<const float> numbers = NumbersOf(graph, id);
  const bool uniform = !numbers.empty() && std::all_of(numbers.begin(), numbers.end(),
                                                       [&](float x) { return x == numbers[0]; });
  return uniform ? std::optional(numbers[0]) : std::nullopt;
}

std::span<const float> NumbersOfChannels(const Graph& graph, ValueId id, ValueId result, bool one) {
  const Value &value = graph.value(id), &y = graph.value(result);
  if (!value.is_constant() || value.dtype != DType::kF32 || y.shape.empty()) return {};
  const int64_t count = NumElements(value.shape);
  const bool each = !value.shape.empty() && value.shape.back() == count && count == y.shape.back();
  if (!each && !(one && count == 1)) return {};
  return value.constant->As<float>();
}

bool IsNonNegativeConstant(const Graph& graph, ValueId id) {
  const std::span<const float> numbers = NumbersOf(graph, id);
  return !numbers.empty() &&
         std::all_of(numbers.begin(), numbers.end(), [](float x) { return x >= 0; });
}

}  // namespace rshift
