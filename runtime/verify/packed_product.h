// What convolutions and matrix products of packed weights share: weight zero points, requant
// records, the accumulator bound.
#ifndef RSHIFT_RUNTIME_VERIFY_PACKED_PRODUCT_H_
#define RSHIFT_RUNTIME_VERIFY_PACKED_PRODUCT_H_

#include <functional>
#include <vector>

#include "isa/attributes.h"
#include "runtime/packed_weights.h"
#include "runtime/verify/command_check.h"

namespace rshift::verify {

// What the accumulator bound needs to know of the weights.
struct PackedProduct {
  int64_t channels = 0;
  int64_t count = 0;  // products in one accumulator
  const int32_t* zero_w = nullptr;
  std::function<std::vector<int64_t>()> distances;  // sum|w - zero_w| per channel
};

inline const int8_t* Weights(const CommandCheck& check) {
  return reinterpret_cast<const int8_t*>(check.Data(Field::kWeights));
}

// Size and padding of the weights, their zero points; `sums`: fill check.weight_sums.
PackedProduct CheckConvWeights(const CommandCheck& check, const PackedShape& shape, bool sums);
PackedProduct CheckDepthwiseWeights(const CommandCheck& check, int64_t channels, int64_t taps,
                                    bool sums);

// src [..., K] and dst [..., N]: the shape of a matrix product as a convolution of one tap.
PackedShape CheckRowProduct(const CommandCheck& check);

// The `count` records of kRequant, 12 bytes each.
const uint8_t* RequantRecords(const CommandCheck& check, int64_t count);
ChannelRequant RequantRecord(const uint8_t* records, int64_t channel);

// numerics::LargestAccumulator of each channel fits int32. Sums on the way to the accumulator may
// wrap (runtime/kernels/kernels.h); the accumulator may not. `most_bias`: the largest |bias|.
void CheckAccumulators(const CommandCheck& check, const PackedProduct& product,
                       const uint8_t* records, int64_t most_bias);

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_PACKED_PRODUCT_H_
