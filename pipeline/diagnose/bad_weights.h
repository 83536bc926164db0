// Constants of a model that hold NaN or infinities.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_BAD_WEIGHTS_H_
#define RSHIFT_PIPELINE_DIAGNOSE_BAD_WEIGHTS_H_

#include <vector>

#include "graph/graph.h"
#include "pipeline/diagnose/facts.h"

namespace rshift {

// In graph order. NaN in any f32 constant that a node computes with; infinities in the constants of
// products and normalizations alone: elsewhere they are bounds and masks. `model`: as imported.
std::vector<BadWeight> FindBadWeights(const Graph& model);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_BAD_WEIGHTS_H_
