// Ranges that need no measurement: a Sigmoid gives [0, 1] whatever the data.
#ifndef RSHIFT_QUANTIZE_RANGES_KNOWN_BOUNDS_H_
#define RSHIFT_QUANTIZE_RANGES_KNOWN_BOUNDS_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

struct KnownBounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  // The function fills them: Sigmoid, HardSigmoid and Softmax [0, 1]; Tanh, Erf, Softsign, Sin and
  // Cos [-1, 1]. Data that comes nowhere near them (no text on the photographs) says nothing. Else
  // they only limit: HardSwish, SiLU, GELU and others from below, Relu and Clip.
  bool fills = false;
  // It comes to an output with no product in between, as the scores of a detector do.
  bool score = false;

  float largest() const { return std::max(std::fabs(low), std::fabs(high)); }
  // Whether values of which the largest is `reach` say less than the bounds. Numbers that all lie
  // near 0 are as good a measurement as any other's (the shares of many in an attention; Tanh,
  // which is a straight line there); scores that lie there are of things that were not in the data.
  bool FilledBy(float reach) const {
    constexpr float kNearZero = 1.0f / 16;
    return fills && ((low >= 0 && score) || reach >= kNearZero * largest());
  }
};

// By value. Movements, MaxPool and interpolation hand on what fills their inputs.
std::vector<KnownBounds> FindKnownBounds(const Graph& graph);

// Sets the ranges of values whose bounds are filled (method "known"), limits those of others.
// `graph`: the one the table was made for.
void ApplyKnownBounds(const Graph& graph, CalibrationTable& table);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_KNOWN_BOUNDS_H_
