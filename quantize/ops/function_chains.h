// Operators that are together a function of one value as one table: behind each other (HardSwish,
// then a product and a sum with single numbers, as PaddleOCR's backbones have them behind every
// convolution), or with operators of two activations among them (function_regions.h).
#ifndef RSHIFT_QUANTIZE_OPS_FUNCTION_CHAINS_H_
#define RSHIFT_QUANTIZE_OPS_FUNCTION_CHAINS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/ops/ops.h"
#include "quantize/plan.h"

namespace rshift {

struct FunctionChains {
  std::map<size_t, std::vector<size_t>> of;  // by the last node: all of them, in order
  std::set<size_t> taken;                    // all but the last
};

// Integer nodes in the tpu profile, two and more: regions first, then what of the rest stands
// behind each other, each the only reader of the one before, with scales of channels that meet; not
// Clips alone. Nodes with a profile or multiplier bits of their own, and those on either side of a
// tensor whose range the user has set (`given`), keep their form. `others`: nodes that stand for
// something else already.
FunctionChains FindFunctionChains(const Graph& graph, const QuantizationPlan& plan,
                                  const QuantizeOptions& options, const std::set<size_t>& others,
                                  const std::set<std::string>& given);

// What the last one gives of what the first one reads.
ValueFunction FunctionOfChain(const Graph& graph, const std::vector<size_t>& nodes);
// Rounded once. NUMERICS.md section 10.2.
void EmitFunctionChain(Emitter& emitter, const std::vector<size_t>& nodes);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_FUNCTION_CHAINS_H_
