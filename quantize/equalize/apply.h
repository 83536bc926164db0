// Equalization of a graph: factors of channels moved into the weights around them.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_APPLY_H_
#define RSHIFT_QUANTIZE_EQUALIZE_APPLY_H_

#include <string>

#include "graph/graph.h"
#include "quantize/ranges/equalization.h"

namespace rshift {

// `graph`: after RunPasses. Each tensor of the list holds x / 2^e of its channel, and its name ends
// in kEqualizedSuffix so that nobody takes it for the model's; weights, biases and added constants
// are changed so that every other tensor stays what it was, to the last bit: factors are powers of
// two. An input of the model stays, and what reads it reads a product of it with the factors,
// which is named so. A function between channels that are scaled differently gets their exponents.
// Only constants that come below f32's smallest normal number lose their last bits or become 0: by
// less than 2^-149 each, which is nothing beside a tensor that 8 bits can hold (trained networks
// have such weights in channels that died). A constant beyond f32's largest number is refused. An
// upper bound (Relu6) of such a tensor becomes that of its least scaled channel: others are held
// back where no sample of the calibration reached. Throws kInvalidInput, `where` in front, for a
// list that is not this graph's: a tensor it does not have or that is not free, another number of
// channels, channels of one group with different exponents.
Graph Equalize(Graph graph, const Equalization& equalization, const std::string& where);

// `equalized`: what Equalize has made by `equalization`. Beside each tensor that holds x / 2^e
// stands x, the same bits as in the model (but for what the division has pushed below f32's
// smallest normal number): `tensor` and kUnequalizedSuffix, a value that nobody reads, for
// calibration to measure. They come after all other values.
Graph WithUnequalized(Graph equalized, const Equalization& equalization);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_APPLY_H_
