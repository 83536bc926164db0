// ForwardCalibration and BackwardCalibration: which operators want equal ranges, in which
// direction, and when. (Seed: tpu_quantization_theory; the preconditions are ours.) Where a
// precondition fails the ranges stay as they are, and quantization uses the operator's form with
// different scales.
#ifndef RSHIFT_QUANTIZE_RANGES_PROPAGATION_RULES_H_
#define RSHIFT_QUANTIZE_RANGES_PROPAGATION_RULES_H_

#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/groups.h"

namespace rshift {

// What the rules look at. `active` by node: false where the node runs in F32 or moves no f32
// activations. `negative_reach` by value: how far below zero its own range goes, as far as
// calibration saw it go.
struct Propagation {
  const Graph& graph;
  RangeGroups& groups;
  std::vector<bool> active;
  std::vector<std::vector<NodeId>> consumers;
  std::vector<float> negative_reach;
};

// Are all output bytes bytes of the first input (MovementOf; Gather: at constant indices)? Then the
// output takes its range.
bool MovesInput(const Graph& graph, const Node& node);

// Linear Resize: means of the input's numbers.
bool IsInterpolation(const Node& node);

// In topological order, before any backward rule. Pad extends the range to hold its value.
// Throws kInvalidInput when the configuration fixes input and output to different ranges.
void ApplyForwardRules(Propagation& state);

// Where a comparison's operands are made of common numbers by choosing (ReduceMax, Clip, Max,
// MaxPool, movement), they and all between share the least range that holds theirs. After the
// forward rules.
void ApplyComparisonRule(Propagation& state);

// In reverse topological order, so that a group's readers have decided before it joins another.
// Relu/Clip on its own, LeakyRelu, PRelu, Concat, MaxPool, Max and Min of tensors, Where. A group
// joins its reader's output only when nobody else reads any of it, and, where it interpolates, when
// the range cuts nothing off.
void ApplyBackwardRules(Propagation& state);

// After both, symmetric mode: groups made by functions and read by products alone whose values
// reach at most half their threshold below zero become unsigned and shifted.
void ApplyShiftRule(Propagation& state);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_PROPAGATION_RULES_H_
