// DynamicRange, DynamicQuantize and products of their integers with constant weights.
#ifndef RSHIFT_GRAPH_ONNX_DYNAMIC_PRODUCT_H_
#define RSHIFT_GRAPH_ONNX_DYNAMIC_PRODUCT_H_

#include <optional>

#include "graph/onnx/node.h"

namespace rshift {

// Weights that a command can hold, as s8 with zero points in s8.
struct DynamicWeights {
  ValueId bytes;                // s8 constant, the order of the value
  std::vector<int32_t> zero_w;  // empty (all 0), or one for each channel
};

// Of the constant `weights` (s8 or u8, channels along `axis`) with the zero points `zero` (one, one
// a channel, or absent: an invalid id). Nothing where they are no constants of that kind or where a
// sum of 255 |w - zero| reaches 2^31.
std::optional<DynamicWeights> ReadDynamicWeights(OnnxNode& node, ValueId weights, ValueId zero,
                                                 int64_t axis);

// The tensor of scale and zero point that both come from; else one is made of them. Invalid ids:
// scale 1, zero point 0. Each has one element.
ValueId RecordOf(OnnxNode& node, ValueId scale, ValueId zero);
// Number 0 (scale) or 1 (zero point) of a record, as a scalar f32.
ValueId PartOfRecord(OnnxNode& node, ValueId record, int64_t index);

// After import: a product whose s32 result goes through Cast, Mul by scales and, maybe, Add of a
// bias takes these in, where the scales are constants times its source's own.
void FuseDynamicResults(Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_DYNAMIC_PRODUCT_H_
