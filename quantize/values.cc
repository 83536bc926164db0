#include "quantize/values.h"

#include <algorithm>
#include <span>

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

bool IsNonNegativeConstant(const Graph& graph, ValueId id) {
  const std::span<const float> numbers = NumbersOf(graph, id);
  return !numbers.empty() &&
         std::all_of(numbers.begin(), numbers.end(), [](float x) { return x >= 0; });
}

}  // namespace rshift
