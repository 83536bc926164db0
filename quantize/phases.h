// Sines and cosines of many periods: Fourier features of coordinates, embeddings of a time or a
// position.
#ifndef RSHIFT_QUANTIZE_PHASES_H_
#define RSHIFT_QUANTIZE_PHASES_H_

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

// By node: whether it is a Sin or Cos whose argument reaches kMostPhase or more, or helps to
// compute such an argument from inputs of the graph. Arguments are made by sums, products,
// quotients, movements and products with constants that sum few terms; others are none. 8 bits of 4
// pi are steps of a tenth: the sine is left with 28 dB, and each doubling of the argument takes 6
// dB more. `integer_inputs`: those that are given as integers.
inline constexpr float kMostPhase = 12.566371f;
std::vector<bool> PhaseNodes(const Graph& graph, const CalibrationTable& table,
                             const std::set<std::string>& integer_inputs);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PHASES_H_
