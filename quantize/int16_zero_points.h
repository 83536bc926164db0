// Integers of 16 bits whose zero point is not in the middle, as the commands of profile tpu hold
// them: about 0 (NUMERICS.md section 29.10).
#ifndef RSHIFT_QUANTIZE_INT16_ZERO_POINTS_H_
#define RSHIFT_QUANTIZE_INT16_ZERO_POINTS_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/profile.h"

namespace rshift {

struct CentredInt16 {
  Graph graph;
  std::vector<std::string> tensors;  // that have another scale than the model says
};

// `graph`: in ONNX order, before RunPasses; its QuantizeLinear of 16 bits with another zero point
// than the middle, and the DequantizeLinear that read them, are arithmetic on F32 numbers
// (NUMERICS.md section 20). Where `profile` holds a model's 16-bit integers each such pair becomes
// a Clip to the numbers that the model's integers stand for, a Quantize to s16 with zero point 0,
// and a Dequantize, whatever reads the numbers. Integers that anything else reads stay as they are.
// A zero point in the middle, where the import left such a pair, keeps the model's scale.
CentredInt16 CentreInt16(Graph graph, const Profile& profile);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INT16_ZERO_POINTS_H_
