// How much of a network's outputs hangs on each channel.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_RELEVANCE_H_
#define RSHIFT_QUANTIZE_EQUALIZE_RELEVANCE_H_

#include <vector>

#include "graph/graph.h"
#include "quantize/equalize/channel_groups.h"
#include "quantize/equalize/choose.h"

namespace rshift {

// For each product with constant weights and each Unary (by node; empty for others): the share of
// each of its output channels in the outputs of the graph, by the energy that flows through it.
// Backwards from the outputs, whose channels have equal shares: an output channel of a product
// hands its share to its input channels as their w^2 m stand to each other, m the mean squares
// measured (all alike where the input is not measured), an Add to its operands alike, operators of
// one element channel by channel, others evenly. So channels that are nearly dead have nearly none,
// whatever the scale they are hidden at.
std::vector<std::vector<double>> ProductRelevance(const Graph& graph, const ChannelGroups& groups,
                                                  const MeasuredChannels& measured);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_RELEVANCE_H_
