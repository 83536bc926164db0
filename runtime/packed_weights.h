// Packed weights read in memory order (layout: codegen/packing/packing.h), channel by channel.
#ifndef RSHIFT_RUNTIME_PACKED_WEIGHTS_H_
#define RSHIFT_RUNTIME_PACKED_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/packing/packing.h"

namespace rshift {

// Called with the number of bytes from the first weight on that will be read next.
using BeforeReading = std::function<void(int64_t bytes)>;

// Sum of w modulo 2^32, one per output channel of all groups.
std::vector<uint32_t> SumConvWeights(const PackedShape& shape, const int8_t* weights,
                                     const BeforeReading& before);
// `weights` [taps][RoundUp(channels, kPanelChannels)].
std::vector<uint32_t> SumDepthwiseWeights(int64_t channels, int64_t taps, const int8_t* weights);

// Sum of |w - zero_w|. `zero_w`: one per output channel, in [-128, 127], or null (0).
std::vector<int64_t> SumConvDistances(const PackedShape& shape, const int8_t* weights,
                                      const int32_t* zero_w);
std::vector<int64_t> SumDepthwiseDistances(int64_t channels, int64_t taps, const int8_t* weights,
                                           const int32_t* zero_w);

// Entries of channels and K positions that do not exist.
bool ConvPaddingIsZero(const PackedShape& shape, const int8_t* weights);
bool DepthwisePaddingIsZero(int64_t channels, int64_t taps, const int8_t* weights);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_PACKED_WEIGHTS_H_
