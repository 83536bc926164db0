// One layer's weights: what can be chosen, and the choice by what the layer reads.
#ifndef RSHIFT_PIPELINE_LAYER_WEIGHTS_H_
#define RSHIFT_PIPELINE_LAYER_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "pipeline/input_gram.h"
#include "pipeline/weight_methods.h"
#include "quantize/options.h"
#include "quantize/set_weights.h"

namespace rshift {

// A Conv or MatMul with constant weights, as QuantizeGraph has it.
struct WeightLayer {
  std::string node;
  std::string x;  // what it reads, in the float program
  DType dtype = DType::kS8;
  QuantParams quant;  // of x; of an x of 16 bits the upper 8, by which errors are weighed
  bool reads_s16 = false;
  WindowRows rows;
  int64_t outputs = 0;
  bool inputs_first = false;             // MatMul's [K, N]; else [OC, inputs of a row]
  bool per_channel = true;               // else all channels have one scale
  std::span<const float> weights, bias;  // of the float graph; bias: may be empty
  ChosenWeights nearest;                 // as they are
};

// `floating` must outlive the layers. Left out, beside what FindBiasLayers leaves out: transposed
// convolutions, weights whose integers or scales are given from outside, and rows of more than
// kMostInputs numbers.
inline constexpr int64_t kMostInputs = 4608;
std::vector<WeightLayer> FindWeightLayers(const Graph& floating, const Graph& integer,
                                          const QuantizeOptions& options);

// Of what the layer reads in one run of the float program.
InputGram GramOf(const WeightLayer& layer, std::span<const std::byte> floats, const SomeRows& some);

struct LayerChoice {
  ChosenWeights chosen;
  int64_t weights = 0, channels = 0;  // other integers; other scales
  double gain_db = 0;                 // of the error of the layer's sums, over the samples
};
LayerChoice ChooseLayer(const WeightLayer& layer, const InputGram& gram,
                        const WeightMethods& methods);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_LAYER_WEIGHTS_H_
