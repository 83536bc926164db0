// Which channels of which tensors must be scaled alike for the network to stay the same function.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_CHANNEL_GROUPS_H_
#define RSHIFT_QUANTIZE_EQUALIZE_CHANNEL_GROUPS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// What factors pass on their way from product to product.
enum class EqualizeThrough {
  kWeights,    // they end in constants alone: no operator changes
  kFunctions,  // SiLU, HardSwish, GELU and the like too, which get exponents
               // (graph/ops/activation.h)
};

// A channel is an index of the last dimension of an f32 activation in memory order. Channels that
// no product of constant weights stands between are one group: through Relu, LeakyRelu, PRelu, Clip
// from zero, pools, Add, Concat, Slice, Resize and movement. A group is free when every operator
// that makes or reads it can take a factor up: products with constant weights (Conv, ConvTranspose,
// MatMul), constants that are added, the scale and bias of a normalization; with kFunctions what
// SiLU, HardSwish, GELU, Mish, ELU and the like read and make.
struct ChannelGroups {
  // By value, then by channel: the group; empty for constants, for what is not f32, and for values
  // of rank 0.
  std::vector<std::vector<int32_t>> of_value;
  std::vector<bool> free;  // by group
};

// `graph`: after RunPasses. A tensor is free in all its channels or in none.
ChannelGroups FindChannelGroups(const Graph& graph, EqualizeThrough through);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_CHANNEL_GROUPS_H_
