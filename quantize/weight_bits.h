// Which layers have weights of 4 bits: quantize/NUMERICS.md section 9.1.
#ifndef RSHIFT_QUANTIZE_WEIGHT_BITS_H_
#define RSHIFT_QUANTIZE_WEIGHT_BITS_H_

#include "graph/graph.h"
#include "quantize/config.h"

namespace rshift {

// `config` with 4 bits for the weights of what --weight-bits 4 is about, where it says nothing of
// them: convolutions of one tap and one group, and matrix products with constant weights; neither
// those before which no product with constant weights lies, which read the model's inputs, nor
// those behind which none lies, which make its outputs; none in F32, or with integers of its own.
// `graph`: after RunPasses. Throws kInvalidInput where there is no such layer and no entry either.
QuantizeConfig WithWeightBits(const Graph& graph, QuantizeConfig config);

// Throws kInvalidInput where the configuration's file asks by a node's name for weights of 4 bits
// that `integer`, which was made of `graph`, does not have: nodes in F32, and those of recurrent
// cells. Names that stand for several (wildcards, types) may have such among them.
void CheckWeightBits(const Graph& graph, const Graph& integer, const QuantizeConfig& config);

// How many nodes of an integer graph have weights of 4 bits, and how many numbers these are.
struct WeightBitsCount {
  int layers = 0;
  int64_t weights = 0;
};
WeightBitsCount CountWeightsOf4Bits(const Graph& integer);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_WEIGHT_BITS_H_
