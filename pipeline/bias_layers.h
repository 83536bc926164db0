// The layers whose biases can be corrected, and what they compute on average.
#ifndef RSHIFT_PIPELINE_BIAS_LAYERS_H_
#define RSHIFT_PIPELINE_BIAS_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "pipeline/tap_sums.h"
#include "quantize/equalize/product_weights.h"

namespace rshift {

// A Conv, ConvTranspose or MatMul with constant weights, in the float graph and in integers.
struct BiasLayer {
  std::string node;
  ProductWeights product;  // of the float graph
  TapGeometry taps;
  std::span<const float> weights, bias;  // of the float graph; bias: may be empty
  std::span<const int8_t> integers;      // the weights: [OC, IC / groups, taps], or
  bool inputs_first = false;             // MatMul's [K, N]
  std::vector<float> scales;             // of them, one for each output channel
  int bits = 8;                          // or 4 (ChosenWeights)
  std::string x, integer_x;              // what it reads, by the names of both graphs
  DType dtype = DType::kS8;              // of integer_x
  QuantParams quant;                     // likewise
  float quantum = 0;                     // an 8-bit step of its output; 0: the output is f32
};

// `floating` and `integer` (QuantizeGraph's) must outlive the layers. In order. Left out: nodes in
// F32; those that share their weights with another node (the steps of an unrolled cell), which one
// bias cannot serve; weights with zero points; inputs that are not integers.
std::vector<BiasLayer> FindBiasLayers(const Graph& floating, const Graph& integer);

// By output channel: the mean, over one run's positions, of the products' sum before bias and
// activation, with the float weights and with the integer ones (as reals).
std::vector<double> FloatMeans(const BiasLayer& layer, const float* x);
std::vector<double> IntegerMeans(const BiasLayer& layer, std::span<const std::byte> x);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_BIAS_LAYERS_H_
