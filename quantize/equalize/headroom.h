// How far channels can be scaled up before a number leaves f32's range or meets an upper bound.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_HEADROOM_H_
#define RSHIFT_QUANTIZE_EQUALIZE_HEADROOM_H_

#include <cstdint>
#include <vector>

#include "quantize/equalize/channel_groups.h"
#include "quantize/equalize/choose.h"

namespace rshift {

// By group: the octaves, 0 or more, by which its channels can be scaled up while the constants that
// Equalize multiplies for them and 2^kSpareOctaves times the largest values measured stay finite.
// The upper bound of a Clip (Relu6) is one number, that of the channel that is scaled least: 2^
// kBoundOctaves times the largest values measured stay below it, for they come from a few samples.
inline constexpr int32_t kSpareOctaves = 8, kBoundOctaves = 1;
std::vector<int32_t> Headroom(const Graph& graph, const ChannelGroups& groups,
                              const MeasuredChannels& measured);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_HEADROOM_H_
