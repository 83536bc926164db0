// A constant Mul, Add or Sub per channel (a BatchNorm that no convolution takes in) as one
// depthwise convolution of one tap: no constant is spread out over the whole map.
#ifndef RSHIFT_QUANTIZE_OPS_CHANNEL_AFFINE_H_
#define RSHIFT_QUANTIZE_OPS_CHANNEL_AFFINE_H_

#include <map>
#include <set>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/plan.h"

namespace rshift {

// y = clamp(scale[c] * x + shift[c]), c along the last dimension in memory.
struct ChannelAffine {
  size_t last = 0;  // the node that writes y
  ValueId x;
  std::vector<float> scale, shift;
  Clamp clamp;
};

struct ChannelAffines {
  std::map<size_t, ChannelAffine> of;  // by the first node
  std::set<size_t> taken;              // nodes that follow it
};

// Integer nodes in the tpu profile; a Mul takes in the Add or Sub that alone reads it. Constants
// that a QDQ model holds as integers, and nodes with multiplier bits of their own, keep their form.
// `others`: nodes that stand for something else already.
ChannelAffines FindChannelAffines(const Graph& graph, const QuantizationPlan& plan,
                                  const QuantizeOptions& options, const std::set<size_t>& others);

// w = scale[c], bias = shift[c]: q_y = ((q_w (q_x - Z_x) + bias) * Multiplier >> rshift) + Z_y.
void EmitChannelAffine(Emitter& emitter, const Node& first, const ChannelAffine& affine);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_CHANNEL_AFFINE_H_
