// Nodes that are functions of one value, as functions of numbers.
#ifndef RSHIFT_QUANTIZE_OPS_FUNCTION_LINKS_H_
#define RSHIFT_QUANTIZE_OPS_FUNCTION_LINKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// What a node makes of the one activation that it reads.
struct FunctionLink {
  ValueId x;
  std::function<double(double)> f;
  // f(k v) = k f(v) for every k > 0: what scales x scales y.
  bool keeps_scales = false;
  std::vector<int32_t> input_exponents{}, output_exponents{};  // as in Unary
};

// Nothing for a node that is no function of one value, or of a value that is no float.
std::optional<FunctionLink> LinkOf(const Graph& graph, const Node& node);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_FUNCTION_LINKS_H_
