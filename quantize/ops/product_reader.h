// A product with constant weights and the one node that reads its bytes.
#ifndef RSHIFT_QUANTIZE_OPS_PRODUCT_READER_H_
#define RSHIFT_QUANTIZE_OPS_PRODUCT_READER_H_

#include <cstddef>
#include <set>
#include <vector>

#include "graph/graph.h"
#include "quantize/ops/fuse_post_ops.h"

namespace rshift {

struct ProductReader {
  size_t product = 0, reader = 0;  // indices of nodes
};

// The fused Relu or Clip of a Conv, ConvTranspose or MatMul with constant weights; null for any
// other node.
const Clamp* ClampOfProduct(const Graph& graph, const Node& node);

// Products without a bound of their own under a profile that ScalesBelowZero(), and the integer
// node of that profile that alone reads the result, as its first input. What the product reads, its
// result and the reader's are bytes. None for targets without negative_multipliers. `others`: nodes
// that stand for something else already, beside those of `post_ops`.
std::vector<ProductReader> FindProductReaders(const Graph& graph, const QuantizationPlan& plan,
                                              const ValueTypes& types,
                                              const QuantizeOptions& options,
                                              const std::set<size_t>& others,
                                              const PostOpPlan& post_ops);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_PRODUCT_READER_H_
