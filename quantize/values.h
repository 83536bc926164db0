// What several decisions ask about a value of a graph.
#ifndef RSHIFT_QUANTIZE_VALUES_H_
#define RSHIFT_QUANTIZE_VALUES_H_

#include <optional>
#include <span>

#include "graph/graph.h"

namespace rshift {

// Computed, and of F32: what quantization makes integers of. False of no value.
bool IsF32Activation(const Graph& graph, ValueId id);

// The number that an F32 constant holds everywhere.
std::optional<float> UniformConstant(const Graph& graph, ValueId id);

// Its numbers, where it is an F32 constant of one for each channel of `result`, or of `one` for
// all; else nothing.
std::span<const float> NumbersOfChannels(const Graph& graph, ValueId id, ValueId result, bool one);

// An F32 constant without a number below 0: shares, filters.
bool IsNonNegativeConstant(const Graph& graph, ValueId id);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_VALUES_H_
