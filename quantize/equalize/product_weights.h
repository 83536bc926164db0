// A product with constant weights, whatever its operator: which weight stands between which input
// and which output channel.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_PRODUCT_WEIGHTS_H_
#define RSHIFT_QUANTIZE_EQUALIZE_PRODUCT_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "graph/graph.h"

namespace rshift {

// Weight (o, i, t), output channel o, the i-th input channel that o reads, tap t, is element
// o * step_o + i * step_i + t * step_t of the constant; its input channel is
// (o / outputs_of_group) * inputs_of_group + i.
struct ProductWeights {
  ValueId x, weights, bias, y;      // bias: may be invalid
  int64_t outputs = 0, inputs = 0;  // channels of y and x
  int64_t inputs_of_group = 0, outputs_of_group = 0;
  int64_t taps = 1;
  bool transposed = false;  // ConvTranspose: [IC, OC/groups, taps]; MatMul: [K, N]

  int64_t Input(int64_t o, int64_t i) const { return o / outputs_of_group * inputs_of_group + i; }
  int64_t Index(int64_t o, int64_t i, int64_t t) const {
    return (transposed ? Input(o, i) * outputs_of_group + o % outputs_of_group
                       : o * inputs_of_group + i) *
               taps +
           t;
  }
  // f(i, the taps of (o, i)) for each i.
  template <typename Function>
  void ForEachInput(std::span<const float> constant, int64_t o, const Function& f) const {
    const auto begin = static_cast<size_t>(Index(o, 0, 0));
    const auto step = static_cast<size_t>(transposed ? outputs_of_group * taps : taps);
    for (int64_t i = 0; i < inputs_of_group; ++i)
      f(i, constant.subspan(begin + static_cast<size_t>(i) * step, static_cast<size_t>(taps)));
  }
  // Each output channel reads one input channel: a weight has its own scale for both.
  bool depthwise() const { return inputs_of_group == 1; }
};

// Nothing where weights or bias are not constant, or channels are not the last dimension.
std::optional<ProductWeights> ReadProduct(const Graph& graph, const Node& node);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_PRODUCT_WEIGHTS_H_
